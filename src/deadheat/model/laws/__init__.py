"""Laws of task times, one per file. A family is known by name and fitted to a mean and a standard deviation."""

from collections.abc import Callable
from math import inf
from typing import Any

from deadheat.errors import BadInput
from deadheat.model.checked import checked
from deadheat.model.laws.deterministic import Deterministic
from deadheat.model.laws.empirical import Empirical
from deadheat.model.laws.frozen import Frozen
from deadheat.model.laws.gamma import Gamma
from deadheat.model.laws.law import ExactSums, Law, Scaled
from deadheat.model.laws.lognormal import Lognormal
from deadheat.model.laws.mixture import Mixture
from deadheat.model.laws.pareto import Pareto
from deadheat.model.laws.shifted_exponential import ShiftedExponential
from deadheat.model.laws.sums import ALMOST_NONE, Sums, results_by, sums_of, table_size
from deadheat.model.laws.weibull import Weibull
from deadheat.model.registry import Registry

__all__ = [
    "FAMILIES", "Deterministic", "Empirical", "ExactSums", "Frozen", "Gamma", "Law", "Lognormal", "Mixture", "Pareto",
    "Scaled", "ShiftedExponential", "Sums", "Weibull", "as_law", "fit", "register", "results_by", "sums_of",
    "table_size",
]  # fmt: skip

FromMoments = Callable[[float, float], Law]
BUILTIN: dict[str, FromMoments] = {
    "gamma": Gamma.from_moments, "shifted-exponential": ShiftedExponential.from_moments,
    "lognormal": Lognormal.from_moments, "weibull": Weibull.from_moments, "pareto": Pareto.from_moments,
    "deterministic": Deterministic.from_moments, "mixture": Mixture.from_moments,
}  # fmt: skip
FAMILIES = Registry(what="family of laws", field="law", group="deadheat.laws", builtin=BUILTIN)
register = FAMILIES.register  # of a name and a function that gives the member with a mean and a std


@checked
def fit(family: str, mean: float, std: float) -> Law:
    """The member of a family with these moments, a constant without spread. Raises BadInput where there is none."""
    from_moments = FAMILIES.find(family)
    if not (0 < mean < inf and 0 <= std < inf):
        field, value = ("std", std) if 0 < mean < inf else ("mean", mean)
        raise BadInput(field, value, "not the moment of a time", "give seconds, finite and not negative")
    if std <= ALMOST_NONE * mean and family not in ("mixture", "deterministic"):
        return Deterministic(mean)
    return from_moments(mean, std)


def as_law(law: Any) -> Law:
    """A law as it is, or any frozen distribution wrapped as one."""
    return law if isinstance(law, Law) else Frozen(law)
