"""Splits of an iteration's tasks over the workers: Theorem 2, other scores, a given ratio, the same for all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import BadInput, finite
from deadheat.model import Cluster, CodeSpec, Split
from deadheat.planning.balance import equalise, require_room
from deadheat.planning.rounding import apportion
from deadheat.planning.scores import Moments, Score

Array = NDArray[np.float64]


def split(
    cluster: Cluster,
    spec: CodeSpec,
    gamma: float = 1.0,
    *,
    score: Score | None = None,
    ratio: Sequence[float] | None = None,
) -> Split:
    """Give every active worker the same score, by default the paper's E[T] + gamma E[T^2] (Theorem 2).

    gamma: weight of the second moment in 1/second; 0 balances the mean alone.
    score: balance another score instead, such as `Quantile(0.9)`.
    ratio: do not balance at all but share the tasks in this proportion, one number per worker.
    Loads respect each worker's capacity. Raises BadInput for input that cannot be meant.
    """
    if not isinstance(spec, CodeSpec):
        raise BadInput("spec", spec, "not a CodeSpec", "give CodeSpec(critical, redundancy, work)")
    if ratio is not None:
        return in_ratio(cluster, spec, ratio, gamma)
    tasks = cluster.tasks(spec)
    chosen = Moments(finite_gamma(gamma)) if score is None else score
    shares, theta = equalise(tasks, spec.total, chosen, caps(tasks))
    weight = getattr(chosen, "gamma", 0.0)  # a score without it starts at c_p, as gamma = 0 does
    return Split(spec, apportion(shares, spec.total), shares, theta, weight, "optimal" if score is None else "balanced")


def uniform(cluster: Cluster, spec: CodeSpec, gamma: float = 1.0) -> Split:
    """The same number of tasks for every worker (as near as whole numbers and capacities allow): the baseline."""
    shares = _fill(np.ones(len(cluster)), spec.total, caps(cluster.tasks(spec)))
    return Split(spec, apportion(shares, spec.total), shares, gamma=finite_gamma(gamma), policy="uniform")


def in_ratio(cluster: Cluster, spec: CodeSpec, ratio: Sequence[float], gamma: float = 1.0) -> Split:
    """Tasks in the proportion given, such as [3, 2, 1]: one's own knowledge instead of the theorem's."""
    if len(ratio) != len(cluster):
        problem = f"{len(ratio)} numbers for {len(cluster)} workers"
        raise BadInput("ratio", list(ratio), problem, "give one number per worker, 0 for none")
    remedy = "give a number from 0 on for each worker"
    weights = np.array([finite(f"ratio[{i}]", r, remedy, least=0.0) for i, r in enumerate(ratio)])
    if not weights.any():
        raise BadInput("ratio", list(ratio), "all are zero", "give at least one worker a part")
    shares = _fill(weights / weights.max(), spec.total, caps(cluster.tasks(spec)))
    return Split(spec, apportion(shares, spec.total), shares, gamma=finite_gamma(gamma), policy="ratio")


def caps(tasks: Cluster) -> Array:
    """The most whole tasks that each worker can hold; the cluster's unit is one task."""
    return np.asarray(np.maximum(np.floor(tasks.capacity * (1 + 1e-12)) - tasks.lead, 0.0))


def finite_gamma(gamma: float) -> float:
    """The weight of the second moment, checked."""
    return Moments(gamma).gamma


def _fill(weights: Array, total: int, most: Array) -> Array:
    """Shares in proportion to the weights; what a full worker cannot take goes to the others, in proportion."""
    require_room(np.where(weights > 0, most, 0.0), total)
    shares = np.zeros(len(weights))
    open_ = weights > 0
    while True:  # every round fills at least one worker for good
        rest = total - float(most[~open_ & (weights > 0)].sum())
        shares = np.where(open_, weights / weights[open_].sum() * rest, np.where(weights > 0, most, 0.0))
        full = open_ & (shares > most)
        if not full.any():
            return shares
        open_ &= ~full
        if not open_.any():
            return np.where(weights > 0, most, 0.0)
