"""Speculation, Spark's rule: when most tasks are done, a task that runs far beyond the median is run a second time."""

import math
from dataclasses import dataclass

import numpy as np

from deadheat.model import Array
from deadheat.scheduling.schedules.pull import Pull
from deadheat.scheduling.schedules.schedule import Draws, Progress


@dataclass(frozen=True)
class Speculative(Pull):
    """Tasks are pulled by workers that are free, as in Spark; the first copy of a task to end counts.

    From `quantile` of the tasks done on, an idle worker copies one that has run longer than `multiplier` times the
    median duration. Spark's defaults are 0.75 and 1.5.
    """

    ahead: int = 0
    quantile: float = 0.75
    multiplier: float = 1.5

    def more(self, worker: int, progress: Progress) -> tuple[int, ...]:
        """The next task, or a copy of the oldest straggler."""
        tasks = super().more(worker, progress)
        if tasks or progress.left[worker]:
            return tasks
        limit = self._limit(progress)
        slow = {task: since for task, since in progress.running().items() if progress.now > since + limit}
        return (min(slow, key=slow.__getitem__),) if slow else ()

    def wake(self, progress: Progress) -> float | None:
        """When the next running task becomes a straggler, if a worker is idle then."""
        limit = self._limit(progress)
        if math.isinf(limit) or not progress.idle():
            return None
        running = progress.running().values()
        return float(np.nextafter(min(running) + limit, np.inf)) if running else None

    def _limit(self, progress: Progress) -> float:
        """The age beyond which a task is a straggler; infinite while too few are done."""
        if len(progress.done) < self.quantile * progress.total:
            return math.inf
        return self.multiplier * float(np.median(progress.took))

    def lengths(self, batch: Draws) -> Array | None:
        """There is no fast path: copies depend on what has happened so far."""
        return None
