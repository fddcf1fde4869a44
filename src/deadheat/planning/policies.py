"""Split policies: who gets how much, by function and by name; a user registers her own."""

from deadheat.model import Registry
from deadheat.planning.algorithm1 import choose
from deadheat.planning.fastest_split import fastest
from deadheat.planning.fixed_ratio import in_ratio
from deadheat.planning.hcmm import hcmm
from deadheat.planning.mismatch import mismatch
from deadheat.planning.proportional import proportional
from deadheat.planning.recruit import Recruitment, Unreachable, recruit
from deadheat.planning.score import Moments, Quantile
from deadheat.planning.split import Policy, split
from deadheat.planning.uniform import uniform

__all__ = [
    "POLICIES", "Moments", "Policy", "Quantile", "Recruitment", "Unreachable", "choose", "fastest", "hcmm", "in_ratio",
    "mismatch", "policy", "proportional", "recruit", "register", "split", "uniform",
]  # fmt: skip

BUILTIN: dict[str, Policy] = {
    "optimal": split, "fastest": fastest, "uniform": uniform, "proportional": proportional, "hcmm": hcmm,
}  # fmt: skip
POLICIES = Registry(what="policy", field="split.policy", group="deadheat.policies", builtin=BUILTIN)
policy = POLICIES.find
register = POLICIES.register  # of a name and a function of cluster, spec and gamma that gives a split
