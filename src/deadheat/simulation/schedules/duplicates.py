"""Top-up without spare tasks: a worker that is done runs copies of the slowest worker's unfinished tasks."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from deadheat.model import Array
from deadheat.simulation.batch import Batch


@dataclass(frozen=True)
class Duplicates:
    """The static split first. A worker that is done copies the last unfinished task of whoever has most left to do by
    its mean; the first copy to end counts, and the owner leaves out what is done.

    cost: seconds for every copy, or None for the worker's own c_p.
    """

    cost: float | None = None

    def lengths(self, batch: Batch) -> Array:
        """Event by event: who helps whom depends on what has happened so far."""
        width = max(int(batch.loads.max()), batch.critical)
        durations = np.stack(
            [batch.durations(p, width) + batch.tasks.seconds_per_task for p in range(len(batch.tasks))]
        )
        return np.array([self._one(batch, durations[:, :, i]) for i in range(batch.size)])

    def _one(self, batch: Batch, durations: Array) -> float:
        comm, mean = batch.tasks.comm, batch.tasks.pace
        price = comm if self.cost is None else np.full(comm.size, self.cost)
        begun, taken = np.zeros(comm.size, int), np.zeros(comm.size, int)  # own tasks begun, durations used
        done: set[tuple[int, int]] = set()
        copied: set[tuple[int, int]] = set()
        events: list[tuple[float, int, tuple[int, int]]] = [(float(comm[p]), p, (p, -1)) for p in range(comm.size)]
        heapq.heapify(events)
        now = 0.0
        while len(done) < batch.critical:
            now, worker, task = heapq.heappop(events)
            if task[1] >= 0:
                done.add(task)
            while begun[worker] < batch.loads[worker] and (worker, int(begun[worker])) in done:
                begun[worker] += 1  # somebody else has done it
            if begun[worker] < batch.loads[worker]:
                choice, pause = (worker, int(begun[worker])), 0.0
                begun[worker] += 1
            else:
                left = [
                    [(p, j) for j in range(int(load)) if (p, j) not in done | copied]
                    for p, load in enumerate(batch.loads)
                ]
                slowest = max(range(comm.size), key=lambda p: len(left[p]) * mean[p])
                if not left[slowest] or taken[worker] >= durations.shape[1]:
                    continue  # everything is done or in two hands: it is idle for the rest
                choice, pause = left[slowest][-1], float(price[worker])
                copied.add(choice)
            length = float(durations[worker, taken[worker]]) + pause
            taken[worker] += 1
            heapq.heappush(events, (now + length, worker, choice))
        return now
