"""Splits that others use: in proportion to speed, HCMM's, and the same for all."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

import deadheat as dh
from deadheat.paper import worked_example as paper
from deadheat.planning import POLICIES, apportion, hcmm_redundancy, policies, policy
from deadheat.planning.hcmm import LEAST_SHIFT

Maker = Callable[[dh.Cluster, dh.CodeSpec], dh.Split]
RIVALS: dict[str, Maker] = {"proportional": policies.proportional, "hcmm": policies.hcmm, "uniform": dh.uniform}
EVERY = pytest.mark.parametrize("name", RIVALS)
MEAN = np.array([1.0, 2.0, 0.5, 4.0])
STD = np.array([0.5, 1.9, 0.1, 2.0])
FOUR = dh.Cluster.from_columns(MEAN, STD, [0.3, 0.0, 5.0, 0.1])


# In proportion to speed


def test_proportional_by_hand() -> None:
    # Speeds 1, 1/2, 2, 1/4 are parts of 3.75.
    split = policies.proportional(FOUR, dh.CodeSpec(30))
    np.testing.assert_allclose(split.shares, [8.0, 4.0, 16.0, 2.0], rtol=1e-12)
    assert split.loads.tolist() == [8, 4, 16, 2]
    assert (split.policy, split.gamma) == ("proportional", 1.0)
    assert math.isnan(split.theta)


def test_proportional_forgets_comm_spread_and_size() -> None:
    nearer = dh.Cluster.from_columns(MEAN, 0.0)
    for spec in (dh.CodeSpec(30), dh.CodeSpec(30, work=1e6)):
        assert policies.proportional(nearer, spec).loads.tolist() == policies.proportional(FOUR, spec).loads.tolist()


def test_proportional_counts_the_seconds_of_a_task_too() -> None:
    # Tasks of 1 + 2 and 4 + 2 s: twice as fast, not four times.
    cluster = dh.Cluster.from_columns([1.0, 4.0], 0.0)
    assert policies.proportional(cluster, dh.CodeSpec(30, seconds_per_task=2.0)).loads.tolist() == [20, 10]


def test_in_the_worked_example_balance_beats_speed() -> None:
    cluster, spec, stream = paper.cluster(), paper.spec(), paper.stream()
    balanced, fair = (dh.forecast(cluster, f(cluster, spec), stream).delay for f in (dh.split, policies.proportional))
    assert balanced < fair


# HCMM


def lamb(mean: float, std: float) -> float:
    """Lambda from its defining equation exp(mu l) = exp(a mu) (mu l + 1), in logarithms, by bisection."""
    scale = min(std, (1 - LEAST_SHIFT) * mean)
    a, mu = mean - scale, 1 / scale
    return float(optimize.brentq(lambda x: mu * (x - a) - math.log1p(mu * x), 1e-12 * mean + a, 100 * mean, xtol=1e-15))


def test_hcmm_solves_its_equation() -> None:
    split = policies.hcmm(FOUR, dh.CodeSpec(60))
    rate = np.array([1 / lamb(m, s) for m, s in zip(MEAN, STD, strict=True)])
    np.testing.assert_allclose(split.shares, 60 * rate / rate.sum(), rtol=1e-9)
    assert split.loads.tolist() == apportion(split.shares, 60).tolist()
    assert (split.policy, split.gamma) == ("hcmm", 1.0)
    assert math.isnan(split.theta)


def test_another_equation_would_be_seen() -> None:
    # Negative control: in proportion to the mean rates, which forgets the spread.
    split = policies.hcmm(FOUR, dh.CodeSpec(60))
    assert np.abs(split.shares / policies.proportional(FOUR, dh.CodeSpec(60)).shares - 1).max() > 0.1


@pytest.mark.parametrize("spread", [1e-6, 0.01, 0.1, 0.5, 0.9, 0.98])
def test_hcmm_maximises_what_is_done_by_a_time(spread: float) -> None:
    """A load l is done by t with probability 1 - exp(-mu/l (t - a l)); l times that is largest at l = t/lambda."""
    a, mu, t = 1 - spread, 1 / spread, 7.0

    def expected(load: float) -> float:
        return load * -math.expm1(-mu / load * (t - a * load))

    found = optimize.minimize_scalar(
        lambda x: -expected(x), bounds=(1e-6, t / a), method="bounded", options={"xatol": 1e-12}
    )
    best = t / lamb(1.0, spread)
    assert expected(best) == pytest.approx(-found.fun, rel=1e-9)
    assert expected(best) >= max(expected(0.99 * best), expected(min(1.01 * best, t / a)))
    # The package's own loads: two workers of which one has this spread and the other is known by hand.
    pair = dh.Cluster.from_columns([1.0, 1.0], [spread, 0.5])
    shares = policies.hcmm(pair, dh.CodeSpec(1000)).shares
    assert shares[0] / shares[1] == pytest.approx(lamb(1.0, 0.5) / lamb(1.0, spread), rel=1e-7)


def test_hcmm_of_equal_workers_is_equal() -> None:
    for cluster in (
        dh.Cluster.from_columns([2.0] * 4, 1.0, 0.3),
        dh.Cluster.from_columns([2.0] * 4, 1.0, [0, 1, 2, 3]),
    ):
        np.testing.assert_allclose(policies.hcmm(cluster, dh.CodeSpec(12)).shares, 3.0, rtol=1e-12)


def test_hcmm_without_spread_is_in_proportion_to_speed() -> None:
    cluster = dh.Cluster.from_columns(MEAN, 0.0)
    np.testing.assert_allclose(
        policies.hcmm(cluster, dh.CodeSpec(30)).shares,
        policies.proportional(cluster, dh.CodeSpec(30)).shares,
        rtol=1e-3,
    )


@given(st.lists(st.tuples(st.floats(1e-6, 1e6), st.floats(0.0, 3.0)), min_size=1, max_size=12), st.integers(1, 500))
def test_hcmm_of_any_cluster(rows: list[tuple[float, float]], total: int) -> None:
    mean, spread = (np.array(column) for column in zip(*rows, strict=True))
    cluster = dh.Cluster.from_columns(mean, mean * spread)
    split = policies.hcmm(cluster, dh.CodeSpec(total))
    assert split.loads.sum() == total
    assert (split.loads >= 0).all()
    assert np.isfinite(split.shares).all()
    assert split.shares.sum() == pytest.approx(total)
    assert hcmm_redundancy(cluster) > 1


def test_hcmms_own_redundancy_is_loads_over_what_is_expected() -> None:
    # In time t each does l = t/lambda with probability 1 - exp(-mu/l (t - a l)); the expected amount is the work.
    t, loads, expected = 1.0, [], []
    for m, s in zip(MEAN, STD, strict=True):
        load = t / lamb(m, s)
        loads.append(load)
        expected.append(load * -math.expm1(-(t / load - (m - s)) / s))
    assert hcmm_redundancy(FOUR) == pytest.approx(sum(loads) / sum(expected), rel=1e-9)
    assert hcmm_redundancy(FOUR) == pytest.approx(
        hcmm_redundancy(dh.Cluster.from_columns(1e6 * FOUR.mean, 1e6 * FOUR.std)), rel=1e-12
    )


def test_hcmms_redundancy_grows_with_the_spread() -> None:
    found = [hcmm_redundancy(dh.Cluster.from_columns([1.0, 2.0], [s, 2 * s])) for s in (1e-6, 0.1, 0.5, 0.9)]
    assert found[0] == pytest.approx(1.0, abs=1e-3)
    assert (np.diff(found) > 0).all()


# All of them


@EVERY
@given(
    st.lists(st.floats(0.01, 100.0), min_size=1, max_size=12),
    st.floats(0.0, 1.5),
    st.integers(1, 300),
)
def test_a_faster_worker_gets_no_less(name: str, means: list[float], spread: float, total: int) -> None:
    mean = np.sort(means)
    split = RIVALS[name](dh.Cluster.from_columns(mean, spread * mean), dh.CodeSpec(total))
    assert split.loads.sum() == total
    assert (np.diff(split.shares) <= 1e-9 * total).all()
    assert (np.diff(split.loads) <= 0).all()


@EVERY
def test_the_order_of_workers_does_not_matter(name: str) -> None:
    order = [2, 0, 3, 1]
    there = RIVALS[name](dh.Cluster([FOUR[i] for i in order]), dh.CodeSpec(31))
    np.testing.assert_allclose(there.shares, RIVALS[name](FOUR, dh.CodeSpec(31)).shares[order], rtol=1e-12)


@EVERY
@given(
    st.lists(
        st.tuples(st.floats(0.01, 100.0), st.floats(0.0, 1.0), st.integers(0, 20)), min_size=1, max_size=10
    ).filter(lambda rows: sum(row[2] for row in rows) > 0),
    st.floats(0.01, 1.0),
    st.sampled_from([0, 2]),
)
def test_capacities_are_respected(
    name: str, rows: list[tuple[float, float, int]], part: float, shared_chunks: int
) -> None:
    mean, spread, most = (np.array(column) for column in zip(*rows, strict=True))
    total = max(int(part * most.sum()), 1)
    cluster = dh.Cluster.from_columns(
        mean, mean * spread, capacity=np.where(most > 0, 7.0 * (most + shared_chunks) + 3, 0.0)
    )
    split = RIVALS[name](cluster, dh.CodeSpec(total, work=7.0, shared_chunks=shared_chunks))
    assert split.loads.sum() == total
    assert (split.loads <= most).all()
    assert (np.abs(split.loads - split.shares) < 1).all()


@EVERY
def test_a_full_worker_leaves_the_rest_in_proportion(name: str) -> None:
    free = RIVALS[name](FOUR, dh.CodeSpec(30))
    capacity = np.where(np.arange(4) == 2, 3.0, np.inf)
    capped = RIVALS[name](dh.Cluster.from_columns(MEAN, STD, FOUR.comm, capacity=capacity), dh.CodeSpec(30))
    assert capped.loads[2] == 3
    others = [0, 1, 3]
    np.testing.assert_allclose(capped.shares[others] / free.shares[others], 27 / free.shares[others].sum(), rtol=1e-9)


@EVERY
def test_too_little_room_is_refused(name: str) -> None:
    cluster = dh.Cluster.from_columns([1.0, 1.0], 1.0, capacity=[4.0, 3.9])
    with pytest.raises(dh.BadInput, match="7 of 8 tasks") as caught:
        RIVALS[name](cluster, dh.CodeSpec(8))
    assert caught.value.field == "capacity"


@EVERY
def test_they_go_by_their_names(name: str) -> None:
    split = policy(name)(FOUR, dh.CodeSpec(31), 0.5)
    assert split.loads.tolist() == RIVALS[name](FOUR, dh.CodeSpec(31)).loads.tolist()
    assert (split.policy, split.gamma) == (name, 0.5)


def test_these_are_all_the_policies() -> None:
    assert set(POLICIES) == {"optimal", "fastest", *RIVALS}


@EVERY
@pytest.mark.parametrize("gamma", [-1.0, math.nan, math.inf])
def test_a_weight_without_sense_is_refused(name: str, gamma: float) -> None:
    with pytest.raises(dh.BadInput) as caught:
        policy(name)(FOUR, dh.CodeSpec(31), gamma)
    assert caught.value.field == "gamma"


@EVERY
def test_theorem_2_is_no_slower_in_the_worked_example(name: str) -> None:
    cluster, spec, stream = paper.cluster(), paper.spec(), paper.stream()
    best = dh.forecast(cluster, dh.split(cluster, spec), stream).delay
    assert best <= dh.forecast(cluster, RIVALS[name](cluster, spec), stream).delay
