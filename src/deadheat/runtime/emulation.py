"""Emulated unequal workers: real processes whose task times are stretched to given laws. Always called emulated."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadheat.model import Cluster
from deadheat.model.laws import Law


@dataclass(frozen=True)
class Emulation:
    """The law of one unit of work, the seconds per iteration, and the seed of a worker's luck."""

    law: Law
    comm: float
    seed: int

    def start(self) -> Stretch:
        """A fresh source of task times, in the worker's own process."""
        return Stretch(self, np.random.default_rng(self.seed))


@dataclass(frozen=True)
class Stretch:
    """Sleeps until a task has taken the time that was drawn for it."""

    emulation: Emulation
    rng: Any

    def receive(self) -> None:
        """The time that an order takes to come."""
        time.sleep(self.emulation.comm)

    def until(self, began: float, units: float, count: int) -> None:
        """Sleep until `count` tasks of so many units of work would have ended that began then."""
        drawn = units * float(np.sum(self.emulation.law.rvs(count, self.rng)))
        rest = began + drawn - time.perf_counter()
        if rest > 0:
            time.sleep(rest)


def emulations(cluster: Cluster, seed: int = 0) -> list[Emulation]:
    """One for each worker of a cluster."""
    return [
        Emulation(law, float(c), seed + p) for p, (law, c) in enumerate(zip(cluster.laws, cluster.comm, strict=True))
    ]
