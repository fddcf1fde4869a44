"""Static: every worker has its load from the start, in one message (the paper)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deadheat.model import Array
from deadheat.simulation.batch import Batch
from deadheat.simulation.schedules.schedule import first_results, kth


@dataclass(frozen=True)
class Static:
    """Loads as the split says. Where workers are away and the others cannot reach K, these go on with the rest."""

    def lengths(self, batch: Batch) -> Array:
        """The K-th result of all loads."""
        found = kth(results(batch), batch.critical)
        lost = ~np.isfinite(found)
        if lost.any():
            found[lost] = first_results(batch, batch.ends, batch.critical * len(batch.tasks))[lost]
        return found


def results(batch: Batch) -> Array:
    """When each of the n results arrives, worker by worker: shape (iterations, n)."""
    busy = np.flatnonzero(batch.loads)
    return np.ascontiguousarray(np.concatenate([batch.ends(int(p), int(batch.loads[p])) for p in busy]).T)
