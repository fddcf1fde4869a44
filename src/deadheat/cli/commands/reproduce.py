"""`deadheat reproduce`: every figure, table and printed number of the paper, redrawn and judged."""

from __future__ import annotations

import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Annotated

import typer

from deadheat import __version__
from deadheat.cli.options import listed
from deadheat.errors import BadInput, nearest
from deadheat.paper import ERRATA, EXPERIMENTS
from deadheat.reporting.console import console
from deadheat.reporting.numbers import to_json
from deadheat.reporting.report import Section, print_report, save_pictures, write_report

HEADING = "Stream Iterative Distributed Coded Computing: the paper, reproduced"


def reproduce(
    only: Annotated[
        str | None, typer.Option(help="Experiments between commas: " + ", ".join(EXPERIMENTS) + ".")
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder for index.html and the figures.")] = Path("reproduction"),
    seed: Annotated[int, typer.Option(help="The same seed, the same numbers.")] = 1,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Redraw the paper's results, with intervals, verdicts and errata."""
    names = list(EXPERIMENTS) if only is None else listed("--only", only)
    for name in names:
        if name not in EXPERIMENTS:
            raise BadInput("--only", name, "no such experiment", nearest(name, EXPERIMENTS))
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput("--out", str(out), error.strerror or "cannot be made", "name a folder of yours") from None
    start, screen = time.perf_counter(), console()
    sections: dict[str, Section] = {}
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(os.cpu_count() or 1, len(names)), mp_context=context) as pool:
        # The longest first, so that the cores end together.
        running = {pool.submit(_run, name, seed, out): name for name in sorted(names, key=lambda n: n != "fig4")}
        for done in as_completed(running):
            section = sections[running[done]] = done.result()
            if not json:
                screen.print(f"{section.name}: {len(section.claims)} claims, {section.seconds:.1f} s")
    ordered = [sections[name] for name in names]
    about = f"deadheat {__version__}, seed {seed}, {time.perf_counter() - start:.0f} s. Made by: deadheat reproduce."
    page = write_report(ordered, ERRATA, out, HEADING, about)
    if json:
        print(to_json({"version": __version__, "seed": seed, "report": str(page), "experiments": _plain(ordered)}))
    else:
        print_report(ordered, screen)
        screen.print(f"\n{about} See {page}")


def _run(name: str, seed: int, out: Path) -> Section:
    """One experiment, in a process of its own: its findings, with its figures in the folder."""
    start = time.perf_counter()
    found = EXPERIMENTS[name](seed)
    figures = save_pictures(found.pictures, out)
    return Section(name, found.title, found.claims, figures, found.notes, time.perf_counter() - start)


def _plain(sections: list[Section]) -> list[dict[str, object]]:
    fields = ("what", "printed", "ours", "why")
    return [
        {
            "name": s.name,
            "title": s.title,
            "claims": [{f: getattr(c, f) for f in fields} | {"verdict": c.verdict} for c in s.claims],
            "figures": [name for name, _ in s.figures],
            "notes": list(s.notes),
        }
        for s in sections
    ]
