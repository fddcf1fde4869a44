"""The shifted exponential: a least time that every task takes, plus an exponential."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from deadheat.errors import BadInput
from deadheat.model import special
from deadheat.model.arrays import Array, ArrayLike
from deadheat.model.laws.law import ExactSums


@dataclass(frozen=True)
class ShiftedExponential(ExactSums):
    """shift + Exp(scale); the model of Lee et al. and Reisizadeh et al."""

    shift: float
    scale: float
    time_parameters = ("shift", "scale")

    @classmethod
    def from_moments(cls, mean: float, std: float) -> Self:
        """The scale is std and the shift is mean - std, which must not be negative."""
        if std > mean:
            problem = f"a shifted exponential has std <= mean ({mean:g})"
            raise BadInput("std", std, problem, "use law = 'gamma' or 'lognormal'")
        return cls(mean - std, std)

    def mean(self) -> float:
        return self.shift + self.scale

    def var(self) -> float:
        return self.scale**2

    def sum_cdf(self, count: ArrayLike, t: ArrayLike) -> Array:
        """A sum of k is k shifts and a gamma of shape k."""
        k = np.asarray(count, float)
        x = np.maximum(np.asarray(t, float) - k * self.shift, 0.0) / self.scale
        return np.asarray(special.gammainc(k, x))

    def rvs(self, size: int | tuple[int, ...] | None = None, random_state: Any = None) -> Any:
        return self.shift + np.random.default_rng(random_state).exponential(self.scale, size)
