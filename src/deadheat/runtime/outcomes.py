"""How it went: forecast beside measurement, and every worker with what it did."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from deadheat.model.interval import Interval, interval
from deadheat.runtime.outlooks import Range
from deadheat.runtime.records import Record


@dataclass(frozen=True)
class Compared:
    """One quantity in seconds: what was forecast for such a run, without and with the measured overhead, and what was.

    The overhead is not forecast: it is what iterations took besides the workers' time, measured in this run.
    """

    what: str
    forecast: Range
    with_overhead: Range
    measured: Interval

    @property
    def ratio(self) -> float:
        """Measured over forecast and overhead."""
        return self.measured.mean / self.with_overhead.mean

    @property
    def held(self) -> bool:
        """Whether the measurement lies in the range of such runs."""
        return self.measured.mean in self.with_overhead


@dataclass(frozen=True)
class WorkerReport:
    """One worker: its load in the last iteration, its tasks, the seconds it was busy with purged work, its scores.

    mean, std: its measured speed, seconds per unit of work; comm: its measured seconds per iteration.
    slower: it is slower than it was.
    """

    name: str
    load: int
    done: int
    purged: int
    late: float
    relative: float
    individual: float
    slower: bool
    state: str
    mean: float
    std: float
    comm: float


@dataclass(frozen=True)
class Outcome:
    """A run that is over.

    overhead: seconds per iteration beyond the workers' time: on the way beyond what was declared, and at the master.
    intervals: how many were stated for the ends of jobs; held: how many were right. Empty `compared`: no forecast.
    emulation: how the workers were made unequal; empty where they are as they are.
    """

    jobs: int
    failed: int
    iterations: int
    seconds: float
    compared: tuple[Compared, ...]
    overhead: float
    at_master: float
    intervals: int
    held: int
    workers: tuple[WorkerReport, ...]
    exact: bool
    emulation: str

    @property
    def emulated(self) -> bool:
        """Whether the workers' speeds were made, not found."""
        return bool(self.emulation)


def overhead_of(record: Record, comm: list[float]) -> tuple[float, float]:
    """Seconds per iteration besides the workers' time: in all, and of that at the master.

    comm: what was declared of each worker. The way of the decisive result beyond it is overhead.
    """
    if not record.iterations:
        return 0.0, 0.0
    known = [comm[w] if w < len(comm) else 0.0 for w in record.decisive]
    way = float(np.mean(record.way)) - float(np.mean(known))
    master = float(np.mean(record.overhead))
    return max(way, 0.0) + master, master


def mean_of(values: list[float]) -> Interval:
    """With its interval; not a number where there are none."""
    return interval(values) if values else Interval(math.nan, math.nan, math.nan)
