"""Top-up: the static split first; a worker that is done gets spare coded tasks, until K results are in."""

from __future__ import annotations

from dataclasses import dataclass

from deadheat.model import Array
from deadheat.simulation.batch import Batch
from deadheat.simulation.schedules.schedule import first_results


@dataclass(frozen=True)
class TopUp:
    """cost: seconds for every spare task, or None for the worker's own c_p. There is always a spare one (rateless)."""

    cost: float | None = None

    def lengths(self, batch: Batch) -> Array:
        """The K-th result of loads and spares."""

        def ends(worker: int, count: int) -> Array:
            price = float(batch.tasks.comm[worker]) if self.cost is None else self.cost
            return batch.ends(worker, count, price, after=int(max(batch.loads[worker], 1)))

        return first_results(batch, ends, batch.critical * len(batch.tasks))
