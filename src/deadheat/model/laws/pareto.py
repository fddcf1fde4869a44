"""The Pareto law with finite variance: rare tasks take very much longer."""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from deadheat.model.arrays import Array, ArrayLike
from deadheat.model.laws.law import Law


@dataclass(frozen=True)
class Pareto(Law):
    """P(T > t) = (least/t)^index from `least` on; index > 2."""

    index: float
    least: float
    time_parameters = ("least",)

    @classmethod
    def from_moments(cls, mean: float, std: float) -> Self:
        """The Pareto with these moments: (std/mean)^2 = 1/(index (index - 2)), so every spread has one."""
        index = 1 + math.sqrt(1 + (mean / std) ** 2)
        return cls(index, mean * (index - 1) / index)

    def mean(self) -> float:
        return self.least * self.index / (self.index - 1)

    def var(self) -> float:
        return self.mean() ** 2 / (self.index * (self.index - 2))

    def cdf(self, t: ArrayLike) -> Array:
        return np.asarray(-np.expm1(-self.index * np.log(np.maximum(np.asarray(t, float), self.least) / self.least)))

    def rvs(self, size: int | tuple[int, ...] | None = None, random_state: Any = None) -> Any:
        return self.least * (1 + np.random.default_rng(random_state).pareto(self.index, size))
