"""Until decodable: the static split, ended by the code itself and not by a number of results."""

from __future__ import annotations

from dataclasses import dataclass

from deadheat.coding import Code
from deadheat.model import Array
from deadheat.simulation.batch import Batch
from deadheat.simulation.schedules.static import results


@dataclass(frozen=True, eq=False)
class Decodable:
    """For codes that stop on coverage or by peeling: neighbouring tasks are with one worker, in their order."""

    code: Code

    def lengths(self, batch: Batch) -> Array:
        """When the results that are in first determine the iteration."""
        return self.code.finish(results(batch))
