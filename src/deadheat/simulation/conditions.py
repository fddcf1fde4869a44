"""Workers that change from iteration to iteration: slow or away for a while, or as a recorded trace had them.

Straggling is not independent from task to task. A condition yields factors on the durations of an iteration's tasks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import BadInput, finite
from deadheat.model import Cluster

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Switching:
    """Two states per worker, from iteration to iteration: usual, and `factor` times as slow (infinite: away).

    enter, leave: probabilities per iteration of entering and leaving the other state. Independent straggling with
    probability q is enter = q, leave = 1 - q; a state that lasts 20 iterations has leave = 0.05.
    """

    factor: float
    enter: float
    leave: float

    def __post_init__(self) -> None:
        if math.isnan(self.factor) or self.factor < 1:
            raise BadInput(
                "factor", self.factor, "must be at least 1", "say how many times slower, or infinity for away"
            )
        for name in ("enter", "leave"):
            value = finite(name, getattr(self, name), "give a probability per iteration", least=0.0)
            if value > 1:
                raise BadInput(name, value, "must be at most 1", "give a probability per iteration")
        if self.enter + self.leave == 0:
            raise BadInput("enter", self.enter, "the states never change", "give enter or leave a chance")

    @property
    def share(self) -> float:
        """The part of iterations that a worker spends in the other state."""
        return self.enter / (self.enter + self.leave)

    def factors(self, workers: int, rng: np.random.Generator) -> Callable[[int], Array]:
        """Factors (size, workers) for the next `size` iterations, from equilibrium on, call after call."""
        state = rng.random(workers) < self.share

        def following(size: int) -> Array:
            nonlocal state
            states = self._states(state, rng.random((size, workers)))
            state = states[-1]
            if math.isinf(self.factor):  # with nobody there nothing moves: the master waits until all return
                states = states & ~states.all(axis=1, keepdims=True)
            return np.where(states, self.factor, 1.0)

        return following

    def _states(self, state: NDArray[np.bool_], level: Array) -> NDArray[np.bool_]:
        """The chain driven by uniform numbers, one row per iteration."""
        size = len(level)
        if self.enter <= 1 - self.leave + 1e-12:  # q and 1 - q must count, however they are rounded
            # Below `enter` all turn slow, above 1 - leave all turn usual, in between all stay: carry the last decision.
            decided = np.vstack([np.ones((1, state.size), bool), (level < self.enter) | (level >= 1 - self.leave)])
            value = np.vstack([state[None], level < self.enter])
            last = np.maximum.accumulate(np.where(decided, np.arange(size + 1)[:, None], 0), axis=0)
            return np.take_along_axis(value, last, axis=0)[1:]
        states = np.empty((size, state.size), bool)
        for i in range(size):
            state = np.where(state, level[i] >= self.leave, level[i] < self.enter)
            states[i] = state
        return states


@dataclass(frozen=True, eq=False)
class Replay:
    """Recorded response times, `seconds` of shape (rounds, workers): iteration i is round i, over and over.

    `cluster()` gives the workers to simulate with: each takes its average, and the factors make it the recorded time.
    """

    seconds: Array

    def __post_init__(self) -> None:
        times = np.asarray(self.seconds, float)
        if times.ndim != 2 or not times.size or not (np.isfinite(times) & (times > 0)).all():
            raise BadInput(
                "seconds", times.shape, "not a table of positive times", "give an array of (rounds, workers)"
            )
        object.__setattr__(self, "seconds", times)

    def cluster(self) -> Cluster:
        """Workers without spread of their own: the trace has it."""
        return Cluster.from_columns(self.seconds.mean(axis=0), 0.0)

    def factors(self, workers: int, rng: np.random.Generator) -> Callable[[int], Array]:
        """The recorded times over their averages, round after round."""
        rounds, recorded = self.seconds.shape
        if workers != recorded:
            raise BadInput(
                "seconds", self.seconds.shape, f"{recorded} workers recorded, {workers} asked", "use .cluster()"
            )
        relative = self.seconds / self.seconds.mean(axis=0)
        place = 0

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
