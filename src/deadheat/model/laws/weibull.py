"""The Weibull law: heavier than exponential for shape < 1, lighter for shape > 1."""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from deadheat.errors import BadInput
from deadheat.model import special
from deadheat.model.arrays import Array, ArrayLike
from deadheat.model.laws.law import Law

LEAST_SHAPE, MOST_SHAPE = 0.05, 1e6  # std/mean from 4e5 down to 1e-6


def _log_spread(shape: float) -> float:
    """log of E[T^2]/E[T]^2: falls as the shape grows."""
    return float(special.gammaln(1 + 2 / shape) - 2 * special.gammaln(1 + 1 / shape))


@dataclass(frozen=True)
class Weibull(Law):
    """P(T > t) = exp(-(t/scale)^shape)."""

    shape: float
    scale: float
    time_parameters = ("scale",)

    @classmethod
    def from_moments(cls, mean: float, std: float) -> Self:
        """The shape is found by bisection of a falling function."""
        wanted = math.log1p((std / mean) ** 2)
        low, high = math.log(LEAST_SHAPE), math.log(MOST_SHAPE)
        if not _log_spread(MOST_SHAPE) <= wanted <= _log_spread(LEAST_SHAPE):
            raise BadInput("std", std, "no Weibull law has this spread", "keep std/mean between 2e-6 and 1e5")
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (middle, high) if _log_spread(math.exp(middle)) > wanted else (low, middle)
        shape = math.exp((low + high) / 2)
        return cls(shape, mean / math.exp(float(special.gammaln(1 + 1 / shape))))

    def mean(self) -> float:
        return self.scale * math.exp(float(special.gammaln(1 + 1 / self.shape)))

    def var(self) -> float:
        return math.expm1(_log_spread(self.shape)) * self.mean() ** 2

    def cdf(self, t: ArrayLike) -> Array:
        with np.errstate(over="ignore"):
            return np.asarray(-np.expm1(-((np.maximum(np.asarray(t, float), 0.0) / self.scale) ** self.shape)))

    def rvs(self, size: int | tuple[int, ...] | None = None, random_state: Any = None) -> Any:
        return self.scale * np.random.default_rng(random_state).weibull(self.shape, size)
