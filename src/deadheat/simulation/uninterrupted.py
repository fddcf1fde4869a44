"""Purging between tasks, as real workers do: the task in hand is finished before the next iteration begins.

The rest of that task delays its worker's start into the next iteration, so iterations are not independent and are
followed one by one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from deadheat.simulation.batch import Batch
from deadheat.simulation.schedules.static import results

Array = NDArray[np.float64]


def follow(batches: Iterator[Batch], arrival: Array, iterations: int, overhead: float) -> tuple[Array, Array, float]:
    """Start and end of each job, and the mean time a worker lost per iteration to work already purged."""
    start, end = np.empty(arrival.size), np.empty(arrival.size)
    stream = _iterations(batches)
    free = 0.0
    rest: Array | None = None  # seconds until each worker has put down its purged task
    lost = 0.0
    for job, arrived in enumerate(arrival):
        start[job] = now = max(free, float(arrived))
        if rest is not None:
            rest = np.maximum(rest - (now - free), 0.0)
        for _ in range(iterations):
            ends, owner, critical, workers = next(stream)
            if rest is None:
                rest = np.zeros(workers)
            lost += float(rest.mean())
            shifted = ends + rest[owner]
            length = float(np.partition(shifted, critical - 1)[critical - 1])
            running = np.where(shifted > length, shifted, np.inf)
            rest = np.full(workers, np.inf)
            np.minimum.at(rest, owner, running)  # the first result after the K-th is the task in hand
            rest = np.where(np.isfinite(rest), np.maximum(rest - length - overhead, 0.0), 0.0)
            now += length + overhead
        end[job] = free = now
    return start, end, lost / (arrival.size * iterations)


def _iterations(batches: Iterator[Batch]) -> Iterator[tuple[Array, NDArray[np.int64], int, int]]:
    """One iteration after another: its results' times, whose they are, K and the number of workers."""
    for batch in batches:
        owner = np.repeat(np.arange(len(batch.tasks)), batch.loads)
        for row in results(batch):
            yield row, owner, batch.critical, len(batch.tasks)
