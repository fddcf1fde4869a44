"""Slow oracles, written without the package's mathematics: one event after another, in absolute times."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

from deadheat.model import Array


def lindley(arrival: Sequence[float], service: Sequence[float], free: float = 0.0) -> list[float]:
    """When each job starts, one after the other."""
    starts = []
    for arrived, seconds in zip(arrival, service, strict=True):
        starts.append(max(arrived, free))
        free = starts[-1] + seconds
    return starts


def pulled(durations: Sequence[Array], comm: Array, ahead: int, critical: int, total: int) -> float:
    """The K-th result where each worker has a task to compute and `ahead` more in hand, of `total` in all.

    durations: one row of task times per worker. Tasks are dealt in turns at the start, then one goes to whoever brings
    a result; a worker waits for its comm (c_p) before its first task only.
    """
    left, hands = total, [0] * len(durations)
    for _ in range(1 + ahead):
        for p in range(len(hands)):
            if left:
                left, hands[p] = left - 1, hands[p] + 1
    running = [(comm[p] + float(rows[0]), p, 0) for p, rows in enumerate(durations) if hands[p]]
    heapq.heapify(running)
    for _ in range(critical - 1):
        now, p, number = heapq.heappop(running)
        hands[p] -= 1
        if left:
            left, hands[p] = left - 1, hands[p] + 1
        if hands[p]:
            heapq.heappush(running, (now + float(durations[p][number + 1]), p, number + 1))
    return float(running[0][0])


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
