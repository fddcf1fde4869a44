"""Many iterations at once, one event of each at a time: the fast path of schedules that give out tasks on the way."""

from collections.abc import Iterable, Sequence

import numpy as np

from deadheat.model import Array, IntArray
from deadheat.scheduling.schedules.schedule import Draws

AT_ONCE = 2**22  # places in the queues of the iterations that are followed together: 16 MiB


def lockstep(batch: Draws, opening: Sequence[Iterable[int]], *, ahead: int, copies: bool) -> Array:
    """The K-th result of each iteration.

    opening: the tasks of each worker at the start; the others are spare, in their order, for workers that have at most
    `ahead` left. copies: who is idle then copies, as `copy_of_slowest` says. Infinite where a worker is away.
    """
    here = np.ones(batch.size, bool) if batch.stretch is None else np.isfinite(batch.stretch).all(axis=1)
    share = batch.critical / batch.tasks.pace / (1 / batch.tasks.pace).sum()
    drawn = [batch.durations(p, int(np.ceil(1.5 * share[p])) + 4) for p in range(len(batch.tasks))]
    lengths, step = np.full(batch.size, np.inf), max(AT_ONCE // (len(batch.tasks) * int(batch.loads.sum())), 1)
    for columns in np.split(np.flatnonzero(here), range(step, int(here.sum()), step)):
        if columns.size:
            lengths[columns] = _Lockstep(batch, drawn, columns, opening, ahead, copies).run()
    return lengths


class _Lockstep:
    """The state of some iterations, a row each. drawn: durations of each worker's tasks, grown when needed."""

    def __init__(
        self, batch: Draws, drawn: list[Array], columns: IntArray, opening: Sequence[Iterable[int]], ahead: int,
        copies: bool,
    ) -> None:  # fmt: skip
        workers, total, size = len(batch.tasks), int(batch.loads.sum()), columns.size
        first = [list(tasks) for tasks in opening]
        self._drawn = drawn
        self._batch, self._columns, self._ahead, self._copies, self._total = batch, columns, ahead, copies, total
        self._queue = np.zeros((size, workers, total + 1), np.int32)
        self._head = np.zeros((size, workers), np.int64)  # of each queue: tasks before it are computed
        self._tail = np.tile([len(tasks) for tasks in first], (size, 1))
        self._hands = np.zeros((size, total), np.int8)  # how many workers have a task
        self._done = np.zeros((size, total), bool)
        self._spare = np.full(size, sum(map(len, first)))
        self._ends = np.full((size, workers), np.inf)
        rows = np.arange(size)
        for p, tasks in enumerate(first):
            self._queue[:, p, : len(tasks)] = tasks
            self._hands[:, tasks] = 1
            if tasks:
                self._ends[:, p] = batch.tasks.comm[p] + self._durations(rows, np.full(size, p), np.zeros(size, int))

    def run(self) -> Array:
        """Event by event until the last iteration has its K-th result."""
        lengths, results = np.full(self._columns.size, np.inf), np.zeros(self._columns.size, int)
        active = np.arange(self._columns.size)
        while active.size:
            worker = self._ends[active].argmin(axis=1)
            now = self._ends[active, worker]
            task = self._queue[active, worker, self._head[active, worker]]
            results[active] += ~self._done[active, task]
            self._done[active, task] = True
            self._hands[active, task] -= 1
            self._head[active, worker] += 1
            over = results[active] >= self._batch.critical
            lengths[active[over]] = now[over]
            active, worker, now = active[~over], worker[~over], now[~over]
            self._give_spares(active, worker)
            if self._copies:
                idle = self._head[active, worker] == self._tail[active, worker]
                self._give_copies(active[idle], worker[idle])
            self._ends[active, worker] = np.inf
            busy = self._head[active, worker] < self._tail[active, worker]
            rows, who = active[busy], worker[busy]
            self._ends[rows, who] = now[busy] + self._durations(rows, who, self._head[rows, who])
        return lengths

    def _durations(self, rows: IntArray, workers: IntArray, numbers: IntArray) -> Array:
        """How long each worker's task of that number takes in its iteration."""
        times = np.empty(rows.size)
        for p in np.unique(workers):
            mine = workers == p
            most = int(numbers[mine].max())
            if most >= len(self._drawn[p]):
                self._drawn[p] = self._batch.durations(int(p), 2 * (most + 1))
            times[mine] = self._drawn[p][numbers[mine], self._columns[rows[mine]]]
        return times + self._batch.tasks.seconds_per_task

    def _append(self, rows: IntArray, workers: IntArray, tasks: IntArray) -> None:
        self._queue[rows, workers, self._tail[rows, workers]] = tasks
        self._tail[rows, workers] += 1
        self._hands[rows, tasks] += 1

    def _give_spares(self, rows: IntArray, workers: IntArray) -> None:
        left = self._tail[rows, workers] - self._head[rows, workers]
        asks = (left <= self._ahead) & (self._spare[rows] < self._total)
        self._append(rows[asks], workers[asks], self._spare[rows[asks]])
        self._spare[rows[asks]] += 1

    def _give_copies(self, rows: IntArray, workers: IntArray) -> None:
        """To each worker the last unfinished task, in one hand only, of whoever has most left to do."""
        queue, place = self._queue[rows], np.arange(self._total + 1)
        waiting = (place >= self._head[rows][:, :, None]) & (place < self._tail[rows][:, :, None])
        row = np.arange(rows.size)[:, None, None]
        alone = waiting & (self._hands[rows][row, queue] == 1) & ~self._done[rows][row, queue]
        todo = alone.sum(axis=2) * self._batch.tasks.pace
        slowest = todo.argmax(axis=1)
        some = todo.max(axis=1, initial=0.0) > 0
        last = self._total - alone[np.arange(rows.size), slowest, ::-1].argmax(axis=1)
        tasks = queue[np.arange(rows.size), slowest, last]
        self._append(rows[some], workers[some], tasks[some])
