"""`deadheat run FILE`: run a scenario's jobs for real, and show forecast beside measurement."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from deadheat import __version__
from deadheat.cli.files import read_scenario
from deadheat.errors import BadInput, whole
from deadheat.jobs.assembly import assemble
from deadheat.jobs.tables import result_of
from deadheat.model import EngineSpec
from deadheat.reporting.console import console
from deadheat.reporting.figures import new_figure
from deadheat.reporting.files import check_target, write_arrays, write_chrome_trace, write_table
from deadheat.reporting.live import watched
from deadheat.reporting.numbers import to_json
from deadheat.reporting.progress import counter
from deadheat.reporting.run_pages import write_run_page
from deadheat.reporting.runs import print_run, run_json
from deadheat.runtime import Run
from deadheat.runtime import run as run_jobs

PAGE = (".html",)


def run(
    file: Annotated[Path, typer.Argument(help="A scenario in TOML; see examples/.", metavar="FILE")],
    engine: Annotated[str | None, typer.Option(help="local (processes on this machine) or ray.")] = None,
    address: Annotated[str | None, typer.Option(help="Of a Ray cluster; by default one is started here.")] = None,
    job: Annotated[str | None, typer.Option(help="A job of your own: FILE.py:NAME.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Jobs to run; the scenario's own by default.")] = None,
    policy: Annotated[str | None, typer.Option(help="optimal, fastest, uniform, proportional or hcmm.")] = None,
    schedule: Annotated[str | None, typer.Option(help="static, top-up or pull.")] = None,
    fixed: Annotated[bool, typer.Option("--fixed", help="Keep the first split, whatever is measured.")] = False,
    emulate: Annotated[bool, typer.Option("--emulate", help="Stretch task times to the scenario's laws.")] = False,
    speedup: Annotated[float | None, typer.Option(help="Shorten emulated times so many times.")] = None,
    seed: Annotated[int, typer.Option(help="Of arrivals and emulated times.")] = 0,
    checkpoint: Annotated[Path | None, typer.Option(help="A folder; a run that was killed goes on from it.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the jobs to .csv, .parquet or .json.")] = None,
    timeline: Annotated[Path | None, typer.Option(help="Write every task; .json is a Chrome trace.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write an HTML page with tables and figures.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the results (weights, solutions) to .npz.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Run a scenario's jobs on real workers."""
    check_target("--out", out)
    check_target("--timeline", timeline)
    check_target("--report", report, PAGE)
    check_target("--save", save, (".npz",))
    if report is not None:
        new_figure()  # says what to install, before any work is done
    whole("--seed", seed, "give a number from 0 on", least=0)
    scenario = read_scenario(file)
    scenario = replace(scenario, engine=engine_of(scenario.engine, engine, address, emulate, speedup))
    if job is not None:
        scenario = replace(scenario, job=python_job(job))
    count = scenario.jobs if jobs is None else whole("--jobs", jobs, "give the number of jobs")
    with counter("choosing a code") as tell:
        made = assemble(scenario, count, seed, folder=file.parent, policy=policy, schedule=schedule, progress=tell)
    place = scenario.engine
    under_way = run_jobs(
        made.jobs, made.cluster, made.code, place.kind, arrivals=made.arrivals, checkpoint=checkpoint,
        policy=made.policy, schedule=made.schedule, gamma=made.gamma, work=made.work, adapt=not fixed,
        emulate=place.emulate, seed=seed, quotas=place.quotas or None, address=place.address or None,
    )  # fmt: skip
    split = made.policy if isinstance(made.policy, str) else "given"
    what = f"{made.code.family}, K = {made.code.critical} of {made.code.total}, {split} split, {made.schedule}"
    with watched(under_way, f"{file.name}: {what}"):
        for delivery in under_way:
            if delivery.error is not None:
                console(stderr=True).print(f"deadheat: {delivery.name or delivery.job}: {delivery.error}", markup=False)
    about = {"version": __version__, "scenario": file.name, "engine": place.kind, "seed": seed, "code": what}
    _write(under_way, about, out, timeline, report)
    if save is not None:
        done = [one for one in under_way.deliveries if one.error is None]
        write_arrays({f"job {one.job + 1}": result_of(one.state) for one in done}, save)
    outcome = under_way.outcome
    if json:
        print(to_json(run_json(outcome, about)))
    else:
        screen = console()
        screen.print(f"{file.name} on {place.kind} workers: {what}\n", markup=False)
        print_run(outcome, screen)
        encoding = getattr(made.jobs[0], "encoding", None)
        if encoding is not None:
            screen.print(str(encoding), markup=False)
    if outcome.failed:
        raise typer.Exit(1)


def python_job(place: str) -> dict[str, str]:
    """The table [job] for a file of the user's, looked for from here and not from the scenario's folder."""
    return {"python": str(Path(place).absolute()) if ":" in place else place}


def engine_of(
    given: EngineSpec, kind: str | None, address: str | None, emulate: bool, speedup: float | None
) -> EngineSpec:
    """The scenario's engine with what the command line says of it."""
    named: dict[str, Any] = {"kind": kind, "address": address, "emulate": emulate or None, "speedup": speedup}
    try:
        return replace(given, **{key: value for key, value in named.items() if value is not None})
    except BadInput as error:
        option = "--engine" if error.field == "kind" else f"--{error.field}"
        raise BadInput(option, error.value, error.problem, error.remedy) from None


def _write(
    under_way: Run,
    about: dict[str, object],
    out: Path | None,
    timeline: Path | None,
    report: Path | None,
) -> None:
    trace = under_way.trace
    if out is not None:
        write_table(trace.columns(), out, {**trace.about, **about})
    if timeline is not None and trace.timeline is not None:
        if timeline.suffix == ".json":
            write_chrome_trace(trace.timeline, [one.name for one in under_way.reports], timeline)
        else:
            write_table(trace.timeline.columns(), timeline)
    if report is not None:
        write_run_page(under_way, report, f"A run of {about['scenario']}", about)
