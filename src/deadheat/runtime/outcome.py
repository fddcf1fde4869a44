"""How it went: forecast beside measurement, and every worker with what it did."""

import math
from dataclasses import dataclass

import numpy as np

from deadheat.model import Array, Interval, interval
from deadheat.runtime.record import Record


@dataclass(frozen=True)
class Compared:
    """One quantity in seconds: what was forecast for such a run, without and with the measured overhead, and what was.

    The overhead is not forecast: it is what iterations took besides the workers' time, measured in this run.
    """

    what: str
    forecast: Interval
    with_overhead: Interval
    measured: Interval

    @property
    def ratio(self) -> float:
        return self.measured.mean / self.with_overhead.mean

    @property
    def held(self) -> bool:
        """Whether the measurement lies in the interval of such runs."""
        return self.with_overhead.holds(self.measured.mean)


@dataclass(frozen=True)
class WorkerReport:
    """One worker: its load in the last iteration, its tasks, the seconds it was busy with purged work, its scores.

    mean, std: its measured speed, seconds per unit of work; comm: its measured seconds per iteration.
    slower: it is slower than it was. checks: of its results; failed_checks: how many of these were wrong.
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
    checks: int = 0
    failed_checks: int = 0


@dataclass(frozen=True)
class Outcome:
    """A run that is over.

    overhead: seconds per iteration beyond the workers' time: latency beyond what was declared, and at the master.
    intervals: how many were stated for the ends of jobs; held: how many were right. Empty `compared`: no forecast.
    emulation: how the workers were made unequal; empty where they are as they are. checked: the part of all work that
    was done twice to check results, and seconds an iteration that looking at results took at the master.
    remarks: what went wrong on the way without ending the run. not_converged: jobs that used up their iterations.
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
    checked: tuple[float, float] = (0.0, 0.0)
    remarks: tuple[str, ...] = ()
    not_converged: int = 0


def overhead_of(record: Record, comm: Array) -> tuple[float, float]:
    """Seconds per iteration besides the workers' time: in all, and of that at the master.

    comm: what was declared of each worker. The latency of the decisive result beyond it is overhead.
    """
    if not record.iterations:
        return 0.0, 0.0
    declared = np.append(comm, 0.0)[np.minimum(record.decisive, len(comm))]
    latency = float(np.mean(record.latency)) - float(declared.mean())
    master = float(np.mean(record.at_master))
    return max(latency, 0.0) + master, master


def mean_of(values: Array) -> Interval:
    """The mean with its interval; not a number where there are no values."""
    return interval(values) if values.size else Interval(math.nan, math.nan, math.nan)
