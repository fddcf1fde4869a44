"""What to expect of a run: its iterations by the exact law, or by the same master on sampled time where there is none.

A run of some jobs is one draw. Its range tells what such a run shows in 95 of 100 cases.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadheat.model import Array, Cluster
from deadheat.queueing import IterationLaw
from deadheat.runtime.briefs import Brief
from deadheat.runtime.driver import Driver, Task
from deadheat.runtime.engines.virtual import VirtualEngine
from deadheat.runtime.estimates import Estimates
from deadheat.runtime.master import Master
from deadheat.runtime.records import Record
from deadheat.runtime.schedules import Static
from deadheat.runtime.work import Stocked
from deadheat.simulation.lindley import starts

SAMPLED = 400  # iterations on sampled time
DRAWS = 2000  # runs that are drawn for a range


@dataclass(frozen=True)
class Outlook:
    """The time of an iteration at the workers: mean and standard deviation, seconds. exact: from the law itself."""

    mean: float
    std: float
    exact: bool


@dataclass(frozen=True)
class Range:
    """A quantity of one run: its mean, and the ends between which it lies in 95 of 100 runs."""

    mean: float
    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def outlook(cluster: Cluster, brief: Brief, seed: int = 0) -> Outlook:
    """What an iteration of a job takes on these workers."""
    split, code, spec = brief.policy(cluster, brief.spec, brief.gamma), brief.code, brief.spec
    if type(brief.schedule) is Static and code.fewest == code.critical:
        law = IterationLaw(cluster.tasks(spec), split.loads, code.critical)
        return Outlook(law.mean, law.std, exact=True)
    record = Record()
    engine = VirtualEngine(cluster, split, seed, compute=False)
    driver = Driver(Master(Estimates(cluster)), engine, [record])
    driver.gather(len(cluster))
    alone = Brief(code, spec, SAMPLED, brief.policy, brief.gamma, brief.schedule, adapt=False)
    driver.submit(Task(alone, Nothing(), None, lambda state, answer, iteration: None, blind=True))
    for _ in driver.deliveries():
        pass
    return Outlook(float(np.mean(record.iterations)), float(np.std(record.iterations, ddof=1)), exact=False)


class Nothing(Stocked):
    """Work on sampled time: it is never done."""

    def needs(self, task: int) -> tuple[int, ...]:
        """Nothing."""
        return ()

    def begin(self, state: Any) -> None:
        """Nothing to begin."""

    def run(self, task: int, token: Any) -> None:
        """Nothing to do."""


def ranges(
    outlooks: Sequence[Outlook], iterations: Sequence[int], arrivals: Sequence[float], overhead: float, seed: int = 0
) -> tuple[Range, Range, Range]:
    """The mean iteration, service and delay that one run of these jobs shows, each with `overhead` per iteration.

    A job is a sum of iterations: its service is drawn as a gamma variable of the right mean and variance.
    """
    counts, rng = np.asarray(iterations, float), np.random.default_rng(seed)
    means = counts * np.array([o.mean + overhead for o in outlooks])
    stds = np.sqrt(counts) * np.array([o.std for o in outlooks])
    services = _drawn(means, stds, rng)
    begun = np.array([starts(np.asarray(arrivals, float), row) for row in services])
    delays = (begun + services - np.asarray(arrivals)).mean(axis=1)
    each = services.sum(axis=1) / counts.sum()
    return _range(each), _range(services.mean(axis=1)), _range(delays)


def _drawn(means: Array, stds: Array, rng: np.random.Generator) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        shape = np.where(stds > 0, (means / stds) ** 2, math.inf)
        drawn = rng.gamma(np.where(np.isfinite(shape), shape, 1.0), size=(DRAWS, means.size)) * stds**2 / means
    return np.where(np.isfinite(shape), drawn, means)


def _range(values: Array) -> Range:
    low, high = np.quantile(values, (0.025, 0.975))
    return Range(float(values.mean()), float(low), float(high))
