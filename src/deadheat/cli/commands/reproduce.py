"""`deadheat reproduce`: every figure, table and printed number of the paper, redrawn and judged."""

import multiprocessing
import os
import signal
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Annotated

import typer

from deadheat import __version__
from deadheat.cli.options import AsJson, listed, must_be_one_of, print_json
from deadheat.errors import BadInput
from deadheat.paper import ERRATA, EXPERIMENTS
from deadheat.reporting import Section, console, paper_json, print_claims, save_pictures, write_paper_report


def reproduce(
    only: Annotated[str | None, typer.Option(help=f"Between commas: {', '.join(EXPERIMENTS)}.")] = None,
    out: Annotated[Path, typer.Option(help="The folder for index.html and the figures.")] = Path("reproduction"),
    seed: Annotated[int, typer.Option(help="The same seed, the same numbers.")] = 1,
    json: AsJson = False,
) -> None:
    """Redraw the paper's results, with intervals, verdicts and errata."""
    names = list(EXPERIMENTS) if only is None else listed("--only", only)
    for name in names:
        must_be_one_of(EXPERIMENTS, "--only", name, "experiment")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput("--out", str(out), error.strerror or "cannot be made", "name a folder of yours") from None
    start, screen = time.perf_counter(), console()
    sections: dict[str, Section] = {}
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        min(os.cpu_count() or 1, len(names)), mp_context=context, initializer=_leave_signals_to_the_parent
    ) as pool:
        # The longest first, so that the cores end together.
        running = {pool.submit(_section, name, seed, out): name for name in sorted(names, key=lambda n: n != "fig4")}
        try:
            for done in as_completed(running):
                section = sections[running[done]] = done.result()
                if not json:
                    screen.print(f"{section.name}: {len(section.claims)} claims, {section.seconds:.1f} s")
        except BaseException:  # do not wait for the others
            pool.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.kill()
            raise
    ordered = [sections[name] for name in names]
    about = f"deadheat {__version__}, seed {seed}, {time.perf_counter() - start:.0f} s. Made by: deadheat reproduce."
    page = write_paper_report(ordered, out, ERRATA, about)
    if json:
        print_json({"seed": seed, "report": str(page), "experiments": paper_json(ordered)})
    else:
        print_claims(ordered, screen)
        screen.print(f"\n{about} See {page}")


def _leave_signals_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _section(name: str, seed: int, folder: Path) -> Section:
    """One experiment, in a process of its own: its findings, with its figures in the folder."""
    start = time.perf_counter()
    finding = EXPERIMENTS[name](seed)
    figures = save_pictures(finding.pictures, folder)
    return Section(name, finding.title, finding.claims, figures, finding.notes, time.perf_counter() - start)
