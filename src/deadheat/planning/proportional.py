"""In proportion to speed, as heterogeneity-aware gradient coding does [1]: c_p and the spread do not count.

[1] Wang, Guo, Tang, Li, Li, Heterogeneity-aware gradient coding for straggler tolerance, ICDCS 2019.
"""

from deadheat.model import Cluster, CodeSpec, Split, checked
from deadheat.planning.fixed_ratio import by_weight


@checked
def proportional(cluster: Cluster, spec: CodeSpec, gamma: float = 1.0) -> Split:
    """Tasks in proportion to 1/E[T_p]."""
    speed = 1 / cluster.tasks(spec).pace
    return by_weight(cluster, spec, speed / speed.max(), gamma, "proportional")
