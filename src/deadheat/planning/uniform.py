"""The uniform split: the same for all workers, the paper's baseline."""

import numpy as np

from deadheat.model import Cluster, CodeSpec, Split, checked
from deadheat.planning.fixed_ratio import by_weight


@checked
def uniform(cluster: Cluster, spec: CodeSpec, gamma: float = 1.0) -> Split:
    """The same number of tasks for every worker (as near as whole numbers and capacities allow)."""
    return by_weight(cluster, spec, np.ones(len(cluster)), gamma, "uniform")
