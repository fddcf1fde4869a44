"""Bounds: eq. (LB), the same with waiting, and the genie's."""

from __future__ import annotations

import math

import numpy as np
import pytest

import deadheat as dh
from deadheat import theory
from deadheat.paper import worked_example as paper


def test_the_printed_equation_and_its_queue() -> None:
    bound = dh.lower_bound(paper.cluster(), paper.spec(), paper.stream())
    assert bound.service == pytest.approx(33.93, abs=0.005)
    assert bound.delay == pytest.approx(42.64, abs=0.005)


def test_the_equation_by_hand() -> None:
    # K/sum(1/m) = 12/(1 + 1/2) = 8 and the mean shift 0.5: 10 iterations of 8.5 s; M/D/1 at rho 0.85.
    cluster = dh.Cluster.from_columns([1.0, 2.0], 1.0, [0.0, 1.0])
    bound = dh.lower_bound(cluster, dh.CodeSpec(12), dh.Stream.poisson(0.01, 10))
    assert bound.service == pytest.approx(85.0)
    assert bound.delay == pytest.approx(85 + 0.01 * 85**2 / (2 * 0.15))


def test_a_bound_beyond_stability_is_infinite() -> None:
    cluster = dh.Cluster.from_columns([1.0, 2.0], 1.0)
    assert dh.lower_bound(cluster, dh.CodeSpec(12), dh.Stream.poisson(0.1, 10)).delay == math.inf


def test_the_genie_is_never_slower_than_a_split() -> None:
    rng = np.random.default_rng(9)
    for _ in range(10):
        size = int(rng.integers(1, 6))
        mean = rng.uniform(0.2, 3.0, size)
        cluster = dh.Cluster.from_columns(mean, mean * rng.uniform(0.0, 1.5, size), rng.uniform(0.0, 2.0, size))
        spec = dh.CodeSpec.of(int(rng.integers(1, 12)), 12)
        stream = dh.Stream.poisson(1e-4, 20)
        genie = theory.genie_bound(cluster, spec, stream)
        for split in (dh.split(cluster, spec), dh.uniform(cluster, spec), dh.fastest(cluster, spec)):
            found = dh.forecast(cluster, split, stream)
            assert genie.iteration_mean <= found.iteration_mean * (1 + 1e-7)
            assert genie.delay <= found.delay * (1 + 1e-6)


def test_the_genie_of_the_worked_example() -> None:
    cluster, spec, stream = paper.cluster(), paper.spec(), paper.stream()
    genie = theory.genie_bound(cluster, spec, stream)
    assert genie.delay < dh.forecast(cluster, dh.split(cluster, spec), stream).delay
    assert genie.delay == theory.genie_bound(cluster, paper.spec(1.0), stream).delay  # whatever Omega is


def test_a_far_useless_worker_breaks_the_printed_bound_but_not_the_genies() -> None:
    # The documented caveat: (LB) averages the shifts of all workers, also of those that are never used.
    near, stream, spec = (
        dh.Cluster.from_columns([1.0, 1.0], 1.0, 0.1),
        dh.Stream.poisson(0.001, 10),
        dh.CodeSpec(20, 1.5),
    )
    cluster = dh.Cluster([*near, dh.Worker(1.0, 1.0, 1e4)])
    split = dh.split(cluster, spec)
    assert split.loads[-1] == 0
    reached = dh.forecast(cluster, split, stream)
    assert dh.lower_bound(cluster, spec, stream).service > reached.delay
    assert theory.genie_bound(cluster, spec, stream).delay <= reached.delay
