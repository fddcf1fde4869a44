"""The gamma law: the default. It is the exponential when std = mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deadheat.model import special
from deadheat.model.arrays import Array
from deadheat.model.laws.law import ExactSums


@dataclass(frozen=True)
class Gamma(ExactSums):
    """Gamma with a shape and a scale; mean = shape * scale, var = shape * scale^2."""

    shape: float
    scale: float

    @classmethod
    def from_moments(cls, mean: float, std: float) -> Gamma:
        """The gamma law with this mean and standard deviation."""
        return cls((mean / std) ** 2, std * (std / mean))

    def mean(self) -> float:
        """Shape * scale."""
        return self.shape * self.scale

    def var(self) -> float:
        """Shape * scale^2."""
        return self.shape * self.scale**2

    def cdf(self, t: ArrayLike) -> Array:
        """The regularised incomplete gamma function."""
        return self.sum_cdf(1, t)

    def sum_cdf(self, count: ArrayLike, t: ArrayLike) -> Array:
        """A sum of k gammas of one scale is a gamma of k times the shape."""
        x = np.maximum(np.asarray(t, float), 0.0) / self.scale
        return np.asarray(special.gammainc(np.asarray(count, float) * self.shape, x))

    def rvs(self, size: int | tuple[int, ...] | None = None, random_state: Any = None) -> Any:
        """Draws from numpy's gamma (exponential where shape is 1)."""
        rng = np.random.default_rng(random_state)
        if self.shape == 1.0:
            return rng.exponential(self.scale, size)
        return rng.gamma(self.shape, self.scale, size)

    def scaled(self, factor: float) -> Gamma:
        """The same shape, factor times the scale."""
        return Gamma(self.shape, self.scale * factor)
