"""Workers that change from iteration to iteration: `Switching` between two states, or as a recorded trace had them.

Straggling is not independent from task to task. A condition yields factors on the durations of an iteration's tasks.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from deadheat.errors import BadInput
from deadheat.model import Array, Cluster


@dataclass(frozen=True, eq=False)
class Replay:
    """Recorded response times, `seconds` of shape (rounds, workers): iteration i is round i, over and over.

    `cluster()` gives the workers to simulate with: each takes its average, and the factors make it the recorded time.
    """

    seconds: Array

    def __post_init__(self) -> None:
        times = np.asarray(self.seconds, float)
        if times.ndim != 2 or not times.size or not (np.isfinite(times) & (times > 0)).all():
            remedy = "give an array of (rounds, workers)"
            raise BadInput("seconds", times.shape, "not a table of positive times", remedy)
        object.__setattr__(self, "seconds", times)

    def cluster(self) -> Cluster:
        """Workers without spread of their own: the trace has it."""
        return Cluster.from_columns(self.seconds.mean(axis=0), 0.0)

    def factors(self, workers: int, rng: np.random.Generator) -> Callable[[int], Array]:
        rounds, recorded = self.seconds.shape
        if workers != recorded:
            problem = f"{recorded} workers recorded, {workers} asked"
            raise BadInput("seconds", self.seconds.shape, problem, "use .cluster()")
        relative, place = self.seconds / self.seconds.mean(axis=0), 0

        def following(size: int) -> Array:
            nonlocal place
            rows = (place + np.arange(size)) % rounds
            place = (place + size) % rounds
            return np.asarray(relative[rows])

        return following


class Condition(Protocol):
    """How workers change from iteration to iteration."""

    def factors(self, workers: int, rng: np.random.Generator) -> Callable[[int], Array]:
        """A function that gives factors (size, workers) on the task times of the next `size` iterations."""
