"""A plain Monte Carlo of one iteration and of a queue: the slow oracle, written without the package's mathematics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadheat.model import Cluster, Stream

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Played:
    """Independent iterations: when each ended, and when each worker was done with its assignment by itself."""

    ended: Array
    finished: Array  # one row per worker

    @property
    def error(self) -> float:
        """The standard error of the mean of `ended`."""
        return float(self.ended.std() / np.sqrt(self.ended.size))

    def below(self, t: Array) -> Array:
        """The share of iterations over by t."""
        found: Array = (self.ended[:, None] <= t).mean(axis=0)
        return found


def play(
    tasks: Cluster, loads: Sequence[int], critical: int, purge: bool, draws: int = 40_000, seed: int = 0
) -> Played:
    """Results arrive at c_p + the task times so far; the K-th of all ends it, or the last without purging."""
    rng = np.random.default_rng(seed)
    arrivals = [
        comm + np.cumsum(law.rvs((draws, load), rng), axis=1)
        for law, comm, load in zip(tasks.laws, tasks.comm, loads, strict=True)
    ]
    results = np.concatenate(arrivals, axis=1)
    ended = np.sort(results, axis=1)[:, critical - 1] if purge else results.max(axis=1)
    finished = [a[:, -1] if a.shape[1] else np.zeros(draws) for a in arrivals]
    return Played(ended, np.array(finished))


def queue(stream: Stream, mean: float, std: float, jobs: int, draws: int, seed: int = 0) -> Array:
    """The average delay of `jobs` jobs from an empty start, once for each draw (Lindley)."""
    rng = np.random.default_rng(seed)
    wait, total = np.zeros(draws), np.zeros(draws)
    for _ in range(jobs):
        service = _gamma(rng, mean, std, draws)
        total += wait + service
        wait = np.maximum(wait + service - _gamma(rng, stream.interarrival_mean, stream.interarrival_std, draws), 0.0)
    return total / jobs


def _gamma(rng: np.random.Generator, mean: float, std: float, size: int) -> Array:
    return rng.gamma((mean / std) ** 2, std**2 / mean, size) if std > 0 else np.full(size, mean)
