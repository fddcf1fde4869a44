"""What a law of task times is: non-negative, with two finite moments and the methods of a frozen scipy distribution."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from deadheat.errors import finite
from deadheat.model.arrays import Array, ArrayLike


class Law(ABC):
    """The law of one task's time, a frozen dataclass; `time_parameters` are its fields that grow with the work."""

    time_parameters: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def mean(self) -> float:
        """E[T]."""

    @abstractmethod
    def var(self) -> float:
        """Var[T], which is finite."""

    @abstractmethod
    def cdf(self, t: ArrayLike) -> Array:
        """P(T <= t), elementwise."""

    @abstractmethod
    def rvs(self, size: int | tuple[int, ...] | None = None, random_state: Any = None) -> Any:
        """Independent draws; random_state is a numpy Generator or a seed."""

    def std(self) -> float:
        return math.sqrt(self.var())

    def atoms(self) -> tuple[Array, Array] | None:
        """The values it takes and their probabilities, where these are all it takes; None for a law with a density."""
        return None

    def scaled(self, factor: float) -> "Law":
        """The law of factor * T: a task of `factor` times the work (Assumption 1)."""
        if not self.time_parameters:
            return Scaled(self, factor)
        return type(self)(**vars(self) | {name: getattr(self, name) * factor for name in self.time_parameters})


class ExactSums(Law):
    """A law whose sums of k independent tasks have a closed form."""

    @abstractmethod
    def sum_cdf(self, count: ArrayLike, t: ArrayLike) -> Array:
        """P(T_1 + ... + T_count <= t), broadcast over both; count >= 1."""

    def cdf(self, t: ArrayLike) -> Array:
        return self.sum_cdf(1, t)


@dataclass(frozen=True)
class Scaled(Law):
    """factor * T for a law T that has no scale parameter of its own."""

    law: Law
    factor: float
    time_parameters = ("factor",)

    def __post_init__(self) -> None:
        finite("factor", self.factor, "give a positive scale", above=0.0)

    def mean(self) -> float:
        return self.factor * self.law.mean()

    def var(self) -> float:
        return self.factor**2 * self.law.var()

    def cdf(self, t: ArrayLike) -> Array:
        return self.law.cdf(np.asarray(t, float) / self.factor)

    def rvs(self, size: int | tuple[int, ...] | None = None, random_state: Any = None) -> Any:
        return self.factor * self.law.rvs(size, random_state)

    def atoms(self) -> tuple[Array, Array] | None:
        atoms = self.law.atoms()
        return None if atoms is None else (self.factor * atoms[0], atoms[1])
