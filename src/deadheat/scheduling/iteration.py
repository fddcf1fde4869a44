"""The iteration at work: what would determine it, which tasks failed or are doubted, and who tries them next."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from math import isfinite

from deadheat.coding import Code
from deadheat.scheduling.schedules import Progress

MOST_ERRORS = 2  # times that a task may fail, or give no number, before its job is given up


class Iteration:
    """One iteration of a job under a code, begun at a time.

    spot_checks: results, (task, worker), that are to be compared. held_up, until: since when, and for how long at most,
    it waits for nothing but these.
    """

    def __init__(self, code: Code, workers: Iterable[int], seconds: Callable[[int], float], began: float = 0.0) -> None:
        self.progress = Progress(code.total, workers, seconds)
        self.began = began
        self.spot_checks: set[tuple[int, int]] = set()
        self.until: float | None = None
        self.held_up: float | None = None
        self._awaited: set[tuple[int, int]] = set()  # results that decide whether those of doubted tasks are right
        self._doubted: set[int] = set()  # tasks that nobody computes again yet
        self._code = code
        self._fewest, self._why = code.fewest, ""  # resolving is not tried with fewer results, and why
        self._tried: dict[int, list[int]] = {}  # of a task, the workers that sent a result, in order
        self._errors: dict[int, set[int]] = {}  # of a task, the workers on which it failed
        self._discarded: Counter[int] = Counter()  # how often a task's result was discarded

    def wait_for(self, results: int) -> None:
        """Do not resolve with fewer results than these."""
        self._fewest = min(results, self._code.total)

    def ready(self, at: float, allowed: float) -> bool:
        """Whether to resolve it now: results suffice, nothing is doubted, and its spot checks are in or out of time.

        allowed: seconds that it may wait for spot checks when all else is there.
        """
        if self._awaited or self._doubted or not self._determined_by(self.progress.done):
            return False
        if self.spot_checks and self.held_up is None:
            self.held_up, self.until = at, at + allowed if isfinite(allowed) else None
        return not self.spot_checks or (self.until is not None and at >= self.until)

    def _determined_by(self, tasks: Collection[int]) -> bool:
        return len(tasks) >= self._fewest and self._code.decodable(tasks)

    def finish(self, worker: int, task: int) -> None:
        """Count a result."""
        self.progress.finish(worker, task)
        self._tried.setdefault(task, []).append(worker)
        self._awaited.discard((task, worker))
        self.spot_checks.discard((task, worker))

    def fail(self, worker: int, task: int) -> set[int]:
        """Count an error; the workers on which the task has failed."""
        self._errors.setdefault(task, set()).add(worker)
        queue = self.progress.left.get(worker, [])
        if task in queue:
            queue.remove(task)
        if (task, worker) in self._awaited:
            self._awaited.remove((task, worker))
            self._doubted.add(task)
        self._give_up_check({task})
        return self._errors[task]

    def discard(self, tasks: Iterable[int], why: str) -> tuple[int, set[int]] | None:
        """Have results that cannot be used computed again; a task for which that was so too often, and its workers."""
        for task in tasks:
            self.progress.done.discard(task)
            self._discarded[task] += 1
            self._errors.setdefault(task, set()).add(self._tried[task][-1])  # another worker shall try
            self._tried[task].clear()  # nothing of it is left
        self._fewest, self._why = len(self.progress.done) + 1, why
        return next(((t, self._errors[t]) for t, times in self._discarded.items() if times >= MOST_ERRORS), None)

    def lose(self, worker: int) -> None:
        """Forget what a worker has to do; somebody else must do what was awaited of it."""
        self.progress.left.pop(worker, None)
        self._doubted |= {task for task, other in self._awaited if other == worker}
        self._awaited = {(task, other) for task, other in self._awaited if other != worker}
        self._give_up_check({task for task, other in self.spot_checks if other == worker})

    def _give_up_check(self, tasks: set[int]) -> None:
        self.spot_checks = {(task, worker) for task, worker in self.spot_checks if task not in tasks}

    def strike(self, workers: Collection[int]) -> None:
        """Take back the results of workers that cannot be trusted."""
        for task in list(self.progress.done):
            self._tried[task] = [worker for worker in self._tried[task] if worker not in workers]
            if not self._tried[task]:
                self.progress.done.discard(task)

    def doubt(self, tasks: Iterable[int]) -> None:
        """Wait for these tasks to be computed once more."""
        self._doubted |= set(tasks)

    def shortage(self, alive: set[int]) -> dict[int, list[int]]:
        """What to give to whom, so that the living will determine the iteration; nothing while nobody is there."""
        extra: dict[int, list[int]] = {}
        if not alive:
            return extra
        for task in sorted(self._doubted):
            worker = self.progress.soonest(self._fresh(task, alive), extra)
            self._awaited.add((task, worker))
            extra.setdefault(worker, []).append(task)
        self._doubted.clear()
        coming = self.progress.done.union(*self.progress.left.values())
        for task in range(self._code.total):
            if self._determined_by(coming):
                break
            if task not in coming:
                extra.setdefault(self.progress.soonest(self._able(task, alive), extra), []).append(task)
                coming.add(task)
        return extra

    @property
    def hopeless(self) -> str | None:
        """Why nothing more can come of it, where every result is in and they do not determine it."""
        done = self.progress.done
        if len(done) < self._code.total or any(self.progress.left.values()) or self._determined_by(done):
            return None
        reason = f"all {len(done)} results together do not determine the iteration"
        return f"{reason}: {self._why}" if self._why else reason

    def _able(self, task: int, alive: set[int]) -> set[int]:
        """The workers on which a task has not failed; where it did on all, all."""
        return alive - self._errors.get(task, set()) or alive

    def _fresh(self, task: int, alive: set[int]) -> list[int]:
        """Those that have computed a task or a copy of it least often: they shall tell whether its result is right."""
        part, able = self._code.part, self._able(task, alive)
        tried = [w for other, workers in self._tried.items() if part(other) == part(task) for w in workers]
        fewest = min(map(tried.count, able))
        return sorted(worker for worker in able if tried.count(worker) == fewest)
