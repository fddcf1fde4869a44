"""Theorem 2 for a million workers, against one evaluation of the sum of loads."""

from __future__ import annotations

from functools import partial

import numpy as np

import deadheat as dh
from benchmarks.timing import Row, median
from deadheat.model import Array
from deadheat.planning import Moments

WORKERS = 10**6


def placed(theta: float, a: Array, b: Array, q: Array) -> float:
    """The sum of loads at theta, as short as numpy can say it."""
    x = np.maximum(theta - a, 0.0)
    return float((2 * x / (b + np.sqrt(b**2 + q * x))).sum())


def rows() -> list[Row]:
    """All workers active, and most of them too far; six orders of magnitude of speed."""
    rng = np.random.default_rng(1)
    table = []
    for name, far in (("all near", 0.0), ("most far", 1.0)):
        mean, std = 10 ** rng.uniform(-6, 0, (2, WORKERS))
        cluster = dh.Cluster.from_columns(mean, std, far * 10 ** rng.uniform(-3, 3, WORKERS))
        spec = dh.CodeSpec(10 * WORKERS)
        curve, theta = Moments(1.0).on(cluster.tasks(spec)), dh.split(cluster, spec).theta
        a, b, q = curve.start, curve.slope, 4 * curve.bend
        one = median(partial(placed, theta, a, b, q))
        whole = median(partial(dh.split, cluster, spec))
        table.append(Row(f"split of 10^6 workers, {name}", whole, "one sum of loads", one, 25))
    return table
