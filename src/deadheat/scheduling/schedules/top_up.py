"""Top-up: the K tasks that are needed are split, and the n - K spare ones go to whoever is done first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.coding import placement
from deadheat.planning import apportion
from deadheat.scheduling.schedules.schedule import Progress, Schedule, copy_of_slowest


@dataclass(frozen=True)
class TopUp(Schedule):
    """K of the n tasks are given out at the start, in the proportion of the split.

    A worker that has only `ahead` tasks left gets a spare coded task; when these are all given out, a worker that is
    idle copies the last unfinished task of whoever has most left to do.
    """

    ahead: int = 1

    def opening(self, workers: Sequence[int], loads: Sequence[int], critical: int) -> dict[int, tuple[int, ...]]:
        """K tasks in the split's proportion."""
        shares = np.asarray(loads, float) * (critical / sum(loads))
        kept = apportion(shares, critical)
        return {w: tuple(tasks) for w, tasks in zip(workers, placement(kept), strict=True) if tasks}

    def more(self, worker: int, progress: Progress) -> tuple[int, ...]:
        """A spare task while there are any, then copies for those who are idle."""
        left = len(progress.left[worker])
        spare = progress.spare() if left <= self.ahead else None
        if spare is not None:
            return (spare,)
        return () if left else copy_of_slowest(worker, progress)
