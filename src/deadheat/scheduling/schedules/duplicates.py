"""Duplicates: the static split, and copies of unfinished tasks for workers that are done."""

from dataclasses import dataclass
from typing import ClassVar

from deadheat.coding import placement
from deadheat.model import Array
from deadheat.scheduling.schedules.schedule import Draws, Progress, copy_of_slowest
from deadheat.scheduling.schedules.static import Static
from deadheat.scheduling.schedules.vectorised_events import lockstep


@dataclass(frozen=True)
class Duplicates(Static):
    """A worker that is done copies the last unfinished task of whoever has most left to do.

    The first copy to end counts; the owner does not hear of it and computes the task in its turn.
    """

    keeps_split: ClassVar[bool] = False

    def more(self, worker: int, progress: Progress) -> tuple[int, ...]:
        """A copy, for a worker that has nothing left."""
        return () if progress.left[worker] else copy_of_slowest(worker, progress)

    def lengths(self, batch: Draws) -> Array | None:
        """The K-th result of loads and copies."""
        return lockstep(batch, placement(batch.loads), ahead=-1, copies=True)
