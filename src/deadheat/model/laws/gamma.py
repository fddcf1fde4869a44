"""The gamma law: the default. It is the exponential when std = mean."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from deadheat.model import special
from deadheat.model.arrays import Array, ArrayLike
from deadheat.model.laws.law import ExactSums


@dataclass(frozen=True)
class Gamma(ExactSums):
    """Gamma with a shape and a scale; mean = shape * scale, var = shape * scale^2."""

    shape: float
    scale: float
    time_parameters = ("scale",)

    @classmethod
    def from_moments(cls, mean: float, std: float) -> Self:
        return cls((mean / std) ** 2, std * (std / mean))

    def mean(self) -> float:
        return self.shape * self.scale

    def var(self) -> float:
        return self.shape * self.scale**2

    def sum_cdf(self, count: ArrayLike, t: ArrayLike) -> Array:
        """A sum of k gammas of one scale is a gamma of k times the shape."""
        x = np.maximum(np.asarray(t, float), 0.0) / self.scale
        return np.asarray(special.gammainc(np.asarray(count, float) * self.shape, x))

    def rvs(self, size: int | tuple[int, ...] | None = None, random_state: Any = None) -> Any:
        rng = np.random.default_rng(random_state)
        if self.shape == 1.0:
            return rng.exponential(self.scale, size)
        return rng.gamma(self.shape, self.scale, size)
