"""How far the workers are from finishing together: the variance of their scores (eq. mismatch)."""

import numpy as np

from deadheat.model import Cluster, Split, assignment_moments, checked


@checked
def mismatch(cluster: Cluster, split: Split, active_only: bool = False) -> float:
    """The variance of E[T] + gamma E[T^2] over all workers, idle ones scoring 0 as printed, or over the active ones."""
    split.must_fit(len(cluster))
    first, second = assignment_moments(cluster.tasks(split.spec), split.loads)
    scores = first + split.gamma * second
    return float(np.var(scores[split.loads > 0] if active_only else scores))
