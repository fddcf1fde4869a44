"""A plan as a table and as JSON."""

from __future__ import annotations

import math
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from deadheat.planning import Recruitment
from deadheat.queueing import Forecast
from deadheat.reporting.numbers import seconds
from deadheat.tuning import Plan

MOST_ROWS = 40  # workers shown in a table; JSON has all of them
POLICY_NAMES = {
    "optimal": "Theorem 2",
    "fastest": "least mean iteration",
    "uniform": "equal loads",
    "proportional": "in proportion to speed",
    "hcmm": "Reisizadeh et al.",
    "ratio": "as given",
}


def plan_json(plan: Plan, version: str) -> dict[str, Any]:
    """The plan as the contract names it, with more beside."""
    split, found = plan.split, plan.recruitment
    return {
        "version": version,
        "policy": split.policy,
        "gamma": split.gamma,
        "purge": plan.purge,
        "workers": plan.scenario.cluster.names,
        "loads": split.loads,
        "shares": split.shares,
        "theta": split.theta,
        "active": split.active,
        "mismatch": plan.mismatch,
        "finish": plan.finish,
        "busy": plan.forecast.law.busy,
        "holds": plan.holds,
        "unused": {name: why for name, why in zip(plan.scenario.cluster.names, plan.reasons, strict=True) if why},
        "forecast": _forecast(plan.forecast) | {"iteration_error": plan.forecast.law.error},
        "draw": {key: getattr(plan.draw, key) for key in ("jobs", "mean", "std", "low", "high")},
        "lower_bound": {"service": plan.bound.service, "delay": plan.bound.delay},
        "genie_bound": plan.genie and _forecast(plan.genie),
        "recruit": {
            "add": [plan.scenario.spares[i].name or f"spare {i + 1}" for i in found.chosen],
            "price": found.price,
            "proven": found.proven,
            "forecast": _forecast(found.forecast),
        }
        if isinstance(found, Recruitment)
        else None,
        "advice": plan.advice,
    }


def _forecast(forecast: Forecast) -> dict[str, Any]:
    keys = ("iteration_mean", "iteration_std", "service_mean", "service_std", "utilisation", "delay", "stable")
    return {key: getattr(forecast, key) for key in keys}


def print_plan(plan: Plan, console: Console) -> None:
    """Print one row per worker, then what to expect, the bounds and the advice."""
    split, _ = plan.split, plan.forecast  # what theory cannot tell is refused before anything is printed
    kind = POLICY_NAMES.get(split.policy, split.policy)
    console.print(
        f"[bold]{split.policy}[/] split ({kind}) of {split.spec.total} tasks, {split.spec.critical} of them needed;"
        f" {split.active} of {len(split.loads)} workers used"
    )
    console.print(_workers(plan))
    if len(split.loads) > MOST_ROWS:
        console.print(f"... and {len(split.loads) - MOST_ROWS} more workers; --json lists all.")
    console.print(_expectation(plan))
    for sentence in plan.advice:
        console.print(f"- {escape(sentence)}")


def _workers(plan: Plan) -> Table:
    table = Table(show_edge=False, pad_edge=False)
    for heading in ("worker", "task", "comm", "share", "load", "expected finish", "busy", "holds", "used"):
        table.add_column(heading, justify="left" if heading in ("worker", "used") else "right")
    scenario, split = plan.scenario, plan.split
    tasks = scenario.cluster.tasks(split.spec)
    busy_parts = plan.forecast.law.busy
    rows = zip(
        tasks.names,
        tasks.pace,
        tasks.comm,
        split.shares,
        split.loads,
        plan.finish,
        busy_parts,
        plan.holds or [math.nan] * len(tasks),
        plan.reasons,
        strict=True,
    )
    for name, mean, comm, share, load, finish, busy, part, why in list(rows)[:MOST_ROWS]:
        done = seconds(finish) if load else "-"
        used = "yes" if load else f"no: {why}"
        table.add_row(
            escape(name), seconds(mean), seconds(comm), f"{share:.3f}", str(load), done, f"{busy:.0%}",
            "-" if math.isnan(part) else f"{part:.0%}", escape(used),
        )  # fmt: skip
    return table


def _expectation(plan: Plan) -> Table:
    expected, draw, stream = plan.forecast, plan.draw, plan.scenario.stream
    table = Table(show_header=False, show_edge=False, pad_edge=False, box=None)
    late = float(expected.law.quantile(0.99))
    purging = "the K-th result ends it" if plan.purge else "all results are awaited"
    table.add_row("iteration", seconds(expected.iteration_mean), f"99 % within {seconds(late)}; {purging}")
    table.add_row("service", seconds(expected.service_mean), f"{stream.iterations} iterations a job")
    load = f"{expected.utilisation:.1%}"
    table.add_row("utilisation", load, f"stable below {expected.most_rate:.4g} jobs per second")
    span = f"one run of {draw.jobs} jobs shows {seconds(draw.low)} to {seconds(draw.high)} (95 % of runs)"
    table.add_row("[bold]delay[/]", f"[bold]{seconds(expected.delay)}[/]", span)
    if not stream.is_poisson:
        table.add_row("", "", "Kingman's approximation, too high for steady arrivals; the range of a run is exact")
    waiting = f"as service time, eq. (LB); {seconds(plan.bound.delay)} with waiting"
    table.add_row("paper's bound", seconds(plan.bound.service), waiting)
    if plan.genie:
        table.add_row("genie's bound", seconds(plan.genie.delay), "with waiting: no worker is ever without a task")
    table.add_row("theta", f"{plan.split.theta:.6g}", f"gamma {plan.split.gamma:g}; mismatch {plan.mismatch:.4g}")
    return table
