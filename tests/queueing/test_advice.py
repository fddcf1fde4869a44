"""Advice: who is not used and why, and whether one more would be."""

from __future__ import annotations

import pytest

import deadheat as dh
from deadheat import theory
from deadheat.model.assignment_moments import start_scores
from deadheat.planning import policies
from deadheat.queueing import reasons

CLUSTER = dh.Cluster.from_columns([1.0, 2.0], [1.0, 2.0], [0.1, 0.2])
SPLIT = dh.split(CLUSTER, dh.CodeSpec(20))


def test_the_start_of_a_worker() -> None:
    assert start_scores(dh.Cluster([dh.Worker(1.0, 1.0, 3.0)]).tasks(dh.CodeSpec(1)), 0.5)[0] == pytest.approx(
        3 + 0.5 * 9
    )


def test_a_worker_would_be_used_only_below_theta() -> None:
    # c + c^2 = theta at the positive root.
    edge = (-1 + (1 + 4 * SPLIT.theta) ** 0.5) / 2
    for comm, used in ((0.0, True), (edge * 0.999, True), (edge * 1.001, False), (1e9, False)):
        worker = dh.Worker(1e-3, 0.0, comm)
        assert theory.would_be_used(worker, SPLIT) is used
        share = dh.split(dh.Cluster([*CLUSTER, worker]), SPLIT.spec).shares[-1]
        assert bool(share > 0) is used


def test_a_useless_worker_does_not_make_an_unstable_queue_stable() -> None:
    # Remark 2 of the paper.
    stream = dh.Stream.poisson(0.1, 10)
    before = dh.forecast(CLUSTER, SPLIT, stream)
    assert not before.stable
    far = dh.Worker(1e-6, 0.0, SPLIT.theta)
    joined = dh.Cluster([*CLUSTER, far])
    after = dh.forecast(joined, dh.split(joined, SPLIT.spec), stream)
    assert after.utilisation == pytest.approx(before.utilisation, rel=1e-9)


def test_reasons_name_why_a_worker_is_idle() -> None:
    cluster = dh.Cluster(
        [
            dh.Worker(1.0, 1.0),
            dh.Worker(1.0, 1.0, 1e3),
            dh.Worker(1.0, 1.0, capacity=0.5),
            dh.Worker(1e4, 1e4),
        ]
    )
    found = reasons(cluster, dh.split(cluster, dh.CodeSpec(5)))
    assert found[0] == ""
    assert found[1].startswith("its comm is too large: a_p = 1.001e+06 >= theta")
    assert "capacity" in found[2]
    assert "rounds to no task" in found[3]


def test_an_idle_worker_of_a_split_that_balances_nothing() -> None:
    assert reasons(CLUSTER, dh.Split.of([20, 0], dh.CodeSpec(20))) == ["", "given none by the policy"]


def test_another_score_is_compared_with_its_own_start() -> None:
    """The quantile's theta is a time: a worker's comm is too large when it reaches theta, not c_p + c_p^2."""
    cluster = dh.Cluster([dh.Worker(1.0, 0.5), dh.Worker(1.0, 0.5)])
    split = dh.split(cluster, dh.CodeSpec(8), score=policies.Quantile(0.9))
    assert theory.would_be_used(dh.Worker(1.0, 0.5, comm=0.99 * split.theta), split)
    assert not theory.would_be_used(dh.Worker(1.0, 0.5, comm=1.01 * split.theta), split)
