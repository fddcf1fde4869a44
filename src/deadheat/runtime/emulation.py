"""Emulated unequal workers: real processes whose task times are stretched to given laws. Always called emulated."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadheat.model import Cluster, Law
from deadheat.scheduling import Token

LOOK = 0.002  # seconds between two looks at the token


@dataclass(frozen=True)
class Emulation:
    """The law of one unit of work, the seconds per iteration, and the seed of a worker's luck."""

    law: Law
    comm: float
    seed: int

    def start(self) -> Stretch:
        """A fresh source of task times, in the worker's own process."""
        return Stretch(self, np.random.default_rng(self.seed))


@dataclass
class Stretch:
    """Sleeps until a task has taken the time that was drawn for it.

    A sleep ends a little late; what one task was late is taken off the next, so that the times are right on average.
    """

    emulation: Emulation
    rng: Any
    late: float = 0.0

    def receive(self, token: Token) -> None:
        """The time that an order takes to come."""
        _sleep(time.perf_counter() + self.emulation.comm, token)

    def until(self, began: float, units: float, count: int, token: Token) -> None:
        """Sleep until `count` tasks of so many units of work would have ended that began then, or they are purged."""
        end = began - self.late + units * float(np.sum(self.emulation.law.rvs(count, self.rng)))
        _sleep(end, token)
        self.late = min(time.perf_counter() - end, LOOK)


def _sleep(until: float, token: Token) -> None:
    """In short steps: an emulated task looks at its token as user code may."""
    while (rest := until - time.perf_counter()) > 0:
        time.sleep(min(rest, LOOK))
        token.check()


def emulations(cluster: Cluster, seed: int = 0) -> list[Emulation]:
    """One for each worker of a cluster."""
    return [
        Emulation(law, float(c), seed + p) for p, (law, c) in enumerate(zip(cluster.laws, cluster.comm, strict=True))
    ]
