"""Speculation, Spark's rule: when most tasks are done, a task that runs far beyond the median is run a second time."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from deadheat.model import Array
from deadheat.simulation.batch import Batch


@dataclass(frozen=True)
class Speculative:
    """Tasks are pulled (cost as there); from `quantile` of them done on, an idle worker copies one that has run longer
    than `multiplier` times the median duration. Spark's defaults are 0.75 and 1.5. The first copy to end counts."""

    cost: float | None = None
    quantile: float = 0.75
    multiplier: float = 1.5

    def lengths(self, batch: Batch) -> Array:
        """Event by event: copies depend on what has happened so far."""
        width = batch.critical
        durations = np.stack(
            [batch.durations(p, width) + batch.tasks.seconds_per_task for p in range(len(batch.tasks))]
        )
        return np.array([self._one(batch, durations[:, :, i]) for i in range(batch.size)])

    def _one(self, batch: Batch, durations: Array) -> float:
        comm = batch.tasks.comm
        pull = comm if self.cost is None else np.full(comm.size, self.cost)
        total, critical = int(batch.loads.sum()), batch.critical
        here = np.flatnonzero(np.isfinite(durations[:, 0]))
        # (time, worker, task it ends); task -1: the worker is free; worker -1: time to look for stragglers
        events = [(float(comm[p]), int(p), -1) for p in here]
        heapq.heapify(events)
        taken = np.zeros(comm.size, int)
        begun: dict[int, float] = {}
        ended: list[float] = []
        copied: set[int] = set()
        next_task, idle = 0, list[int]()
        while len(ended) < critical:
            now, worker, task = heapq.heappop(events)
            if task in begun:
                ended.append(now - begun.pop(task))
            if worker >= 0:
                idle.append(worker)
            waiting: list[int] = []
            for free in idle:
                first = taken[free] == 0
                choice = next_task if next_task < total else self._straggler(now, begun, copied, ended, total)
                if choice is None or taken[free] >= durations.shape[1]:
                    waiting.append(free)
                    continue
                if choice == next_task:
                    next_task += 1
                    begun[choice] = now
                else:
                    copied.add(choice)
                length = float(durations[free, taken[free]]) + (0.0 if first else float(pull[free]))
                taken[free] += 1
                heapq.heappush(events, (now + length, free, choice))
            idle = waiting
            look = self._next_look(begun, copied, ended, total)
            if idle and look > now:
                heapq.heappush(events, (look, -1, -1))
        return now

    def _next_look(self, begun: dict[int, float], copied: set[int], ended: list[float], total: int) -> float:
        """When the next running task becomes a straggler if nothing happens before."""
        open_since = [since for task, since in begun.items() if task not in copied]
        if len(ended) < self.quantile * total or not open_since:
            return 0.0
        return float(np.nextafter(min(open_since) + self.multiplier * float(np.median(ended)), np.inf))

    def _straggler(
        self, now: float, begun: dict[int, float], copied: set[int], ended: list[float], total: int
    ) -> int | None:
        if len(ended) < self.quantile * total:
            return None
        limit = self.multiplier * float(np.median(ended))
        slow = [task for task, since in begun.items() if now > since + limit and task not in copied]
        return min(slow, key=begun.__getitem__) if slow else None
