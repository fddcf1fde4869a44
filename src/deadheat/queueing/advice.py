"""The paper's remarks as advice: which workers are not used and why, and whether one more would help."""

from __future__ import annotations

import math

import numpy as np

from deadheat.model import Cluster, Split, Worker
from deadheat.model.assignment import start_scores


def would_be_used(worker: Worker, split: Split) -> bool:
    """Whether a further worker would get a task at all: only where a_p < theta (Remark 2 of the paper).

    If not, adding it cannot make an unstable queue stable.
    """
    return not float(start_scores(Cluster([worker]).tasks(split.spec), split.gamma)[0]) >= split.theta


def reasons(cluster: Cluster, split: Split) -> list[str]:
    """For each worker an empty text if it has tasks, else why it has none."""
    tasks = cluster.tasks(split.spec)
    start = start_scores(tasks, split.gamma)
    far = start >= split.theta  # never, where theta is NaN
    full = np.floor(tasks.capacity) <= tasks.shared_chunks
    return [_reason(*row, split) for row in zip(split.loads, far, full, split.shares, start, strict=True)]


def _reason(load: int, far: bool, full: bool, share: float, start: float, split: Split) -> str:
    if load > 0:
        return ""
    if full:
        return "its capacity holds no task"
    if far:
        return f"too far: a_p = {start:.4g} >= theta = {split.theta:.4g}"
    if math.isnan(split.theta) or share <= 0:
        return "given none by the policy"
    return f"its share of {share:.2g} rounds to no task"
