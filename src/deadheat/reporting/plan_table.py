"""A plan as a table and as JSON."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from deadheat.planning import Recruitment
from deadheat.reporting.columns import Column, rich_table
from deadheat.reporting.number_format import seconds, seconds_range
from deadheat.tuning import Plan

MOST_ROWS = 40  # workers shown in a table; JSON has all of them
POLICY_NAMES = {
    "optimal": "Theorem 2", "fastest": "least mean iteration", "uniform": "equal loads",
    "proportional": "in proportion to speed", "hcmm": "Reisizadeh et al.", "ratio": "as given",
}  # fmt: skip
FORECAST = ("iteration_mean", "iteration_std", "service_mean", "service_std", "utilisation", "delay", "stable")


def plan_json(plan: Plan) -> dict[str, Any]:
    """The plan as the contract names it, with more beside."""
    split, law, names, recruits = plan.split, plan.forecast.law, plan.scenario.cluster.names, None
    if isinstance(plan.recruitment, Recruitment):
        spares = [plan.scenario.spares[i].name or f"spare {i + 1}" for i in plan.recruitment.chosen]
        forecast = _fields(plan.recruitment.forecast, FORECAST)
        recruits = {"add": spares, "forecast": forecast, **_fields(plan.recruitment, ("price", "proven"))}
    return {
        **_fields(split, ("policy", "gamma", "loads", "shares", "theta", "active")),
        **_fields(plan, ("purge", "mismatch", "finish", "holds", "advice")),
        "workers": names,
        "busy": law.busy,
        "unused": {name: why for name, why in zip(names, plan.reasons, strict=True) if why},
        "forecast": _fields(plan.forecast, FORECAST) | {"iteration_error": law.error},
        "draw": _fields(plan.draw, ("jobs", "mean", "std", "low", "high")),
        "lower_bound": _fields(plan.bound, ("service", "delay")),
        "genie_bound": plan.genie and _fields(plan.genie, FORECAST),
        "recruit": recruits,
    }


def _fields(value: object, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names}


def print_plan(plan: Plan, console: Console) -> None:
    """Print one row per worker, then what to expect, the bounds and the advice."""
    split = plan.split
    kind = POLICY_NAMES.get(split.policy, split.policy)
    console.print(
        f"[bold]{escape(split.policy)}[/] split ({escape(kind)}) of {split.spec.total} tasks, {split.spec.critical} of"
        f" them needed; {split.active} of {len(split.loads)} workers used"
    )
    console.print(_workers(plan))
    if len(split.loads) > MOST_ROWS:
        console.print(f"... and {len(split.loads) - MOST_ROWS} more workers; --json lists all.")
    console.print(_expectation(plan))
    for sentence in plan.advice:
        console.print(f"- {escape(sentence)}")


def _workers(plan: Plan) -> Table:
    split, holds, busy = plan.split, plan.holds, plan.forecast.law.busy
    tasks = plan.scenario.cluster.tasks(split.spec)
    names, pace = tasks.names, tasks.pace
    columns: list[Column[int]] = [  # of a worker's number
        Column("worker", lambda p: names[p], left=True),
        Column("task", lambda p: seconds(pace[p])),
        Column("comm", lambda p: seconds(tasks.comm[p])),
        Column("share", lambda p: f"{split.shares[p]:.3f}"),
        Column("load", lambda p: str(split.loads[p])),
        Column("expected finish", lambda p: seconds(plan.finish[p]) if split.loads[p] else "-"),
        Column("busy", lambda p: f"{busy[p]:.0%}"),
        Column("holds", lambda p: "-" if holds is None else f"{holds[p]:.0%}"),
        Column("used", lambda p: "yes" if split.loads[p] else f"no: {plan.reasons[p]}", left=True),
    ]
    return rich_table(columns, range(min(len(tasks), MOST_ROWS)))


def _expectation(plan: Plan) -> Table:
    expected, draw, stream = plan.forecast, plan.draw, plan.scenario.stream
    table = Table(show_header=False, show_edge=False, pad_edge=False, box=None)
    late = float(expected.law.quantile(0.99))
    purging = "the K-th result ends it" if plan.purge else "all results are awaited"
    table.add_row("iteration", seconds(expected.iteration_mean), f"99 % within {seconds(late)}; {purging}")
    table.add_row("service", seconds(expected.service_mean), f"{stream.iterations} iterations a job")
    stable = f"stable below {expected.most_rate:.4g} jobs per second"
    table.add_row("utilisation", f"{expected.utilisation:.1%}", stable)
    shown = f"one run of {draw.jobs} jobs shows {seconds_range(draw.low, draw.high)} (95 % of runs)"
    table.add_row("[bold]delay[/]", f"[bold]{seconds(expected.delay)}[/]", shown)
    if not stream.is_poisson:
        table.add_row("", "", "Kingman's approximation, too high for steady arrivals; the range of a run is exact")
    waiting = f"as service time, eq. (LB); {seconds(plan.bound.delay)} with waiting"
    table.add_row("paper's bound", seconds(plan.bound.service), waiting)
    if plan.genie:
        table.add_row("genie's bound", seconds(plan.genie.delay), "with waiting: no worker is ever without a task")
    table.add_row("theta", f"{plan.split.theta:.6g}", f"gamma {plan.split.gamma:g}; mismatch {plan.mismatch:.4g}")
    return table
