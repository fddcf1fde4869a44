"""The moments of an assignment, T_{p,kappa} = c_p I(kappa > 0) + kappa tasks in a row (eq. 1).

Where neighbouring tasks share chunks, `cluster.shared_chunks` tasks' worth of work comes before the first (kappa + shared_chunks in all).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from deadheat.model.arrays import Array
from deadheat.model.cluster import Cluster


def assignment_moments(cluster: Cluster, loads: ArrayLike) -> tuple[Array, Array]:
    """E[T_{p,kappa_p}] and E[T_{p,kappa_p}^2] of each worker, for tasks of one unit of the cluster's work.

    With m, s the moments of a task and c the shift: E = c I + kappa m and E[T^2] = E^2 + kappa s^2, which is the
    paper's c^2 I + 2 kappa c m + kappa (s^2 + m^2) + kappa (kappa - 1) m^2.
    """
    kappa = np.asarray(loads, float)
    busy = kappa > 0
    first = np.where(busy, cluster.ready, 0.0) + kappa * cluster.pace
    spread = np.where(busy, kappa + cluster.shared_chunks, 0.0) * cluster.std**2
    return first, first**2 + spread


def start_scores(cluster: Cluster, gamma: float) -> Array:
    """a_p: the score E[T] + gamma E[T^2] that an assignment has just above no load at all (opt2)."""
    c = cluster.ready
    return np.asarray(c + gamma * (c**2 + cluster.shared_chunks * cluster.std**2))
