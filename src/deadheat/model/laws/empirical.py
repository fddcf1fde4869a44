"""The empirical law: task times as they were measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deadheat.errors import BadInput
from deadheat.model.arrays import Array
from deadheat.model.laws.law import Law


@dataclass(frozen=True, eq=False)
class Empirical(Law):
    """Each of the samples with the same probability."""

    samples: Array

    def __init__(self, samples: ArrayLike) -> None:
        try:
            values = np.sort(np.asarray(samples, float).ravel())
        except (TypeError, ValueError):
            raise BadInput("samples", samples, "not a list of numbers", "give measured times in seconds") from None
        if values.size == 0:
            raise BadInput("samples", [], "empty", "give at least one measured time in seconds")
        bad = values[~np.isfinite(values) | (values < 0)]
        if bad.size:
            raise BadInput("samples", float(bad[0]), "a time must be finite and not negative", "remove it")
        if values[-1] <= 0:
            raise BadInput("samples", 0.0, "all times are zero", "give at least one time above 0")
        values.setflags(write=False)
        object.__setattr__(self, "samples", values)

    def mean(self) -> float:
        """The average of the samples."""
        return float(self.samples.mean())

    def var(self) -> float:
        """Their variance (divided by their number: the law's own, not an estimate)."""
        return float(self.samples.var())

    def cdf(self, t: ArrayLike) -> Array:
        """The share of samples up to t."""
        return np.asarray(np.searchsorted(self.samples, np.asarray(t, float), side="right") / self.samples.size)

    def atoms(self) -> tuple[Array, Array]:
        """The samples."""
        return self.samples, np.full(self.samples.size, 1 / self.samples.size)

    def rvs(self, size: int | tuple[int, ...] | None = None, random_state: Any = None) -> Any:
        """Draws with replacement."""
        return np.random.default_rng(random_state).choice(self.samples, size)

    def scaled(self, factor: float) -> Empirical:
        """Every sample factor times as long."""
        return Empirical(self.samples * factor)
