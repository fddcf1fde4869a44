"""Workers that are lost: how long one may be silent, and whether the job at work is to blame.

A task that ends its worker (it exits, crashes, runs out of memory) or never comes back would do the same to the next
one. Workers die for other reasons as well, so that a job is given up only when one of its tasks was in hand at several
losses, or when many workers were lost without any result of the job between.
"""

from collections.abc import Sequence

from deadheat.scheduling.estimates import UNHEARD, Estimates
from deadheat.scheduling.messages import Arrived
from deadheat.scheduling.probe import task_units

FIRST_RESULT = 20.0  # seconds that a worker has for its first result of a job at least: it may have to import much
MOST_DEATHS = 4  # workers that may die with the same task of an iteration in hand
MOST_SILENCES = 3  # workers on which the same task of an iteration may not come back
SPARE_LOSSES = 8  # losses without a result of the job, besides one of every worker, before it is given up


class Losses:
    """What is known of the silence and the end of workers, for the job at work.

    silent: workers that are taken for lost because of their silence, and may still come back.
    """

    def __init__(self, estimates: Estimates) -> None:
        self._estimates = estimates
        self.silent: set[int] = set()
        self._heard: dict[int, float] = {}  # when a worker with tasks was last heard of
        self._opened: set[int] = set()  # workers that have brought a result of the job
        self._deaths: dict[int, list[int]] = {}  # of a task, the workers that died at it, in this iteration
        self._silences: dict[int, list[int]] = {}  # of a task, the workers that fell silent at it
        self._fruitless = 0  # workers lost since the job's last result

    def begin_job(self) -> None:
        self._opened, self._fruitless = set(), 0

    def begin_iteration(self) -> None:
        self._heard, self._deaths, self._silences = {}, {}, {}

    def knows(self, worker: int) -> bool:
        """Whether the worker was given tasks in this iteration."""
        return worker in self._heard

    def hear(self, worker: int, at: float) -> None:
        """Note a sign of life of a worker, or that it was given tasks."""
        self._heard[worker] = at

    def result(self, worker: int, at: float) -> None:
        """Note a result of the job."""
        self._heard[worker] = at
        self._opened.add(worker)
        self._fruitless = 0

    def forget(self, worker: int) -> None:
        """Forget a worker that is gone; another process may come in its place."""
        self._opened.discard(worker)
        self._heard.pop(worker, None)

    def due(self, worker: int, task: int, job: Arrived) -> float:
        """When a worker that is not heard of is taken for lost.

        A task that did not come back before gets twice the time, up to a minute or so: it may be longer than thought.
        """
        return self._heard[worker] + self._seconds(worker, task, job)

    def _seconds(self, worker: int, task: int, job: Arrived) -> float:
        if job.patience is not None:
            return job.patience
        patience = self._estimates.patience(worker, task_units(job.spec, first=True))
        if worker not in self._opened:
            patience = max(patience, FIRST_RESULT)
        longer = 2.0 ** len(self._silences.get(task, ())) if patience < UNHEARD else 1.0
        return patience * longer

    def died(self, worker: int, task: int, workers: int) -> str | None:
        """Count a worker that died with a task in hand; why the job is given up, if it is. workers: how many there are.

        A worker that was only stopped and is then ended by us has been counted as silent.
        """
        return self._count(self._deaths, MOST_DEATHS, worker, task, workers, "ended its worker")

    def fell_silent(self, worker: int, task: int, job: Arrived, workers: int) -> str | None:
        """Count a worker that is silent beyond its time; why the job is given up, if it is."""
        what = f"did not come back within {self._seconds(worker, task, job):.3g} s"
        self.silent.add(worker)
        reason = self._count(self._silences, MOST_SILENCES, worker, task, workers, what)
        return None if reason is None else f"{reason}; if its tasks may take longer, give patience= in seconds"

    def _count(
        self, losses: dict[int, list[int]], most: int, worker: int, task: int, workers: int, what: str
    ) -> str | None:
        losses.setdefault(task, []).append(worker)
        self._fruitless += 1
        if len(losses[task]) >= most:
            return f"its task {task} {what}, {most} times in one iteration: on {self._names(losses[task])}"
        if self._fruitless >= workers + SPARE_LOSSES:
            return f"it lost {self._fruitless} workers without a result: its task {task} {what}"
        return None

    def _names(self, workers: Sequence[int]) -> str:
        return ", ".join(map(self._estimates.name, workers))
