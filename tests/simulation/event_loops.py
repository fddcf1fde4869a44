"""Slow oracles, written without the package's mathematics: one event after another, in absolute times."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def lindley(arrival: Sequence[float], service: Sequence[float], free: float = 0.0) -> list[float]:
    """When each job starts, one after the other."""
    found = []
    for arrived, seconds in zip(arrival, service, strict=True):
        found.append(max(arrived, free))
        free = found[-1] + seconds
    return found


def pulled(durations: Sequence[Array], comm: Array, pause: Array, critical: int, total: int) -> float:
    """The K-th result where free workers take one of `total` tasks each, the first at once and with c_p before it.

    durations: one row of task times per worker. Meant for total >= workers, so that nobody starts without a task.
    """
    free = [(0.0, p) for p in range(len(durations))]
    heapq.heapify(free)
    taken = [0] * len(durations)
    ended: list[float] = []
    for _ in range(total):
        if not free:
            break
        now, p = heapq.heappop(free)
        before = comm[p] if taken[p] == 0 else pause[p]
        ended.append(now + before + float(durations[p][taken[p]]))
        taken[p] += 1
        if taken[p] < len(durations[p]):
            heapq.heappush(free, (ended[-1], p))
    return sorted(ended)[critical - 1]


def between_tasks(
    durations: Sequence[Array], critical: int, arrival: Sequence[float], iterations: int, overhead: float
) -> tuple[list[float], list[float], float]:
    """Start and end of each job, and the mean wait of a worker per iteration for its purged task; c_p = 0.

    durations: (load, iterations in all) per worker. A worker that is still at an old task when the iteration ends has
    never begun this one's: it looks for work when it is free, and finds the iteration that is then under way.
    """
    free_at = [0.0] * len(durations)
    starts, ends, waited, now, place = [], [], 0.0, 0.0, 0
    for arrived in arrival:
        now = max(now, arrived)
        starts.append(now)
        for _ in range(iterations):
            waited += sum(max(free - now, 0.0) for free in free_at)
            results = [max(now, free_at[p]) + np.cumsum(rows[:, place]) for p, rows in enumerate(durations)]
            over = float(np.sort(np.concatenate(results))[critical - 1])
            for p, mine in enumerate(results):  # who brings the K-th result goes on before it hears of the end
                late = mine[mine > over]
                if free_at[p] <= over and late.size:
                    free_at[p] = float(late[0])  # the task in hand
            now, place = over + overhead, place + 1
        ends.append(now)
    return starts, ends, waited / len(durations) / place
