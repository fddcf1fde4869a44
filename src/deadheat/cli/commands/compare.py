"""`deadheat compare FILE`: policies x schedules x redundancy, on the same arrivals and luck."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Annotated

import typer

from deadheat import __version__
from deadheat.cli.files import read_scenario
from deadheat.cli.options import listed, numbers, percentage, purging
from deadheat.errors import BadInput, nearest
from deadheat.planning import policy as named
from deadheat.reporting.console import console
from deadheat.reporting.figures import FORMATS, save_comparison
from deadheat.reporting.files import check_target, write_table
from deadheat.reporting.numbers import to_json
from deadheat.reporting.progress import bar
from deadheat.reporting.samples import outcomes_json, outcomes_table, print_outcomes
from deadheat.simulation import SCHEDULES, Scheme
from deadheat.simulation import compare as run_all


def compare(
    file: Annotated[Path, typer.Argument(help="A scenario in TOML; see examples/.", metavar="FILE")],
    policies: Annotated[str, typer.Option(help="Between commas; the first is what others are held against.")] = (
        "optimal,uniform,fastest"
    ),
    schedules: Annotated[str, typer.Option(help="static, pull, top-up, duplicates, speculative.")] = "static",
    redundancy: Annotated[
        str | None, typer.Option(help="Omega, between commas; the scenario's own by default.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Jobs in a run; the scenario's own by default.")] = None,
    replications: Annotated[int | None, typer.Option(help="Independent runs; by default as many as needed.")] = None,
    precision: Annotated[str, typer.Option(help="Run until each mean delay is known within this.")] = "2%",
    seed: Annotated[int | None, typer.Option(help="The same seed, the same numbers.")] = None,
    purge: Annotated[str, typer.Option(help="at-once, between-tasks or never.")] = "at-once",
    out: Annotated[Path | None, typer.Option(help="Write the table to .csv, .parquet or .json.")] = None,
    figure: Annotated[Path | None, typer.Option(help="Draw the delays to .png, .svg or .pdf.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Compare ways to split and schedule a scenario's jobs."""
    scenario = read_scenario(file)
    check_target("--out", out)
    check_target("--figure", figure, FORMATS)
    way, omegas = (
        purging(purge),
        [scenario.spec.redundancy] if redundancy is None else numbers("--redundancy", redundancy),
    )
    schemes = []
    for omega, name, schedule in product(omegas, listed("--policies", policies), listed("--schedules", schedules)):
        if schedule not in SCHEDULES:
            raise BadInput("--schedules", schedule, "no such schedule", nearest(schedule, SCHEDULES))
        spec = replace(scenario.spec, redundancy=omega)
        split = named(name)(scenario.cluster, spec, scenario.gamma)
        label = f"{name}, {schedule}" + (f", Omega {omega:g}" if len(omegas) > 1 else "")
        schemes.append(Scheme(label, split, SCHEDULES[schedule], way))
    with bar(percentage(precision), replications) as tell:
        outcomes = run_all(
            scenario.cluster,
            scenario.stream,
            schemes,
            scenario.jobs if jobs is None else jobs,
            seed=seed,
            replications=replications,
            precision=percentage(precision),
            overhead=scenario.overhead,
            condition=scenario.condition,
            progress=lambda scheme, number, reached: tell(scheme.name, number, reached),
        )
    if out is not None:
        write_table(outcomes_table(outcomes), out, {"version": __version__, "seed": outcomes[0].sample.seed})
    if figure is not None:
        save_comparison(outcomes, figure)
    if json:
        print(to_json(outcomes_json(outcomes, __version__)))
    else:
        print_outcomes(outcomes, console())
