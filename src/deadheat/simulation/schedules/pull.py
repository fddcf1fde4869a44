"""Pull: each worker takes the next task when it is free, and pays for asking."""

from __future__ import annotations

from dataclasses import dataclass

from deadheat.model import Array
from deadheat.simulation.batch import Batch
from deadheat.simulation.schedules.schedule import first_results


@dataclass(frozen=True)
class Pull:
    """cost: seconds for every task after a worker's first, or None for the worker's own c_p each time."""

    cost: float | None = None

    def lengths(self, batch: Batch) -> Array:
        """The K-th result; the split plays no part, only its number of tasks."""

        def ends(worker: int, count: int) -> Array:
            price = float(batch.tasks.comm[worker]) if self.cost is None else self.cost
            return batch.ends(worker, count, price, after=1)

        return first_results(batch, ends, int(batch.loads.sum()))
