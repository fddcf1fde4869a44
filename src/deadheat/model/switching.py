"""Workers that are slow, or away, for whole iterations at a time: straggling is not independent from task to task."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deadheat.errors import BadInput, finite
from deadheat.model.arrays import Array, BoolArray
from deadheat.model.quantity import quantity


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
        if self.factor != math.inf:
            quantity("factor", self.factor, "say how many times slower, or infinity for away", least=1.0)
        for name in ("enter", "leave"):
            finite(name, getattr(self, name), "give a probability per iteration", least=0.0, most=1.0)
        if self.enter + self.leave == 0:
            raise BadInput("enter", self.enter, "the states never change", "give enter or leave a chance")

    @property
    def share(self) -> float:
        """The part of iterations that a worker spends in the other state."""
        return self.enter / (self.enter + self.leave)

    @property
    def independent(self) -> bool:
        """Whether a worker's state in one iteration says nothing of the next: the exact law holds then."""
        return abs(self.enter + self.leave - 1) < 1e-12 and math.isfinite(self.factor)

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

    def _states(self, state: BoolArray, level: Array) -> BoolArray:
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
