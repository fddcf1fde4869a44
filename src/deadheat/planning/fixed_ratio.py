"""Tasks in a proportion that is known beforehand, within what each worker can hold."""

from collections.abc import Sequence

import numpy as np

from deadheat.errors import BadInput, finite
from deadheat.model import Array, Cluster, CodeSpec, Split, Tasks, checked
from deadheat.planning.equalise import require_room
from deadheat.planning.rounding import apportion
from deadheat.planning.score import Moments


@checked
def in_ratio(cluster: Cluster, spec: CodeSpec, ratio: Sequence[float], gamma: float = 1.0) -> Split:
    """Tasks in the proportion given, such as [3, 2, 1]: the caller's knowledge instead of the theorem."""
    if len(ratio) != len(cluster):
        problem = f"{len(ratio)} numbers for {len(cluster)} workers"
        raise BadInput("ratio", list(ratio), problem, "give one number per worker, 0 for none")
    remedy = "give a number from 0 on for each worker"
    weights = np.array([finite(f"ratio[{i}]", r, remedy, least=0.0) for i, r in enumerate(ratio)])
    if not weights.any():
        raise BadInput("ratio", list(ratio), "all are zero", "give at least one worker a part")
    return by_weight(cluster, spec, weights / weights.max(), gamma, "ratio")


def by_weight(cluster: Cluster, spec: CodeSpec, weights: Array, gamma: float, policy: str) -> Split:
    """Tasks in proportion to the weights; what a full worker cannot take goes to the others, in proportion."""
    free = weights > 0
    shares = most = np.where(free, caps(cluster.tasks(spec)), 0.0)
    require_room(most, spec.total)
    while free.any():  # every round fills at least one worker for good
        rest = spec.total - float(most[~free].sum())
        shares = np.where(free, weights / weights[free].sum() * rest, most)
        full = free & (shares > most)
        if not full.any():
            break
        shares, free = most, free & ~full
    return Split(spec, apportion(shares, spec.total), shares, gamma=Moments(gamma).gamma, policy=policy)


def caps(tasks: Tasks) -> Array:
    """The most whole tasks that each worker can hold."""
    return np.asarray(np.maximum(np.floor(tasks.capacity * (1 + 1e-12)) - tasks.shared_chunks, 0.0))
