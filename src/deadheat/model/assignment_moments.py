"""The moments of an assignment, T_{p,kappa} = c_p I(kappa > 0) + kappa tasks in a row (eq. 1).

Where neighbouring tasks share chunks, a worker first computes these: the work of kappa + shared_chunks tasks in all.
"""

import numpy as np

from deadheat.errors import BadInput
from deadheat.model.arrays import Array, ArrayLike
from deadheat.model.cluster import Tasks, require_tasks


def assignment_moments(tasks: Tasks, loads: ArrayLike) -> tuple[Array, Array]:
    """E[T_{p,kappa_p}] and E[T_{p,kappa_p}^2] of each worker.

    With m, s the moments of a task and c the comm: E = c I + kappa m and E[T^2] = E^2 + kappa s^2, which is the
    paper's c^2 I + 2 kappa c m + kappa (s^2 + m^2) + kappa (kappa - 1) m^2.
    """
    require_tasks(tasks)
    try:
        kappa = np.broadcast_to(np.asarray(loads, float), len(tasks))
    except (TypeError, ValueError):
        raise BadInput("loads", loads, "not numbers, one for each worker", "give one load per worker") from None
    busy = kappa > 0
    first = np.where(busy, tasks.ready, 0.0) + kappa * tasks.pace
    spread = np.where(busy, kappa + tasks.shared_chunks, 0.0) * tasks.std**2
    return first, first**2 + spread


def start_scores(tasks: Tasks, gamma: float) -> Array:
    """a_p: the score E[T] + gamma E[T^2] that an assignment has just above no load at all (opt2)."""
    c = tasks.ready
    return np.asarray(c + gamma * (c**2 + tasks.shared_chunks * tasks.std**2))
