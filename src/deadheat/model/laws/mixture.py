"""The fast/slow mixture: now and then a task takes a multiple of its usual time."""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from deadheat.errors import BadInput, finite
from deadheat.model.arrays import Array, ArrayLike
from deadheat.model.laws.deterministic import Deterministic
from deadheat.model.laws.gamma import Gamma
from deadheat.model.laws.law import Law


@dataclass(frozen=True)
class Mixture(Law):
    """The fast law, or with probability `probability` a draw of it `slowdown` times as long."""

    fast: Law
    slowdown: float
    probability: float

    def __post_init__(self) -> None:
        finite(
            "slowdown", self.slowdown, "say how many times longer a slow task takes, such as 10", least=1.0, most=1e6
        )
        finite("probability", self.probability, "give the share of slow tasks, such as 0.2", least=0.0, most=1.0)

    @classmethod
    def from_moments(cls, mean: float, std: float, slowdown: float = 10.0, probability: float = 0.1) -> Self:
        """The mixture over a gamma law that has this mean and standard deviation as a whole."""
        shape = cls(Deterministic(1.0), slowdown, probability)
        fast_mean = mean / shape.mean()
        fast_var = (std**2 + mean**2) / (shape.var() + shape.mean() ** 2) - fast_mean**2
        if fast_var < -1e-12 * fast_mean**2:
            least = mean * shape.std() / shape.mean()
            raise BadInput("std", std, "the slow tasks alone spread more than that", f"give std >= {least:.4g}")
        if fast_var <= 1e-12 * fast_mean**2:
            return cls(Deterministic(fast_mean), slowdown, probability)
        return cls(Gamma.from_moments(fast_mean, math.sqrt(fast_var)), slowdown, probability)

    def mean(self) -> float:
        return self.fast.mean() * (1 + self.probability * (self.slowdown - 1))

    def var(self) -> float:
        square = self.fast.var() + self.fast.mean() ** 2
        return max(square * (1 + self.probability * (self.slowdown**2 - 1)) - self.mean() ** 2, 0.0)

    def cdf(self, t: ArrayLike) -> Array:
        times, q = np.asarray(t, float), self.probability
        return np.asarray((1 - q) * self.fast.cdf(times) + q * self.fast.cdf(times / self.slowdown))

    def atoms(self) -> tuple[Array, Array] | None:
        if not isinstance(self.fast, Deterministic):
            return None
        usual = self.fast.time
        return np.array([usual, usual * self.slowdown]), np.array([1 - self.probability, self.probability])

    def rvs(self, size: int | tuple[int, ...] | None = None, random_state: Any = None) -> Any:
        """Draws of the fast law, some of them stretched; row by row, so that more rows leave the first as they are."""
        rng = np.random.default_rng(random_state)
        if isinstance(size, tuple) and len(size) > 1:
            return np.stack([self.rvs(size[1:], rng) for _ in range(size[0])])
        stretch = np.where(rng.random(size) < self.probability, self.slowdown, 1.0)
        return self.fast.rvs(size, rng) * stretch

    def scaled(self, factor: float) -> Self:
        return type(self)(self.fast.scaled(factor), self.slowdown, self.probability)
