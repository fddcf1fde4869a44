"""A batch of iterations, task by task: the durations that a schedule orders."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deadheat.model import Array, Cluster, IntArray
from deadheat.simulation.seeds import child


@dataclass(frozen=True, eq=False)
class Batch:
    """`size` iterations of one split.

    tasks: the cluster whose unit is one task. stretch: factors (size, workers) on the durations, infinite for a worker
    that is away; None for none. Task j of a worker has the same duration under any load (common random numbers).
    """

    tasks: Cluster
    loads: IntArray
    critical: int
    size: int
    seeds: np.random.SeedSequence
    number: int
    stretch: Array | None = None

    def durations(self, worker: int, count: int) -> Array:
        """The times of a worker's first `count` tasks in each iteration: shape (count, size)."""
        times = self.tasks.laws[worker].rvs((count, self.size), child(self.seeds, self.number, worker))
        if self.stretch is not None:
            times = times * self.stretch[:, worker]
        return np.asarray(times, float)

    def ends(self, worker: int, count: int, pause: float = 0.0, after: int = 0) -> Array:
        """When a worker's results arrive, (count, size): c_p, then tasks in a row; from `after` on with a pause.

        What leads (shared chunks) takes the time of so many tasks more and brings no result.
        """
        shared_chunks = self.tasks.shared_chunks
        times = self.durations(worker, count + shared_chunks)
        times[shared_chunks:] += self.tasks.seconds_per_task
        if pause:
            times[shared_chunks + after :] += pause
        times[0] += self.tasks.comm[worker]
        for j in range(1, count + shared_chunks):  # row by row: five times as fast as cumsum along the first axis
            times[j] += times[j - 1]
        return times[shared_chunks:]
