"""`deadheat probe [FILE]`: measure real workers on a job, and write them as a scenario has them."""

from pathlib import Path
from typing import Annotated, Any

import typer

from deadheat import __version__
from deadheat.cli import options
from deadheat.cli.scenario_file import read_scenario, with_options, with_workers
from deadheat.errors import BadInput, finite, whole
from deadheat.jobs import from_scenario, jobs_of, synthetic_least_squares
from deadheat.reporting import check_target, console, measured_json, write_text
from deadheat.runtime import measure

CHUNKS = 100  # of the synthetic job that is taken where none is given


def probe(
    file: Annotated[Path | None, typer.Argument(help="A scenario whose workers to measure.", metavar="[FILE]")] = None,
    job: options.JobPlace = None,
    workers: Annotated[int | None, typer.Option(help="How many, without FILE; one per core by default.")] = None,
    engine: options.EngineName = None,
    address: options.Address = None,
    emulate: options.Emulate = False,
    seconds: Annotated[float, typer.Option(help="How long to measure.")] = 5.0,
    seed: Annotated[int, typer.Option(help="Of emulated times.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write to this .toml instead of standard output.")] = None,
    json: options.AsJson = False,
) -> None:
    """Measure workers on a job: seconds per unit of work and per iteration, with intervals."""
    check_target("--out", out, (".toml",))
    finite("--seconds", seconds, "give for how long to measure", above=0.0)
    whole("--seed", seed, "give a number from 0 on", least=0)
    if file is None:
        if emulate:
            raise BadInput("--emulate", True, "there are no laws to emulate", "name a scenario FILE with workers")
        measured_job = synthetic_least_squares(CHUNKS, 1) if job is None else jobs_of("--job", job, 1)[0]
        settings: dict[str, Any] = {"engine": engine or "local", "workers": workers, "address": address}
    else:
        if workers is not None:
            raise BadInput("--workers", workers, "the scenario has its own", "leave it out")
        scenario = with_options(
            read_scenario(file), engine=engine, address=address, job=job, emulate=emulate or None, speedup=1.0
        )  # as the file has the workers, and not sped up
        prepared = from_scenario(scenario, 1, seed, folder=file.parent)
        measured_job = prepared.jobs.first
        of_a_run = ("policy", "schedule", "gamma")
        settings = {key: value for key, value in prepared.options.items() if key not in of_a_run}
        settings["code"] = prepared.code
    with console(stderr=True).status("measuring"):
        measured = measure(measured_job, seconds=seconds, **settings)
    emulated = " (emulated workers)" if settings.get("emulate") or settings.get("quotas") else ""
    tables = measured.toml(f"Measured by deadheat {__version__} for {seconds:g} s, all workers at once{emulated}.")
    if out is not None:
        write_text(tables if file is None else with_workers(file.read_text(encoding="utf-8"), tables), out)
    if json:
        options.print_json(measured_json(measured))
    elif out is None:
        print(tables, end="")
