"""A plain Monte Carlo of iterations with shared chunks, seconds per task and slow states, without the package's own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import deadheat as dh

Array = NDArray[np.float64]
Slow = tuple[float, float]  # how many times slower, and the chance of it


def play_chunks(
    cluster: dh.Cluster,
    spec: dh.CodeSpec,
    loads: Sequence[int],
    purge: bool = True,
    slow: Slow = (1.0, 0.0),
    draws: int = 40_000,
    seed: int = 0,
) -> Array:
    """Times of independent iterations: c_p, then shared_chunks + kappa tasks' worth of work; kappa bring a result.

    A result costs its seconds_per_task besides. A slow worker is slow for the whole iteration.
    """
    rng = np.random.default_rng(seed)
    factor, chance = slow
    arrivals = []
    for worker, load in zip(cluster, loads, strict=True):
        times = spec.work * np.asarray(worker.unit_law().rvs((draws, spec.shared_chunks + load), rng), float)
        times[:, spec.shared_chunks :] += spec.seconds_per_task
        times *= np.where(rng.random((draws, 1)) < chance, factor, 1.0)
        arrivals.append(worker.comm + np.cumsum(times, axis=1)[:, spec.shared_chunks :])
    results = np.sort(np.concatenate(arrivals, axis=1), axis=1)
    return np.asarray(results[:, spec.critical - 1 if purge else -1])


def error_of_mean(values: Array) -> float:
    """The standard error of the mean of independent values."""
    return float(values.std() / np.sqrt(values.size))


def error_of_std(values: Array) -> float:
    """That of their standard deviation, by the fourth moment as measured."""
    spread = float(values.std())
    if spread == 0:
        return 0.0
    kurtosis = float(((values - values.mean()) ** 4).mean()) / spread**4
    return float(spread * np.sqrt((kurtosis - 1) / 4 / values.size))
