"""Simulations and comparisons as tables and as JSON."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from deadheat.model import AnyArray, Interval
from deadheat.reporting.columns import Column, rich_table
from deadheat.reporting.number_format import ends, seconds
from deadheat.simulation import Comparison, Replications


def replications_json(sample: Replications) -> dict[str, Any]:
    """A simulation as the contract names it."""
    delay = _mean(sample.delay) | {"p50": sample.p50, "p95": sample.p95, "p99": sample.p99}
    counts = {"jobs": sample.jobs, "replications": sample.replications, "seed": sample.seed}
    return {"delay": delay, "service": _mean(sample.service), **counts}


def comparison_json(compared: Sequence[Comparison]) -> dict[str, Any]:
    """A comparison, one entry per scheme."""
    return {
        "baseline": compared[0].scheme.name,
        "schemes": [
            replications_json(row.sample) | {
                "name": row.scheme.name, "loads": row.scheme.split.loads,
                "critical": row.scheme.split.spec.critical, "redundancy": row.scheme.split.spec.redundancy,
                "difference": _mean(row.difference), "forecast": row.forecast,
            }
            for row in compared
        ],
    }  # fmt: skip


def comparison_columns(compared: Sequence[Comparison]) -> dict[str, AnyArray]:
    """A comparison as columns of a file, one row per scheme."""
    rows = [
        {
            "scheme": row.scheme.name, "critical": row.scheme.split.spec.critical,
            "redundancy": row.scheme.split.spec.redundancy, "delay": row.sample.delay.mean,
            "delay_low": row.sample.delay.low, "delay_high": row.sample.delay.high,
            "difference": row.difference.mean, "difference_low": row.difference.low,
            "difference_high": row.difference.high, "replications": row.sample.replications,
            "forecast": float("nan") if row.forecast is None else row.forecast,
        }
        for row in compared
    ]  # fmt: skip
    return {key: np.array([row[key] for row in rows]) for key in rows[0]}


def print_replications(sample: Replications, expected: Interval | None, console: Console) -> None:
    """Print measurement and forecast side by side."""
    table = Table("", "simulated", "95 % interval", "forecast", show_edge=False, pad_edge=False)
    forecast = "-" if expected is None else seconds(expected.mean)
    table.add_row("mean delay", seconds(sample.delay.mean), ends(sample.delay), forecast)
    table.add_row("mean service", seconds(sample.service.mean), ends(sample.service), "")
    for name in ("p50", "p95", "p99"):
        table.add_row(f"delay {name}", seconds(getattr(sample, name)), "", "")
    console.print(table)
    console.print(f"{_runs(sample)}, seed {sample.seed}")


def print_comparison(compared: Sequence[Comparison], console: Console) -> None:
    """Print one row per scheme."""
    baseline = compared[0]
    columns: list[Column[Comparison]] = [
        Column("scheme", lambda row: row.scheme.name, left=True),
        Column("tasks", lambda row: f"{row.scheme.split.spec.critical} of {row.scheme.split.spec.total}"),
        Column("mean delay", lambda row: seconds(row.sample.delay.mean)),
        Column("95 % interval", lambda row: ends(row.sample.delay)),
        Column("against the first", lambda row: "" if row is baseline else f"{row.difference.mean:+.4g} s"),
        Column("95 % interval", lambda row: "" if row is baseline else ends(row.difference)),
        Column("forecast", lambda row: "-" if row.forecast is None else seconds(row.forecast)),
    ]
    console.print(rich_table(columns, compared))
    same = f"the same arrivals and luck for all, seed {baseline.sample.seed}"
    console.print(f"{_runs(baseline.sample)}, {same}. Forecasts are of the steady state.")


def _runs(sample: Replications) -> str:
    return f"{sample.replications} independent runs of {sample.jobs} jobs from an empty start"


def _mean(interval: Interval) -> dict[str, Any]:
    return {"mean": interval.mean, "ci95": [interval.low, interval.high]}
