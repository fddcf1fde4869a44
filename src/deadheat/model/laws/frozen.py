"""Any random variable with mean, var, cdf and rvs, such as a frozen scipy distribution, as a law."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from deadheat.errors import BadInput, finite
from deadheat.model.arrays import Array, ArrayLike
from deadheat.model.laws.law import Law


@dataclass(frozen=True, eq=False)
class Frozen(Law):
    """Wraps a distribution that is not ours; it must be non-negative with finite variance."""

    distribution: Any

    def __post_init__(self) -> None:
        missing = [m for m in ("mean", "var", "cdf", "rvs") if not callable(getattr(self.distribution, m, None))]
        if missing:
            remedy = "give a family's name, a law of deadheat.laws or a frozen scipy distribution"
            raise BadInput("law", self.distribution, f"has no {', '.join(missing)}", remedy)
        remedy = "choose a distribution of non-negative times with a finite variance"
        finite("law.mean()", self.distribution.mean(), remedy, above=0.0)
        finite("law.var()", self.distribution.var(), remedy, least=0.0)
        below = float(self.distribution.cdf(-1e-12 * self.distribution.mean()))
        if below > 1e-9:
            raise BadInput("law", self.distribution, f"negative times have probability {below:.2g}", remedy)

    def mean(self) -> float:
        return float(self.distribution.mean())

    def var(self) -> float:
        return float(self.distribution.var())

    def cdf(self, t: ArrayLike) -> Array:
        return np.asarray(self.distribution.cdf(t), float)

    def rvs(self, size: int | tuple[int, ...] | None = None, random_state: Any = None) -> Any:
        shape = {} if size is None else {"size": size}
        return self.distribution.rvs(random_state=random_state, **shape)
