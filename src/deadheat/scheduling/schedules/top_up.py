"""Top-up: the K tasks that are needed are split, and the n - K spare ones go to whoever is done first."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from deadheat.coding import placement
from deadheat.model import Array
from deadheat.planning import apportion
from deadheat.scheduling.schedules.schedule import Draws, Progress, Schedule, copy_of_slowest
from deadheat.scheduling.schedules.vectorised_events import lockstep


@dataclass(frozen=True)
class TopUp(Schedule):
    """K of the n tasks are given out at the start, in the proportion of the split.

    A worker that has only `ahead` tasks left gets a spare coded task; when these are all given out, a worker that is
    idle copies the last unfinished task of whoever has most left to do.
    """

    ahead: int = 1

    def opening(self, workers: Sequence[int], loads: Sequence[int], critical: int) -> dict[int, tuple[int, ...]]:
        """K tasks in the split's proportion, and a spare one for who has a load and none of these."""
        shares = np.asarray(loads, float) * (critical / sum(loads))
        spares = iter(range(critical, sum(loads)))
        opening = {}
        for worker, load, tasks in zip(workers, loads, placement(apportion(shares, critical)), strict=True):
            first = tuple(tasks) or tuple(islice(spares, 1 if load else 0))
            if first:
                opening[worker] = first
        return opening

    def more(self, worker: int, progress: Progress) -> tuple[int, ...]:
        """A spare task while there are any, then copies for those who are idle."""
        left = len(progress.left[worker])
        spare = progress.spare() if left <= self.ahead else None
        if spare is not None:
            return (spare,)
        return () if left else copy_of_slowest(worker, progress)

    def lengths(self, batch: Draws) -> Array | None:
        """The K-th result of loads, spares and copies."""
        workers = range(len(batch.tasks))
        opening = self.opening(workers, batch.loads.tolist(), batch.critical)
        return lockstep(batch, [opening.get(w, ()) for w in workers], ahead=self.ahead, copies=True)
