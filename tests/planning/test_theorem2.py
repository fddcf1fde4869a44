"""Theorem 2: the paper's numbers, its printed root and its Example 1."""

from __future__ import annotations

import math

import numpy as np
import pytest

import deadheat as dh
from deadheat.paper import worked_example as paper


def test_worked_example() -> None:
    split = dh.split(paper.cluster(), paper.spec())
    assert split.loads.tolist() == [13, 18, 7, 3, 14]
    assert split.shares.round(3).tolist() == [12.990, 17.725, 7.145, 3.158, 13.983]
    assert round(split.theta, 5) == 1.33065
    assert split.active == 5
    assert (split.policy, split.gamma, split.spec) == ("optimal", 1.0, paper.spec())


def test_worked_example_without_redundancy() -> None:
    assert dh.split(paper.cluster(), paper.spec(1.0)).loads.tolist() == [12, 16, 6, 3, 13]


def _printed_root(theta: float, cluster: dh.Cluster, gamma: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """kappa_p exactly as the theorem prints it, which loses its digits when gamma m^2 is small."""
    m, s, c = cluster.mean, cluster.std, cluster.comm
    a, b = c + gamma * c**2, m + 2 * gamma * c * m + gamma * s**2
    root: np.ndarray[tuple[int], np.dtype[np.float64]] = (
        b / (2 * gamma * m**2) * (-1 + np.sqrt(1 + 4 * gamma * m**2 * np.maximum(theta - a, 0.0) / b**2))
    )
    return root


@pytest.mark.parametrize("gamma", [0.1, 1.0, 10.0])
def test_the_printed_root_agrees_where_it_is_well_conditioned(gamma: float) -> None:
    rng = np.random.default_rng(4)
    cluster = dh.Cluster.from_columns(rng.uniform(0.5, 2, 20), rng.uniform(0.1, 3, 20), rng.uniform(0, 5, 20))
    split = dh.split(cluster, dh.CodeSpec(60), gamma)
    # Its loss is eps b^2/(gamma m^2 x): some hundred eps here.
    np.testing.assert_allclose(split.shares, _printed_root(split.theta, cluster, gamma), rtol=1e-10, atol=1e-10)


def test_the_conjugate_form_survives_where_the_printed_root_does_not() -> None:
    cluster = dh.Cluster.from_columns([1e-6, 2e-6], [1e-6, 2e-6])
    split = dh.split(cluster, dh.CodeSpec(30), gamma=1e-8)
    np.testing.assert_allclose(split.shares, [20.0, 10.0], rtol=1e-9)  # gamma m is 1e-14: the mean alone decides
    printed = _printed_root(split.theta, cluster, 1e-8)
    assert np.abs(printed / split.shares - 1).max() > 1e-6


def test_example_1_of_the_paper() -> None:
    mu, gamma = np.array([1.0, 2.5, 0.3, 7.0]), 0.4
    split = dh.split(dh.Cluster.from_columns(1 / mu, 1 / mu), dh.CodeSpec(40), gamma)
    closed = (mu + gamma) / (2 * gamma) * (-1 + np.sqrt(1 + 4 * gamma * mu**2 * split.theta / (mu + gamma) ** 2))
    np.testing.assert_allclose(split.shares, closed, rtol=1e-12)
    assert split.active == 4  # a_p = 0: everybody works


def test_the_mean_alone_is_a_water_filling() -> None:
    # gamma = 0: c_p + kappa_p m_p = theta by hand. 1 + 1 k1 = 2 + 2 k2, k1 + k2 = 7: k1 = 5, k2 = 2, theta = 6.
    split = dh.split(dh.Cluster.from_columns([1.0, 2.0, 1.0], 5.0, [1.0, 2.0, 6.5]), dh.CodeSpec(7), gamma=0.0)
    np.testing.assert_allclose(split.shares, [5.0, 2.0, 0.0], rtol=1e-12)
    assert split.theta == pytest.approx(6.0, rel=1e-12)
    assert split.loads.tolist() == [5, 2, 0]


def test_work_scales_the_tasks() -> None:
    cluster = dh.Cluster.from_columns([1.0, 3.0], [1.0, 2.0], [0.5, 0.1])
    by_work = dh.split(cluster, dh.CodeSpec(20, 1.0, work=7.0))
    by_hand = dh.split(dh.Cluster.from_columns([7.0, 21.0], [7.0, 14.0], [0.5, 0.1]), dh.CodeSpec(20))
    np.testing.assert_array_equal(by_work.shares, by_hand.shares)
    assert by_work.theta == by_hand.theta


def test_one_worker_does_it_all() -> None:
    for total in (1, 7, 500):
        split = dh.split(dh.Cluster([dh.Worker(2.0, 3.0, 0.5)]), dh.CodeSpec(total), gamma=0.1)
        assert split.loads.tolist() == [total]
        first = 0.5 + 2 * total
        assert split.theta == pytest.approx(first + 0.1 * (9 * total + first**2), rel=1e-12)


def test_identical_workers_share_alike_and_ties_go_to_the_earlier() -> None:
    split = dh.split(dh.Cluster.from_columns([2.0] * 5, 1.0, 0.3), dh.CodeSpec(13))
    np.testing.assert_allclose(split.shares, 2.6, rtol=1e-12)
    assert split.loads.tolist() == [3, 3, 3, 2, 2]


def test_two_equal_workers_and_an_odd_total_end() -> None:
    # The search of another implementation rounds inside the bisection and never ends here.
    assert dh.split(dh.Cluster.from_columns([1.0, 1.0], 1.0), dh.CodeSpec(5)).loads.tolist() == [3, 2]


def test_fewer_tasks_than_workers() -> None:
    split = dh.split(dh.Cluster.from_columns([1.0] * 10, 1.0), dh.CodeSpec(3))
    assert split.loads.tolist() == [1, 1, 1, 0, 0, 0, 0, 0, 0, 0]
    np.testing.assert_allclose(split.shares, 0.3, rtol=1e-12)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 86_400.0])
def test_microseconds_to_days(unit: float) -> None:
    cluster = dh.Cluster.from_columns(unit * np.array([1.0, 2.0, 4.0]), unit, 0.1 * unit)
    split = dh.split(cluster, dh.CodeSpec(30), gamma=1 / unit)
    reference = dh.split(dh.Cluster.from_columns([1.0, 2.0, 4.0], 1.0, 0.1), dh.CodeSpec(30))
    np.testing.assert_allclose(split.shares, reference.shares, rtol=1e-9)
    assert split.theta == pytest.approx(unit * reference.theta, rel=1e-9)


def test_microseconds_beside_days_in_one_cluster() -> None:
    cluster = dh.Cluster.from_columns([1e-6, 86_400.0], [1e-6, 86_400.0])
    split = dh.split(cluster, dh.CodeSpec(100), gamma=0.0)
    assert split.loads.tolist() == [100, 0]
    assert split.shares[1] == pytest.approx(100e-6 / 86_400, rel=1e-9)


@pytest.mark.parametrize("gamma", [-1.0, math.nan, math.inf])
def test_a_weight_without_sense_is_refused(gamma: float) -> None:
    with pytest.raises(dh.BadInput) as caught:
        dh.split(paper.cluster(), paper.spec(), gamma)
    assert caught.value.field == "gamma"


def test_a_spec_must_be_a_spec() -> None:
    with pytest.raises(dh.BadInput) as caught:
        dh.split(paper.cluster(), 55)  # type: ignore[arg-type]
    assert caught.value.field == "spec"
