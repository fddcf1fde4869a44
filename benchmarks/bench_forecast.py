"""Forecasts with purging and the fastest split, against the time a person waits."""

from __future__ import annotations

import numpy as np

import deadheat as dh
from benchmarks.timing import Row, median
from deadheat.paper import worked_example


def hundred() -> tuple[dh.Cluster, dh.CodeSpec, dh.Stream]:
    """A hundred exponential workers over two orders of magnitude, K = 510 of 561."""
    rng = np.random.default_rng(2)
    mean = 10 ** rng.uniform(-3, -1, 100)
    return (
        dh.Cluster.from_columns(mean, mean, rng.uniform(0, 0.3, 100)),
        dh.CodeSpec(510, 1.1),
        dh.Stream.poisson(0.1, 10),
    )


def rows() -> list[Row]:
    """The limits of the issue that brought them in."""
    cluster, spec, stream = worked_example.cluster(), worked_example.spec(), worked_example.stream()
    split = dh.split(cluster, spec)
    small = median(lambda: dh.forecast(cluster, split, stream))
    many, large, busy = hundred()
    wide = dh.split(many, large)
    return [
        Row("forecast, worked example", small, "30 ms", 0.030, 1),
        Row("forecast, P=100 K=510", median(lambda: dh.forecast(many, wide, busy)), "2 s", 2.0, 1),
        Row("genie's bound, P=100 K=510", median(lambda: dh.theory.genie_bound(many, large, busy), 3), "5 s", 5.0, 1),
        Row("fastest, P=100 K=510 Omega=1.1", median(lambda: dh.fastest(many, large), 3), "10 s", 10.0, 1),
        Row("fastest, P=100 K=510 Omega=1", median(lambda: dh.fastest(many, dh.CodeSpec(510)), 3), "10 s", 10.0, 1),
        Row("draw of 1000 jobs", median(lambda: dh.forecast(cluster, split, stream).draw(1000)), "0.5 s", 0.5, 1),
    ]
