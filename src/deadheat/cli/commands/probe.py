"""`deadheat probe [FILE]`: measure real workers on a job, and write them as a scenario has them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from deadheat import __version__
from deadheat.cli.commands.run import engine_of, python_job
from deadheat.cli.files import read_scenario, with_workers
from deadheat.errors import BadInput, finite, whole
from deadheat.jobs.assembly import assemble
from deadheat.jobs.from_python import jobs_of
from deadheat.jobs.least_squares import made_least_squares
from deadheat.model import EngineSpec
from deadheat.reporting.files import check_target, write_text
from deadheat.reporting.numbers import to_json
from deadheat.reporting.probes import probe_json
from deadheat.reporting.progress import spinner
from deadheat.runtime import Measured, measure

CHUNKS = 100  # of the job that is made where none is given


def probe(
    file: Annotated[Path | None, typer.Argument(help="A scenario whose workers to measure.", metavar="[FILE]")] = None,
    job: Annotated[str | None, typer.Option(help="A job of your own: FILE.py:NAME.")] = None,
    workers: Annotated[int | None, typer.Option(help="How many, without FILE; one per core by default.")] = None,
    engine: Annotated[str | None, typer.Option(help="local (processes on this machine) or ray.")] = None,
    address: Annotated[str | None, typer.Option(help="Of a Ray cluster; by default one is started here.")] = None,
    emulate: Annotated[bool, typer.Option("--emulate", help="Stretch task times to the scenario's laws.")] = False,
    seconds: Annotated[float, typer.Option(help="How long to measure.")] = 5.0,
    seed: Annotated[int, typer.Option(help="Of emulated times.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write to this .toml instead of standard output.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Measure workers on a job: seconds per unit of work and per iteration, with intervals."""
    check_target("--out", out, (".toml",))
    finite("--seconds", seconds, "give for how long to measure", above=0.0)
    whole("--seed", seed, "give a number from 0 on", least=0)
    if file is None:
        place = engine_of(EngineSpec(), engine, address, False, None)
        if emulate:
            raise BadInput("--emulate", True, "there are no laws to emulate", "name a scenario FILE with workers")
        found, text, emulated = _without_file(job, workers, place, seconds), "", False
    else:
        if workers is not None:
            raise BadInput("--workers", workers, "the scenario has its own", "leave it out")
        found, text, emulated = _of_file(file, job, engine, address, emulate, seconds, seed)
    told = f"Measured by deadheat {__version__} for {seconds:g} s, all workers at once"
    tables = found.toml(told + (" (emulated workers)." if emulated else "."))
    if out is not None:
        write_text(with_workers(text, tables) if text else tables, out)
    if json:
        print(to_json(probe_json(found, __version__)))
    elif out is None:
        print(tables, end="")


def _without_file(job: str | None, workers: int | None, place: EngineSpec, seconds: float) -> Measured:
    given = made_least_squares(CHUNKS, 1) if job is None else jobs_of("--job", job, 1)[0]
    with spinner("measuring"):
        return measure(given, engine=place.kind, seconds=seconds, workers=workers, address=place.address or None)


def _of_file(
    file: Path, job: str | None, engine: str | None, address: str | None, emulate: bool, seconds: float, seed: int
) -> tuple[Measured, str, bool]:
    scenario = read_scenario(file)
    place = replace(engine_of(scenario.engine, engine, address, emulate, None), speedup=1.0)  # as the file has them
    scenario = replace(scenario, engine=place, job=scenario.job if job is None else python_job(job))
    made = assemble(scenario, 1, seed, folder=file.parent)
    with spinner("measuring"):
        found = measure(
            made.jobs[0], made.cluster, made.code, place.kind, seconds=seconds, work=made.work, emulate=place.emulate,
            seed=seed, quotas=place.quotas or None, address=place.address or None,
        )  # fmt: skip
    return found, file.read_text(encoding="utf-8"), bool(place.emulate or place.quotas)
