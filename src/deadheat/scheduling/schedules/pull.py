"""Pull: each worker takes the next task when it needs one; the split plays no part, only its number of tasks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from deadheat.model import Array
from deadheat.scheduling.schedules.schedule import Draws, Progress, Schedule
from deadheat.scheduling.schedules.vectorised_events import lockstep


@dataclass(frozen=True)
class Pull(Schedule):
    """ahead: how many tasks a worker has in hand, besides the one it computes, while it asks for the next.

    With 1 the latency of a pull hides behind work; with 0 the worker waits for the master's answer.
    """

    ahead: int = 1
    uses_split: ClassVar[bool] = False

    def opening(self, workers: Sequence[int], loads: Sequence[int], critical: int) -> dict[int, tuple[int, ...]]:
        """One task each, in turns, until everybody has one to compute and `ahead` in hand."""
        dealt = range(min(sum(loads), len(workers) * (1 + self.ahead)))
        hands = {worker: tuple(dealt[place :: len(workers)]) for place, worker in enumerate(workers)}
        return {worker: tasks for worker, tasks in hands.items() if tasks}

    def more(self, worker: int, progress: Progress) -> tuple[int, ...]:
        """The next task, if there is one."""
        if len(progress.left[worker]) > self.ahead:
            return ()
        spare = progress.spare()
        return () if spare is None else (spare,)

    def lengths(self, batch: Draws) -> Array | None:
        """The K-th result of tasks that are taken one by one."""
        workers = range(len(batch.tasks))
        opening = self.opening(workers, batch.loads.tolist(), batch.critical)
        return lockstep(batch, [opening.get(w, ()) for w in workers], ahead=self.ahead, copies=False)
