"""The mismatch: the variance of the scores over all workers as printed, or over the active ones."""

from __future__ import annotations

import pytest

import deadheat as dh
from deadheat.paper import worked_example as paper

CLUSTER = dh.Cluster([dh.Worker(1.0, 0.0, 1.0), dh.Worker(2.0, 1.0), dh.Worker(9.0, 9.0, 5.0)])
SPLIT = dh.Split.of([2, 1, 0], dh.CodeSpec(3), gamma=0.5)
# By hand: worker 1 takes 3 for certain: 3 + 0.5*9 = 7.5. Worker 2: 2 + 0.5*(1 + 4) = 4.5. Worker 3 is idle: 0.


def test_over_all_workers_by_hand() -> None:
    # mean 4; deviations 3.5, 0.5, -4: (12.25 + 0.25 + 16)/3
    assert dh.mismatch(CLUSTER, SPLIT) == pytest.approx(9.5, rel=1e-12)


def test_over_active_workers_by_hand() -> None:
    assert dh.mismatch(CLUSTER, SPLIT, active_only=True) == pytest.approx(2.25, rel=1e-12)


def test_it_scales_with_the_work() -> None:
    halves = dh.Cluster([dh.Worker(0.5, 0.0, 1.0), dh.Worker(1.0, 0.5), dh.Worker(4.5, 4.5, 5.0)])
    split = dh.Split.of([2, 1, 0], dh.CodeSpec(3, work=2.0), gamma=0.5)
    assert dh.mismatch(halves, split) == pytest.approx(9.5, rel=1e-12)


def test_a_perfect_heat_has_none() -> None:
    cluster = dh.Cluster.from_columns([1.0] * 4, 0.5, 0.1)
    assert dh.mismatch(cluster, dh.split(cluster, dh.CodeSpec(20))) == pytest.approx(0.0, abs=1e-20)


def test_the_optimal_split_mismatches_less_than_the_uniform_one() -> None:
    cluster, spec = paper.cluster(), paper.spec()
    assert dh.mismatch(cluster, dh.split(cluster, spec)) < 0.01 * dh.mismatch(cluster, dh.uniform(cluster, spec))


def test_a_split_of_another_cluster_is_refused() -> None:
    with pytest.raises(dh.BadInput, match="3 loads for 5 workers"):
        dh.mismatch(paper.cluster(), SPLIT)
