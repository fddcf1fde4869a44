"""The lognormal law: the logarithm of the time is normal."""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from deadheat.model import special
from deadheat.model.arrays import Array, ArrayLike
from deadheat.model.laws.law import Law


@dataclass(frozen=True)
class Lognormal(Law):
    """exp(Normal(log_mean, log_std))."""

    log_mean: float
    log_std: float

    @classmethod
    def from_moments(cls, mean: float, std: float) -> Self:
        v = math.log1p((std / mean) ** 2)
        return cls(math.log(mean) - v / 2, math.sqrt(v))

    def mean(self) -> float:
        return math.exp(self.log_mean + self.log_std**2 / 2)

    def var(self) -> float:
        return math.expm1(self.log_std**2) * self.mean() ** 2

    def cdf(self, t: ArrayLike) -> Array:
        with np.errstate(divide="ignore"):
            z = (np.log(np.maximum(np.asarray(t, float), 0.0)) - self.log_mean) / self.log_std
        return np.asarray(special.ndtr(z))

    def rvs(self, size: int | tuple[int, ...] | None = None, random_state: Any = None) -> Any:
        return np.random.default_rng(random_state).lognormal(self.log_mean, self.log_std, size)

    def scaled(self, factor: float) -> Self:
        return type(self)(self.log_mean + math.log(factor), self.log_std)
