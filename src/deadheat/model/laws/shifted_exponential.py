"""The shifted exponential: a least time that every task takes, plus an exponential."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deadheat.errors import BadInput
from deadheat.model import special
from deadheat.model.arrays import Array
from deadheat.model.laws.law import ExactSums


@dataclass(frozen=True)
class ShiftedExponential(ExactSums):
    """Shift + Exp(scale); the model of Lee et al. and Reisizadeh et al."""

    shift: float
    scale: float

    @classmethod
    def from_moments(cls, mean: float, std: float) -> ShiftedExponential:
        """Scale = std, shift = mean - std, which must not be negative."""
        if std > mean:
            raise BadInput(
                "std",
                std,
                f"a shifted exponential has std <= mean ({mean:g})",
                "use law = 'gamma' or 'lognormal'",
            )
        return cls(mean - std, std)

    def mean(self) -> float:
        """Shift + scale."""
        return self.shift + self.scale

    def var(self) -> float:
        """Scale^2."""
        return self.scale**2

    def cdf(self, t: ArrayLike) -> Array:
        """1 - exp(-(t - shift)/scale) from the shift on."""
        return self.sum_cdf(1, t)

    def sum_cdf(self, count: ArrayLike, t: ArrayLike) -> Array:
        """k shifts and a gamma of shape k."""
        k = np.asarray(count, float)
        x = np.maximum(np.asarray(t, float) - k * self.shift, 0.0) / self.scale
        return np.asarray(special.gammainc(k, x))

    def rvs(self, size: int | tuple[int, ...] | None = None, random_state: Any = None) -> Any:
        """Shift plus numpy's exponential."""
        return self.shift + np.random.default_rng(random_state).exponential(self.scale, size)

    def scaled(self, factor: float) -> ShiftedExponential:
        """Both parts scale."""
        return ShiftedExponential(self.shift * factor, self.scale * factor)
