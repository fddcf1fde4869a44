"""A batch of iterations, task by task: the durations that a schedule orders."""

from dataclasses import dataclass

import numpy as np

from deadheat.model import Array, IntArray, Tasks
from deadheat.simulation.seeds import child


@dataclass(frozen=True, eq=False)
class Batch:
    """`size` iterations of one split.

    stretch: factors (size, workers) on the durations, infinite for a worker that is away; None for none.
    Task j of a worker has the same duration under any load (common random numbers).
    """

    tasks: Tasks
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

    def ends(self, worker: int, count: int) -> Array:
        """When a worker's results arrive, (count, size): c_p, then tasks in a row.

        Shared chunks take the time of so many tasks more at the start and bring no result.
        """
        shared = self.tasks.shared_chunks
        times = self.durations(worker, count + shared)
        times[shared:] += self.tasks.seconds_per_task
        times[0] += self.tasks.comm[worker]
        for j in range(1, count + shared):  # row by row: five times as fast as cumsum along the first axis
            times[j] += times[j - 1]
        return times[shared:]
