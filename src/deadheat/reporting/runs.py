"""A real run as tables and as JSON: forecast beside measurement, and every worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from deadheat.reporting.numbers import seconds
from deadheat.runtime.outcomes import Outcome, WorkerReport

NOT_BETTER = "slower than it was"


def run_json(outcome: Outcome, about: dict[str, Any]) -> dict[str, Any]:
    """The outcome, with what it is about."""
    compared = {
        row.what: {
            "forecast": row.forecast.mean,
            "forecast_range": [row.forecast.low, row.forecast.high],
            "with_overhead": row.with_overhead.mean,
            "with_overhead_range": [row.with_overhead.low, row.with_overhead.high],
            "measured": row.measured.mean,
            "measured_ci95": [row.measured.low, row.measured.high],
            "ratio": row.ratio,
        }
        for row in outcome.compared
    }
    return about | {
        "jobs": outcome.jobs,
        "failed": outcome.failed,
        "iterations": outcome.iterations,
        "seconds": outcome.seconds,
        "emulated": outcome.emulated,
        "compared": compared,
        "forecast_exact": outcome.exact,
        "overhead": {"per_iteration": outcome.overhead, "at_master": outcome.at_master},
        "intervals": {"stated": outcome.intervals, "held": outcome.held},
        "workers": [asdict(worker) for worker in outcome.workers],
    }


def worker_table(workers: Sequence[WorkerReport]) -> Table:
    """One row per worker: share, tasks done and purged, scores, state."""
    table = Table(show_edge=False, pad_edge=False)
    heads = "worker", "share", "done", "purged", "purged work", "score", "of its best", "state"
    for heading in heads:
        table.add_column(heading, justify="left" if heading in ("worker", "state") else "right")
    for one in workers:
        state = f"{one.state}, {NOT_BETTER}" if one.slower else one.state
        table.add_row(
            escape(one.name), str(one.load), str(one.done), str(one.purged), seconds(one.late), f"{one.relative:.2f}",
            f"{one.individual:.2f}", state,
        )  # fmt: skip
    return table


def comparison_table(outcome: Outcome) -> Table:
    """Forecast, forecast with the measured overhead, and measurement."""
    table = Table(show_edge=False, pad_edge=False)
    heads = "mean", "forecast", "with overhead", "range of one run", "measured", "measured / forecast"
    for heading in heads:
        table.add_column(heading, justify="left" if heading == "mean" else "right")
    for row in outcome.compared:
        full = row.with_overhead
        table.add_row(
            row.what, seconds(row.forecast.mean), seconds(full.mean), f"{seconds(full.low)} to {seconds(full.high)}",
            seconds(row.measured.mean), f"{row.ratio:.3f}" + ("" if row.held else " (outside)"),
        )  # fmt: skip
    return table


def remarks(outcome: Outcome) -> list[str]:
    """What should be said beside the tables."""
    said = []
    if outcome.emulated:
        said.append(f"The workers are emulated: real processes, but {outcome.emulation}.")
    if outcome.compared:
        how = "from the exact law" if outcome.exact else "from the same master on sampled time"
        said.append(
            f"Forecast {how}; overhead of {seconds(outcome.overhead)} an iteration measured in this run, of which"
            f" {seconds(outcome.at_master)} at the master."
        )
    if outcome.intervals:
        said.append(
            f"Intervals for the end of a job (95 %): {outcome.held} of {outcome.intervals} held"
            f" ({outcome.held / outcome.intervals:.0%})."
        )
    said += [
        f"{one.name} is slower than it was: {1 / max(one.individual, 1e-9):.1f} times its best."
        for one in outcome.workers
        if one.slower
    ]
    return said


def print_run(outcome: Outcome, console: Console) -> None:
    """Print how it went."""
    failed = f", {outcome.failed} given up" if outcome.failed else ""
    console.print(f"{outcome.jobs} jobs done{failed}, {outcome.iterations} iterations in {seconds(outcome.seconds)}.\n")
    console.print(worker_table(outcome.workers))
    if outcome.compared:
        console.print()
        console.print(comparison_table(outcome))
    console.print()
    for said in remarks(outcome):
        console.print(escape(said))
