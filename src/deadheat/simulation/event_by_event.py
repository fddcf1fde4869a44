"""Any schedule, event by event: its definition is asked what each worker gets, as the master asks it in a live run."""

import heapq
from collections.abc import Iterable
from itertools import count

import numpy as np

from deadheat.coding import Code
from deadheat.model import Array
from deadheat.scheduling import Progress, Schedule
from deadheat.simulation.batch import Batch


def event_by_event(
    schedule: Schedule, batch: Batch, code: Code | None = None, iterations: Iterable[int] | None = None
) -> Array:
    """The time of each iteration of a batch, or of some of them; infinite where nobody is there to compute it.

    code: decides when the results suffice; without one the K-th result does.
    """
    durations = Durations(batch)
    chosen = range(batch.size) if iterations is None else iterations
    return np.array([_play(schedule, batch, durations, iteration, code) for iteration in chosen])


class Durations:
    """The durations of a batch's tasks, drawn as far as they are asked for."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        share = batch.critical / batch.tasks.pace / (1 / batch.tasks.pace).sum()
        counts = np.ceil(1.5 * share).astype(int) + 4
        self._drawn = [batch.durations(p, int(counts[p])) for p in range(len(batch.tasks))]

    def of(self, worker: int, number: int, iteration: int) -> float:
        """How long the worker's task of that number takes in an iteration; the first includes the shared chunks."""
        tasks = self._batch.tasks
        last = number + tasks.shared_chunks
        if last >= len(self._drawn[worker]):
            self._drawn[worker] = self._batch.durations(worker, 2 * (last + 1))
        drawn = self._drawn[worker][last if number else 0 : last + 1, iteration]
        return float(drawn.sum()) + tasks.seconds_per_task


def _play(schedule: Schedule, batch: Batch, durations: Durations, iteration: int, code: Code | None) -> float:
    """One iteration. A worker's comm comes before its first task; workers that are away take no part."""
    tasks, stretch = batch.tasks, batch.stretch
    away = np.zeros(len(tasks), bool) if stretch is None else ~np.isfinite(stretch[iteration])
    workers = np.flatnonzero(~away).tolist()
    progress = Progress(int(batch.loads.sum()), workers, lambda worker: float(tasks.pace[worker]))
    ends: list[tuple[float, int, int]] = []  # time, order of being begun, worker
    begun, order = [0] * len(tasks), count()

    def begin(worker: int, now: float) -> None:
        """Begin with the task at the front of a worker's queue."""
        start = now if begun[worker] else now + float(tasks.comm[worker])
        heapq.heappush(ends, (start + durations.of(worker, begun[worker], iteration), next(order), worker))
        begun[worker] += 1

    def give(worker: int, extra: tuple[int, ...], now: float) -> None:
        idle = not progress.left[worker]
        extra = tuple(task for task in extra if task not in progress.done)
        progress.assign(worker, extra)
        if idle and extra:
            begin(worker, now)

    loads = [int(batch.loads[w]) for w in workers]
    opening = schedule.opening(workers, loads, batch.critical) if any(loads) else {}
    if workers and not opening:  # who has a load is away
        opening = _missing(progress, workers, batch.critical, code)
    for worker, first in opening.items():
        give(worker, first, 0.0)
    while ends:
        wake = schedule.wake(progress)
        if wake is not None and wake < ends[0][0]:
            progress.now = max(wake, progress.now)
            for worker in progress.idle():
                give(worker, schedule.more(worker, progress), progress.now)
            continue
        progress.now, _, worker = heapq.heappop(ends)
        progress.finish(worker, progress.left[worker][0])
        if _enough(progress.done, batch.critical, code):
            return progress.now
        if progress.left[worker]:
            begin(worker, progress.now)
        give(worker, schedule.more(worker, progress), progress.now)
        if not ends:
            for other, missing in _missing(progress, workers, batch.critical, code).items():
                give(other, missing, progress.now)
    return float("inf")


def _missing(progress: Progress, workers: list[int], critical: int, code: Code | None) -> dict[int, tuple[int, ...]]:
    """What the master gives out where nobody has anything left, though the results do not suffice."""
    coming, extra = set(progress.done), dict[int, tuple[int, ...]]()
    for task in range(progress.total):
        if task not in coming and not _enough(coming, critical, code):
            worker = progress.soonest(workers, extra)
            extra[worker] = (*extra.get(worker, ()), task)
            coming.add(task)
    return extra


def _enough(done: set[int], critical: int, code: Code | None) -> bool:
    if code is None:
        return len(done) >= critical
    return len(done) >= code.fewest and code.decodable(done)
