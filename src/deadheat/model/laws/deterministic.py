"""The deterministic law: every task takes the same time."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from deadheat.errors import BadInput
from deadheat.model.arrays import Array, ArrayLike
from deadheat.model.laws.law import ExactSums


@dataclass(frozen=True)
class Deterministic(ExactSums):
    """T = time, always."""

    time: float
    time_parameters = ("time",)

    @classmethod
    def from_moments(cls, mean: float, std: float) -> Self:
        if std != 0:
            raise BadInput("std", std, "a deterministic task time has no spread", "set std = 0 or another law")
        return cls(mean)

    def mean(self) -> float:
        return self.time

    def var(self) -> float:
        return 0.0

    def sum_cdf(self, count: ArrayLike, t: ArrayLike) -> Array:
        return np.asarray(np.asarray(t, float) >= np.asarray(count) * self.time, float)

    def rvs(self, size: int | tuple[int, ...] | None = None, random_state: Any = None) -> Any:
        return self.time if size is None else np.full(size, self.time)
