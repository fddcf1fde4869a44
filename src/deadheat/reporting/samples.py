"""Simulations and comparisons as tables and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from deadheat.queueing import Draw
from deadheat.reporting.numbers import seconds
from deadheat.simulation import Interval, Outcome, Sample


def sample_json(sample: Sample, version: str) -> dict[str, Any]:
    """A simulation as the contract names it."""
    return {
        "version": version,
        "delay": {
            "mean": sample.delay.mean,
            "ci95": [sample.delay.low, sample.delay.high],
            "p50": sample.p50,
            "p95": sample.p95,
            "p99": sample.p99,
        },
        "service": {"mean": sample.service.mean, "ci95": [sample.service.low, sample.service.high]},
        "jobs": sample.jobs,
        "replications": sample.replications,
        "seed": sample.seed,
    }


def outcomes_json(outcomes: Sequence[Outcome], version: str) -> dict[str, Any]:
    """A comparison, one entry per scheme."""
    return {
        "version": version,
        "baseline": outcomes[0].scheme.name,
        "schemes": [
            sample_json(o.sample, version)
            | {
                "name": o.scheme.name,
                "loads": o.scheme.split.loads,
                "critical": o.scheme.split.spec.critical,
                "redundancy": o.scheme.split.spec.redundancy,
                "difference": {"mean": o.difference.mean, "ci95": [o.difference.low, o.difference.high]},
                "forecast": o.forecast,
            }
            for o in outcomes
        ],
    }


def outcomes_table(outcomes: Sequence[Outcome]) -> dict[str, NDArray[Any]]:
    """A comparison as columns, one row per scheme."""
    rows = [
        {
            "scheme": o.scheme.name,
            "critical": o.scheme.split.spec.critical,
            "redundancy": o.scheme.split.spec.redundancy,
            "delay": o.sample.delay.mean,
            "delay_low": o.sample.delay.low,
            "delay_high": o.sample.delay.high,
            "difference": o.difference.mean,
            "difference_low": o.difference.low,
            "difference_high": o.difference.high,
            "forecast": float("nan") if o.forecast is None else o.forecast,
            "replications": o.sample.replications,
        }
        for o in outcomes
    ]
    return {key: np.array([row[key] for row in rows]) for key in rows[0]}


def print_sample(sample: Sample, expected: Draw | None, console: Console) -> None:
    """Print measurement and forecast side by side."""
    table = Table("", "simulated", "95 % interval", "forecast", show_edge=False, pad_edge=False)
    forecast = "-" if expected is None else seconds(expected.mean)
    table.add_row("mean delay", seconds(sample.delay.mean), span(sample.delay), forecast)
    table.add_row("mean service", seconds(sample.service.mean), span(sample.service), "")
    for name in ("p50", "p95", "p99"):
        table.add_row(f"delay {name}", seconds(getattr(sample, name)), "", "")
    console.print(table)
    console.print(
        f"{sample.replications} independent runs of {sample.jobs} jobs from an empty start, seed {sample.seed}"
    )


def print_outcomes(outcomes: Sequence[Outcome], console: Console) -> None:
    """Print one row per scheme."""
    table = Table(show_edge=False, pad_edge=False)
    heads = ("scheme", "tasks", "mean delay", "95 % interval", "against the first", "95 % interval", "forecast")
    for heading in heads:
        table.add_column(heading, justify="left" if heading == "scheme" else "right")
    for place, o in enumerate(outcomes):
        spec = o.scheme.split.spec
        paired = (f"{o.difference.mean:+.4g} s", span(o.difference)) if place else ("", "")
        forecast = "-" if o.forecast is None else seconds(o.forecast)
        delay = o.sample.delay
        table.add_row(
            escape(o.scheme.name),
            f"{spec.critical} of {spec.total}",
            seconds(delay.mean),
            span(delay),
            *paired,
            forecast,
        )
    console.print(table)
    first = outcomes[0].sample
    console.print(
        f"{first.replications} independent runs of {first.jobs} jobs from an empty start, the same arrivals and luck"
        f" for all, seed {first.seed}. Forecasts are of the steady state."
    )


def span(interval: Interval) -> str:
    """An interval in seconds."""
    return f"{interval.low:.4g} to {interval.high:.4g}"
