"""The empirical law: task times as they were measured."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from deadheat.errors import BadInput
from deadheat.model.arrays import Array, ArrayLike
from deadheat.model.laws.law import Law
from deadheat.model.quantity import MOST


@dataclass(frozen=True, eq=False)
class Empirical(Law):
    """Each of the samples with the same probability; its variance is divided by their number, not by one less."""

    samples: Array
    time_parameters = ("samples",)

    def __init__(self, samples: ArrayLike) -> None:
        try:
            if isinstance(samples, bool | str | bytes):
                raise TypeError
            values = np.sort(np.asarray(samples, float).ravel())
        except (TypeError, ValueError):
            raise BadInput("samples", samples, "not a list of numbers", "give measured times in seconds") from None
        if values.size == 0:
            raise BadInput("samples", [], "empty", "give at least one measured time in seconds")
        bad = values[~(values <= MOST) | (values < 0)]
        if bad.size:
            raise BadInput("samples", float(bad[0]), "a time must be finite and not negative", "remove it")
        if values[-1] <= 0:
            raise BadInput("samples", 0.0, "all times are zero", "give at least one time above 0")
        values.setflags(write=False)
        object.__setattr__(self, "samples", values)

    def mean(self) -> float:
        return float(self.samples.mean())

    def var(self) -> float:
        return float(self.samples.var())

    def cdf(self, t: ArrayLike) -> Array:
        return np.asarray(np.searchsorted(self.samples, np.asarray(t, float), side="right") / self.samples.size)

    def atoms(self) -> tuple[Array, Array]:
        return self.samples, np.full(self.samples.size, 1 / self.samples.size)

    def rvs(self, size: int | tuple[int, ...] | None = None, random_state: Any = None) -> Any:
        return np.random.default_rng(random_state).choice(self.samples, size)
