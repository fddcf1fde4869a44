"""Split policies by name: a new one is a new function of cluster, spec and gamma, and one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from deadheat.errors import BadInput, nearest
from deadheat.model import Cluster, CodeSpec, Split
from deadheat.planning.fastest import fastest
from deadheat.planning.hcmm import hcmm
from deadheat.planning.proportional import proportional
from deadheat.planning.split import split
from deadheat.planning.uniform import uniform

Policy = Callable[[Cluster, CodeSpec, float], Split]
POLICIES: Mapping[str, Policy] = {
    "optimal": split,
    "fastest": fastest,
    "uniform": uniform,
    "proportional": proportional,
    "hcmm": hcmm,
}


def policy(name: object) -> Policy:
    """The policy of that name, or BadInput with the nearest one."""
    if not isinstance(name, str) or name not in POLICIES:
        raise BadInput("split.policy", name, "no such policy", nearest(str(name), POLICIES))
    return POLICIES[name]
