"""A real run as tables and as JSON: forecast beside measurement, and every worker; measured workers as JSON."""

from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.markup import escape

from deadheat.reporting.columns import Column, rich_table
from deadheat.reporting.number_format import seconds, seconds_range
from deadheat.runtime import Compared, Measured, Outcome, WorkerReport

WORKERS: list[Column[WorkerReport]] = [
    Column("worker", lambda worker: worker.name, left=True),
    Column("share", lambda worker: str(worker.load)),
    Column("done", lambda worker: str(worker.done)),
    Column("purged", lambda worker: str(worker.purged)),
    Column("purged work", lambda worker: seconds(worker.late)),
    Column("score", lambda worker: f"{worker.relative:.2f}"),
    Column("of its best", lambda worker: f"{worker.individual:.2f}"),
    Column("state", lambda worker: worker.state + (", slower than it was" if worker.slower else ""), left=True),
]
COMPARED: list[Column[Compared]] = [
    Column("mean", lambda row: row.what, left=True),
    Column("forecast", lambda row: seconds(row.forecast.mean)),
    Column("with overhead", lambda row: seconds(row.with_overhead.mean)),
    Column("range of one run", lambda row: seconds_range(row.with_overhead.low, row.with_overhead.high)),
    Column("measured", lambda row: seconds(row.measured.mean)),
    Column("measured / forecast", lambda row: f"{row.ratio:.3f}" + ("" if row.held else " (outside)")),
]


def run_json(outcome: Outcome, about: dict[str, Any]) -> dict[str, Any]:
    """The outcome, with what it is about."""
    compared = {
        row.what: {
            "forecast": row.forecast.mean, "forecast_range": [row.forecast.low, row.forecast.high],
            "with_overhead": row.with_overhead.mean,
            "with_overhead_range": [row.with_overhead.low, row.with_overhead.high],
            "measured": row.measured.mean, "measured_ci95": [row.measured.low, row.measured.high], "ratio": row.ratio,
        }
        for row in outcome.compared
    }  # fmt: skip
    return about | {
        **{name: getattr(outcome, name) for name in ("jobs", "failed", "iterations", "seconds", "emulated")},
        "compared": compared,
        "forecast_exact": outcome.exact,
        "overhead": {"per_iteration": outcome.overhead, "at_master": outcome.at_master},
        "intervals": {"stated": outcome.intervals, "held": outcome.held},
        "workers": [asdict(worker) for worker in outcome.workers],
    }


def measured_json(measured: Measured) -> dict[str, Any]:
    """Every worker with its moments and their 95 % intervals; a round begins with a message to the worker."""
    workers = [
        {
            "name": name, "mean": sample.mean.mean, "mean_ci95": [sample.mean.low, sample.mean.high],
            "std": sample.std, "comm": sample.latency.mean,
            "comm_ci95": [max(sample.latency.low, 0.0), sample.latency.high],
            "tasks": len(sample.work), "rounds": len(sample.comm),
        }
        for name, sample in measured.samples.items()
    ]  # fmt: skip
    return {"workers": workers, "silent": list(measured.silent)}


def remarks(outcome: Outcome) -> list[str]:
    """What should be said beside the tables."""
    sentences = []
    if outcome.emulated:
        sentences.append(f"The workers are emulated: real processes, but {outcome.emulation}.")
    if outcome.compared:
        law = "from the exact law" if outcome.exact else "from the same master on sampled time"
        overhead = f"overhead of {seconds(outcome.overhead)} an iteration measured in this run"
        sentences.append(f"Forecast {law}; {overhead}, of which {seconds(outcome.at_master)} at the master.")
    if outcome.intervals:
        held = f"{outcome.held} of {outcome.intervals} held ({outcome.held / outcome.intervals:.0%})"
        sentences.append(f"Intervals for the end of a job (95 %): {held}.")
    sentences += [
        f"{worker.name} is slower than it was: {1 / max(worker.individual, 1e-9):.1f} times its best."
        for worker in outcome.workers
        if worker.slower
    ]
    return sentences


def print_run(outcome: Outcome, console: Console) -> None:
    """Print how it went."""
    failed = f", {outcome.failed} given up" if outcome.failed else ""
    console.print(f"{outcome.jobs} jobs done{failed}, {outcome.iterations} iterations in {seconds(outcome.seconds)}.\n")
    console.print(rich_table(WORKERS, outcome.workers))
    if outcome.compared:
        console.print("", rich_table(COMPARED, outcome.compared), sep="\n")
    console.print("", *map(escape, remarks(outcome)), sep="\n")
