"""Medians of repeated runs: these machines are noisy."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of the table: what was measured, what it is held against, and the most that the ratio may be."""

    what: str
    measured: float
    against: str
    reference: float
    limit: float

    @property
    def ratio(self) -> float:
        """Measured over reference."""
        return self.measured / self.reference

    @property
    def held(self) -> bool:
        """Whether the ratio is within its limit."""
        return self.ratio <= self.limit


def median(action: Callable[[], object], repeats: int = 7) -> float:
    """The median of the seconds that an action takes, after one run to warm up."""
    action()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times)
