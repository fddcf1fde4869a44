"""`deadheat simulate FILE`: what would happen, with intervals, beside the forecast."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deadheat import __version__
from deadheat.cli.files import read_scenario
from deadheat.cli.options import percentage, purging
from deadheat.model import Trace
from deadheat.reporting.console import console
from deadheat.reporting.files import check_target, write_chrome_trace, write_table
from deadheat.reporting.numbers import to_json
from deadheat.reporting.progress import bar
from deadheat.reporting.samples import print_sample, sample_json
from deadheat.simulation import replicate
from deadheat.simulation import simulate as run_once
from deadheat.tuning import plan as make_plan


def simulate(
    file: Annotated[Path, typer.Argument(help="A scenario in TOML; see examples/.", metavar="FILE")],
    jobs: Annotated[int | None, typer.Option(help="Jobs in a run; the scenario's own by default.")] = None,
    replications: Annotated[int | None, typer.Option(help="Independent runs; by default as many as needed.")] = None,
    precision: Annotated[str, typer.Option(help="Run until the mean delay is known within this.")] = "1%",
    seed: Annotated[int | None, typer.Option(help="The same seed, the same numbers.")] = None,
    policy: Annotated[str | None, typer.Option(help="optimal, fastest, uniform, proportional or hcmm.")] = None,
    schedule: Annotated[str, typer.Option(help="static, pull, top-up, duplicates or speculative.")] = "static",
    purge: Annotated[str, typer.Option(help="at-once, between-tasks or never.")] = "at-once",
    out: Annotated[Path | None, typer.Option(help="Write one run's jobs to .csv, .parquet or .json.")] = None,
    timeline: Annotated[Path | None, typer.Option(help="Write one run's tasks; .json is a Chrome trace.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Simulate a scenario's stream of jobs."""
    scenario = read_scenario(file)
    count, way = scenario.jobs if jobs is None else jobs, purging(purge)
    check_target("--out", out)
    check_target("--timeline", timeline)
    made = make_plan(scenario, policy_name=policy, purge=way is not False)

    def run(one: int | None, record: bool = False) -> Trace:
        return run_once(
            scenario.cluster,
            made.split,
            scenario.stream,
            count,
            way,
            one,
            record,
            schedule=schedule,
            overhead=scenario.overhead,
            condition=scenario.condition,
        )

    with bar(percentage(precision), replications) as tell:
        sample = replicate(run, seed, replications, percentage(precision), progress=lambda n, p: tell("simulate", n, p))
    if out is not None or timeline is not None:
        trace = run(sample.seed, timeline is not None)
        if out is not None:
            write_table(trace.columns(), out, {**trace.about, "version": __version__})
        if timeline is not None and trace.timeline is not None:
            if timeline.suffix == ".json":
                write_chrome_trace(trace.timeline, scenario.cluster.names, timeline)
            else:
                write_table(trace.timeline.columns(), timeline)
    known = scenario.condition is None or scenario.condition.independent
    expected = made.forecast.draw(count) if known and schedule == "static" and not isinstance(way, str) else None
    if json:
        forecast = None if expected is None else {"mean": expected.mean, "low": expected.low, "high": expected.high}
        print(to_json(sample_json(sample, __version__) | {"policy": made.split.policy, "forecast": forecast}))
    else:
        print_sample(sample, expected, console())
