"""Purging between tasks, as real workers do: the task in hand is finished before the next iteration begins.

The rest of that task delays its worker's start into the next iteration, so iterations are not independent and are
followed one by one. A worker looks for messages when it has finished a task: who brings the K-th result goes on with
its next task before it hears of the end, and who is still receiving (c_p) drops it at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from deadheat.model import Array, IntArray
from deadheat.scheduling import Static, results
from deadheat.simulation.batch import Batch
from deadheat.simulation.iteration_times import times_of


@dataclass(frozen=True, eq=False)
class _Iteration:
    """Results' times since the start, whose they are, when each was begun, and the length if too few are here."""

    ends: Array
    begins: Array
    owner: IntArray
    critical: int
    workers: int
    otherwise: float


def follow(batches: Iterator[Batch], arrival: Array, iterations: int, overhead: float) -> tuple[Array, Array, float]:
    """Start and end of each job, and the mean time a worker lost per iteration to work already purged."""
    start, end = np.empty(arrival.size), np.empty(arrival.size)
    stream = _iterations(batches)
    free, lost = 0.0, 0.0
    rest = np.zeros(1)  # seconds until each worker has put down its purged task
    for job, arrived in enumerate(arrival):
        start[job] = now = max(free, float(arrived))
        rest = np.maximum(rest - (now - free), 0.0)
        for _ in range(iterations):
            iteration = next(stream)
            rest = np.broadcast_to(rest, iteration.workers)
            lost += float(rest.mean())
            length, rest = _play(iteration, rest)
            rest = np.maximum(rest - overhead, 0.0)
            now += length + overhead
        end[job] = free = now
    return start, end, lost / (arrival.size * iterations)


def _play(iteration: _Iteration, rest: Array) -> tuple[float, Array]:
    """How long an iteration takes when workers start late by `rest`, and what is left of their tasks in hand then."""
    owner, last = iteration.owner, iteration.critical - 1
    ends, begins = iteration.ends + rest[owner], iteration.begins + rest[owner]
    length = float(np.partition(ends, last)[last])
    if not np.isfinite(length):  # too many are away: the others go on with what is missing
        length = iteration.otherwise + float(rest.max())
    in_hand = (begins <= length) & (ends > length) & np.isfinite(ends)
    left = np.maximum(rest - length, 0.0)  # who was busy all the time has not begun
    np.maximum.at(left, owner[in_hand], ends[in_hand] - length)
    return length, left


def _iterations(batches: Iterator[Batch]) -> Iterator[_Iteration]:
    for batch in batches:
        owner = np.repeat(np.arange(len(batch.tasks)), batch.loads)
        first = np.append(True, owner[1:] != owner[:-1])
        away = batch.stretch is not None and not np.isfinite(batch.stretch).all()
        otherwise = times_of(Static(), batch) if away else np.full(batch.size, np.inf)
        for row, length in zip(results(batch), otherwise, strict=True):
            begins = np.append(0.0, row[:-1])
            begins[first] = batch.tasks.comm[owner[first]]
            yield _Iteration(row, begins, owner, batch.critical, len(batch.tasks), float(length))
