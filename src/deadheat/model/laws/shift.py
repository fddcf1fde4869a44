"""A law with a constant in front: what every task takes whatever its size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deadheat.model.laws.law import Array, ExactSums, Law


def shifted(law: Law, by: float) -> Law:
    """The law of T + by; its sums have a closed form where those of T have one."""
    return ExactlyShifted(law, by) if isinstance(law, ExactSums) else Shifted(law, by)


@dataclass(frozen=True)
class Shifted(Law):
    """T + by."""

    law: Law
    by: float

    def mean(self) -> float:
        """E[T] + by."""
        return self.law.mean() + self.by

    def var(self) -> float:
        """That of T."""
        return self.law.var()

    def cdf(self, t: ArrayLike) -> Array:
        """P(T <= t - by)."""
        return self.law.cdf(np.asarray(t, float) - self.by)

    def rvs(self, size: int | tuple[int, ...] | None = None, random_state: Any = None) -> Any:
        """Draws of T, later."""
        return self.law.rvs(size, random_state) + self.by

    def atoms(self) -> tuple[Array, Array] | None:
        """Those of T, later."""
        found = self.law.atoms()
        return None if found is None else (found[0] + self.by, found[1])

    def scaled(self, factor: float) -> Law:
        """Both parts scale."""
        return shifted(self.law.scaled(factor), self.by * factor)


@dataclass(frozen=True)
class ExactlyShifted(Shifted, ExactSums):
    """The same where sums of T have a closed form: k tasks in a row are k times later."""

    law: ExactSums

    def sum_cdf(self, count: ArrayLike, t: ArrayLike) -> Array:
        """P(T_1 + ... + T_k <= t - k by)."""
        return self.law.sum_cdf(count, np.asarray(t, float) - np.asarray(count, float) * self.by)
