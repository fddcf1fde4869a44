"""What a schedule is: who gets which tasks at the start of an iteration, and what a worker gets when it asks for more.

A schedule is ONE class. Its definition (`opening`, `more`, `wake`) is what the master does on every engine, and what
the simulator follows event by event; where a schedule has one, `lengths` computes the same for thousands of iterations
at once, and a test holds both equal on the same draws (tests/scheduling/test_one_definition.py).

A worker's comm (c_p) is paid once per iteration, with its first tasks. Tasks that it gets later cost a message, which
hides behind the work: a worker asks while it has `ahead` tasks in hand (docs/decisions/0014).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar, Protocol

from deadheat.model import Array, IntArray, Tasks


class Draws(Protocol):
    """A batch of iterations of which every task's duration can be drawn; see `deadheat.simulation.Batch`."""

    @property
    def tasks(self) -> Tasks: ...
    @property
    def loads(self) -> IntArray: ...
    @property
    def critical(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def stretch(self) -> Array | None: ...
    def durations(self, worker: int, count: int) -> Array:
        """The times of a worker's first `count` tasks in each iteration: shape (count, size)."""

    def ends(self, worker: int, count: int) -> Array:
        """When a worker's first `count` results arrive: shape (count, size)."""


class Progress:
    """An iteration under way: what is given out, what is done, and what each worker still has, in order.

    seconds(worker): the expected time of one of its tasks. since: when each worker began with the task at the front of
    its queue, as the master sees it. took: how long the tasks took that are done, in the same way.
    """

    def __init__(self, total: int, workers: Iterable[int], seconds: Callable[[int], float]) -> None:
        self.total, self.seconds = total, seconds
        self.now = 0.0
        self.given: set[int] = set()
        self.done: set[int] = set()
        self.left: dict[int, list[int]] = {worker: [] for worker in workers}
        self.since: dict[int, float] = {}
        self.took: list[float] = []
        self._first_spare = 0

    def assign(self, worker: int, tasks: Sequence[int]) -> None:
        """Put tasks behind those that a worker has."""
        queue = self.left.setdefault(worker, [])
        if not queue:
            self.since[worker] = self.now
        queue.extend(tasks)
        self.given.update(tasks)

    def finish(self, worker: int, task: int) -> None:
        """Count a result; the worker goes on with its next task."""
        queue = self.left.get(worker, [])
        if task in queue:
            queue.remove(task)
            self.took.append(self.now - self.since[worker])
            self.since[worker] = self.now
        self.done.add(task)

    def spare(self) -> int | None:
        """The first task that nobody was given, or None."""
        while self._first_spare < self.total and self._first_spare in self.given:
            self._first_spare += 1
        return self._first_spare if self._first_spare < self.total else None

    def idle(self) -> list[int]:
        """The workers that have nothing left, by number."""
        return sorted(worker for worker, queue in self.left.items() if not queue)

    def running(self) -> dict[int, float]:
        """The unfinished tasks that are being computed by one worker only, and since when."""
        fronts = [(queue[0], self.since[worker]) for worker, queue in self.left.items() if queue]
        hands = self.hands()
        return {task: since for task, since in fronts if task not in self.done and hands[task] == 1}

    def soonest(self, workers: Iterable[int], extra: Mapping[int, Sequence[int]]) -> int:
        """The worker that would be done first with one more task, besides what it has and those it shall get."""

        def wait(worker: int) -> tuple[float, int]:
            queue = len(self.left.get(worker, ())) + len(extra.get(worker, ()))
            return self.seconds(worker) * (1 + queue), worker

        return min(workers, key=wait)

    def hands(self) -> Counter[int]:
        """How many workers have each unfinished task."""
        return Counter(task for queue in self.left.values() for task in queue)


class Schedule:
    """A way to give out tasks; subclass it, write `opening`, and what else differs from the static split."""

    uses_split: ClassVar[bool] = True  # the loads of a split matter, and not only their sum
    keeps_split: ClassVar[bool] = False  # tasks stay where the split puts them, so that neighbours may share chunks

    def opening(self, workers: Sequence[int], loads: Sequence[int], critical: int) -> dict[int, tuple[int, ...]]:
        """What each worker gets at the start; loads: the split, in the workers' order; critical: K."""
        raise NotImplementedError

    def more(self, worker: int, progress: Progress) -> tuple[int, ...]:
        """What a worker gets that has finished a task (or is idle when `wake` says so)."""
        return ()

    def wake(self, progress: Progress) -> float | None:
        """When to ask `more` for the idle workers though nothing happened; None for never."""
        return None

    def lengths(self, batch: Draws) -> Array | None:
        """The time of each iteration of a batch, from its start to its K-th result; None without a fast path.

        Infinite where workers are away and the others' tasks do not suffice: such iterations are followed event by
        event, since the master gives their tasks to others.
        """
        return None


def copy_of_slowest(worker: int, progress: Progress) -> tuple[int, ...]:
    """The last unfinished task, in one hand only, of whoever has most left to do by its expected time."""
    hands = progress.hands()
    slowest, longest = None, 0.0
    for other, queue in progress.left.items():
        alone = [task for task in queue if hands[task] == 1 and task not in progress.done]
        if other != worker and alone and len(alone) * progress.seconds(other) > longest:
            slowest, longest = alone[-1], len(alone) * progress.seconds(other)
    return () if slowest is None else (slowest,)
