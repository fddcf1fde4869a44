"""Theorem 2 for a million workers, against one evaluation of the sum of loads."""

from __future__ import annotations

import numpy as np

import deadheat as dh
from benchmarks.timing import Row, median
from deadheat.planning.scores import Moments

WORKERS = 10**6


def rows() -> list[Row]:
    """All workers active, and most of them too far; six orders of magnitude of speed."""
    rng = np.random.default_rng(1)
    found = []
    for name, far in (("all near", 0.0), ("most far", 1.0)):
        mean, std = 10 ** rng.uniform(-6, 0, (2, WORKERS))
        cluster = dh.Cluster.from_columns(mean, std, far * 10 ** rng.uniform(-3, 3, WORKERS))
        spec = dh.CodeSpec(10 * WORKERS)
        curve, theta = Moments(1.0).on(cluster), dh.split(cluster, spec).theta
        one = median(lambda c=curve, t=theta: c.loads(t - c.start)[0].sum())  # type: ignore[misc]
        whole = median(lambda c=cluster, s=spec: dh.split(c, s))  # type: ignore[misc]
        found.append(Row(f"split of 10^6 workers, {name}", whole, "one sum of loads", one, 25))
    return found
