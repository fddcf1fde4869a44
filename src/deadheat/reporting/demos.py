"""The demonstration: one cluster, three splits, and how the paper's printed numbers look beside the forecast."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from deadheat.reporting.numbers import seconds
from deadheat.reporting.plans import plan_json
from deadheat.tuning import Plan


def demo_json(plans: Mapping[str, Plan], version: str) -> dict[str, Any]:
    """The plans by policy."""
    return {"version": version, "plans": {name: plan_json(plan, version) for name, plan in plans.items()}}


def print_demo(plans: Mapping[str, Plan], printed: Mapping[str, float], console: Console) -> None:
    """Print the workers under each split, the forecasts side by side and what follows."""
    even, ours = plans["uniform"], plans["optimal"]
    spec, stream = ours.split.spec, ours.scenario.stream
    console.print("[bold]A dead heat[/]: an iteration is shortest when all workers finish together.\n")
    console.print(
        f"Five unequal workers (the paper's worked example) share {spec.total} coded tasks an iteration; any"
        f" {spec.critical} results suffice.\nA job is {stream.iterations} iterations, and one arrives every"
        f" {stream.interarrival_mean:g} s on average.\n"
    )
    console.print(_workers(even, ours))
    console.print()
    console.print(_forecasts(plans))
    gain = even.forecast.delay / ours.forecast.delay
    idle, genie = ours.forecast.law.busy.min(), ours.genie or ours.forecast
    console.print(
        f"\nThe even split waits for the slowest worker; balanced, no worker is idle for more than {1 - idle:.0%} of an"
        f" iteration,\nand a job is delivered [bold]{gain:.1f} times sooner[/]:"
        f" {seconds(ours.forecast.delay)} instead of {seconds(even.forecast.delay)}."
        f" No split of these tasks can beat {seconds(genie.delay)}."
    )
    console.print(
        f"\nThe paper prints the average of one run of {ours.draw.jobs} jobs. Such a run shows, in 95 of 100 cases,"
    )
    for name, plan in (("optimal", ours), ("uniform", even)):
        value, draw = printed[name], plan.draw
        verdict = "an ordinary run" if draw.low <= value <= draw.high else "a surprise"
        console.print(
            f"  {name:8s} {seconds(draw.low):>8s} to {seconds(draw.high)}; printed {seconds(value)}: {verdict}"
            f" ({draw.rank(value):.0%} of runs are lower)"
        )
    console.print(
        "\nThese are forecasts, computed exactly; nothing was run. Next: deadheat plan examples/worked-example.toml,"
        "\nthen your own workers in a file like it. See docs/tutorial.md."
    )


def _workers(even: Plan, ours: Plan) -> Table:
    table = Table(show_edge=False, pad_edge=False)
    for heading in ("worker", "one task", "comm", "even split", "finishes", "our split", "finishes", "busy"):
        table.add_column(heading, justify="left" if heading == "worker" else "right")
    tasks = ours.scenario.cluster.tasks(ours.split.spec)
    rows = zip(
        tasks.names, tasks.mean, tasks.comm, even.split.loads, even.finish, ours.split.loads, ours.finish,
        ours.forecast.law.busy, strict=True,
    )  # fmt: skip
    for name, mean, comm, even_load, even_end, load, end, busy in rows:
        ends = seconds(even_end), seconds(end)
        table.add_row(name, seconds(mean), seconds(comm), str(even_load), ends[0], str(load), ends[1], f"{busy:.0%}")
    return table


def _forecasts(plans: Mapping[str, Plan]) -> Table:
    table = Table(show_edge=False, pad_edge=False)
    for heading in ("split", "iteration", "utilisation", "mean delay", "without purging"):
        table.add_column(heading, justify="left" if heading == "split" else "right")
    for name, plan in plans.items():
        expected, waits = plan.forecast, plan.without_purging.delay
        table.add_row(
            name,
            seconds(expected.iteration_mean),
            f"{expected.utilisation:.0%}",
            seconds(expected.delay),
            "unstable" if waits == float("inf") else seconds(waits),
        )
    return table
