"""Measured workers as JSON."""

from __future__ import annotations

from typing import Any

from deadheat.runtime import Measured


def probe_json(measured: Measured, version: str) -> dict[str, Any]:
    """Every worker with its moments and their 95 % intervals."""
    workers = [
        {
            "name": name,
            "mean": sample.mean.mean,
            "mean_ci95": [sample.mean.low, sample.mean.high],
            "std": sample.std,
            "comm": sample.way.mean,
            "comm_ci95": [max(sample.way.low, 0.0), sample.way.high],
            "tasks": len(sample.work),
            "orders": len(sample.comm),
        }
        for name, sample in measured.samples.items()
    ]
    return {"version": version, "workers": workers, "silent": list(measured.silent)}
