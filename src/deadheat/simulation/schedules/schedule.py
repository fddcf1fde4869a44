"""What a schedule is: a way to end an iteration, given the durations of the tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from deadheat.model import Array
from deadheat.simulation.batch import Batch


class Schedule(Protocol):
    """Turns a batch of task durations into iteration times."""

    def lengths(self, batch: Batch) -> Array:
        """The time of each iteration of the batch, from its start to its K-th result."""


def first_results(batch: Batch, ends: Callable[[int, int], Array], most: int) -> Array:
    """The K-th smallest of all workers' results, where every worker goes on for ever (at most `most` tasks in all).

    ends(worker, count) gives the arrival of its first `count` results. As many are drawn as are needed: a worker whose
    last drawn result is earlier than the K-th of all could have delivered more.
    """
    tasks, critical = batch.tasks, batch.critical
    counts = np.maximum(np.ceil(1.5 * critical / tasks.pace / (1 / tasks.pace).sum()), 2).astype(int) + 2
    while True:
        drawn = [ends(p, min(int(counts[p]), critical)) for p in range(len(tasks))]
        everything = np.concatenate(drawn).T
        last = kth(_of_the_first(drawn, batch, everything, most), critical)
        short = [p for p, row in enumerate(drawn) if counts[p] < critical and (row[-1] < last).any()]
        if not short:
            return last
        counts[short] *= 2


def _of_the_first(drawn: list[Array], batch: Batch, everything: Array, most: int) -> Array:
    """Results of the `most` tasks that are begun first; later ones do not exist."""
    if everything.shape[1] <= most or most >= batch.critical + len(drawn) - 1:
        return everything  # K results need at most K + P - 1 begun tasks
    begun = np.concatenate([np.vstack([np.zeros((1, batch.size)), rows[:-1]]) for rows in drawn]).T
    begun = np.where(np.isfinite(everything), begun, np.inf)  # a worker that is away takes none
    taken = np.argsort(begun, axis=1, kind="stable")[:, :most]  # of those that ask at once, the earlier workers
    found = np.full_like(everything, np.inf)
    np.put_along_axis(found, taken, np.take_along_axis(everything, taken, axis=1), axis=1)
    return found


def kth(ends: Array, critical: int) -> Array:
    """The K-th smallest of each row."""
    return np.asarray(np.partition(ends, critical - 1, axis=1)[:, critical - 1])
