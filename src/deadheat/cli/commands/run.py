"""`deadheat run FILE`: run a scenario's jobs for real, and show forecast beside measurement."""

import logging
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from deadheat import __version__, reporting
from deadheat.cli import options
from deadheat.cli.scenario_file import read_scenario, with_options
from deadheat.errors import NotConverged, whole
from deadheat.jobs import from_scenario, result_of
from deadheat.runtime import run as run_jobs


def run(
    file: options.ScenarioFile,
    engine: options.EngineName = None,
    address: options.Address = None,
    job: options.JobPlace = None,
    jobs: options.JobCount = None,
    policy: options.PolicyName = None,
    schedule: options.ScheduleName = None,
    checks: Annotated[str, typer.Option(help="Part of the tasks to check, such as 1% or 0; auto: 0.5%.")] = "auto",
    patience: Annotated[float | None, typer.Option(help="Seconds that a task may take; else what is measured.")] = None,
    fixed: Annotated[bool, typer.Option("--fixed", help="Keep the first split, whatever is measured.")] = False,
    emulate: options.Emulate = False,
    speedup: Annotated[float | None, typer.Option(help="Shorten emulated times so many times.")] = None,
    seed: Annotated[int, typer.Option(help="Of arrivals and emulated times.")] = 0,
    checkpoint: Annotated[Path | None, typer.Option(help="A folder; a run that was killed goes on from it.")] = None,
    events: Annotated[Path | None, typer.Option(help="Write every event and command, for `deadheat replay`.")] = None,
    out: options.JobsFile = None,
    timeline: options.TasksFile = None,
    report: Annotated[Path | None, typer.Option(help="Write an HTML page with tables and figures.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the results (weights, solutions) to .npz.")] = None,
    json: options.AsJson = False,
) -> None:
    """Run a scenario's jobs on real workers."""
    reporting.check_target("--events", events, ())
    reporting.check_target("--out", out)
    reporting.check_target("--timeline", timeline)
    reporting.check_target("--report", report, (".html",))
    reporting.check_target("--save", save, (".npz",))
    if report is not None:
        reporting.new_figure()  # says what to install, before any work is done
    whole("--seed", seed, "give a number from 0 on", least=0)
    checked = "auto" if checks == "auto" else options.percentage("--checks", checks, least=0.0)
    scenario = with_options(
        read_scenario(file), engine=engine, address=address, job=job, emulate=emulate or None, speedup=speedup
    )
    count = scenario.jobs if jobs is None else whole("--jobs", jobs, "give the number of jobs")
    with reporting.candidate_bar("choosing a code") as progress:
        prepared = from_scenario(
            scenario, count, seed, folder=file.parent, policy=policy, schedule=schedule, progress=progress
        )
    results: dict[str, Any] = {}
    warnings.simplefilter("ignore", NotConverged)  # said at the end, as all remarks
    logging.getLogger("deadheat").addHandler(logging.NullHandler())
    with run_jobs(
        prepared.jobs, code=prepared.code, arrivals=list(prepared.arrivals), checkpoint=checkpoint, events=events,
        adapt=not fixed, checks=checked, patience=patience, **prepared.options,
    ) as under_way, reporting.watched(under_way, f"{file.name}: {prepared}"):  # fmt: skip
        for delivery in under_way:
            if delivery.error is not None:
                complaint = f"deadheat: {delivery.name or delivery.job}: {delivery.error}"
                reporting.console(stderr=True).print(complaint, markup=False)
            elif save is not None:
                results[f"job {delivery.job + 1}"] = result_of(delivery.state)
    kind = scenario.engine.kind
    about = {"version": __version__, "scenario": file.name, "engine": kind, "seed": seed, "code": str(prepared)}
    outcome = under_way.outcome
    if json:
        options.print_json(reporting.run_json(outcome, about))
    else:
        screen = reporting.console()
        screen.print(f"{file.name} on {kind} workers: {prepared}\n", markup=False)
        reporting.print_run(outcome, screen)
        encoding = getattr(prepared.jobs.first, "encoding", None)
        if encoding is not None:
            screen.print(str(encoding), markup=False)
    names = [worker.name for worker in under_way.reports]
    written = [
        out is None or options.wrote(reporting.write_trace, under_way.trace, names, jobs=out, tasks=None, about=about),
        timeline is None
        or options.wrote(reporting.write_trace, under_way.trace, names, jobs=None, tasks=timeline, about=about),
        report is None or options.wrote(reporting.write_run_report, under_way, report, f"A run of {file.name}", about),
        save is None or options.wrote(reporting.write_arrays, results, save),
    ]
    if outcome.failed or not all(written):
        raise typer.Exit(1)
