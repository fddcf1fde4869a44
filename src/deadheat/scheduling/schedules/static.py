"""Static: every worker has its load from the start, in one message (the paper)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from deadheat.coding import placement
from deadheat.model import Array
from deadheat.scheduling.schedules.schedule import Draws, Schedule


@dataclass(frozen=True)
class Static(Schedule):
    """Loads as the split says, neighbouring tasks together."""

    keeps_split: ClassVar[bool] = True

    def opening(self, workers: Sequence[int], loads: Sequence[int], critical: int) -> dict[int, tuple[int, ...]]:
        return {w: tuple(tasks) for w, tasks in zip(workers, placement(loads), strict=True) if tasks}

    def lengths(self, batch: Draws) -> Array | None:
        """The K-th result of all loads; infinite where too few workers are there."""
        return kth(results(batch), batch.critical)


def kth(ends: Array, critical: int) -> Array:
    """The K-th smallest of each row."""
    return np.asarray(np.partition(ends, critical - 1, axis=1)[:, critical - 1])


def results(batch: Draws) -> Array:
    """When each of the n results arrives, worker by worker: shape (iterations, n)."""
    busy = np.flatnonzero(batch.loads)
    return np.ascontiguousarray(np.concatenate([batch.ends(int(p), int(batch.loads[p])) for p in busy]).T)
