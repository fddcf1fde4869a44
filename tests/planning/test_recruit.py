"""Recruiting: the cheapest spare workers that make the queue stable or meet a delay."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat import theory
from deadheat.planning import policies

SPEC = dh.CodeSpec(20, 1.2)
BASE = dh.Cluster.from_columns([1.0, 2.0], [1.0, 2.0], [0.1, 0.2])
STREAM = dh.Stream.poisson(0.01, 10)  # 20 tasks at 1.5 per second, ten times: some 140 s every 100 s
POOL = [
    dh.Worker(1.0, 1.0, 0.1),
    dh.Worker(0.5, 0.5, 0.5),
    dh.Worker(4.0, 4.0, 0.1),
    dh.Worker(2.0, 1.0, 0.3),
    dh.Worker(0.1, 0.1, 1e3),  # fast, but on the moon
]
PRICES = [4.0, 7.0, 1.0, 2.5, 0.5]


def _delay(members: tuple[int, ...]) -> float:
    cluster = dh.Cluster([*BASE, *(POOL[i] for i in members)])
    return dh.forecast(cluster, dh.split(cluster, SPEC), STREAM).delay


def _cheapest(target: float) -> float:
    """The price of the cheapest set with a finite delay up to the target, by trying all of them."""
    sets = itertools.chain.from_iterable(itertools.combinations(range(5), size) for size in range(6))
    return min(sum(PRICES[i] for i in s) for s in sets if _delay(s) <= target and _delay(s) < math.inf)


def test_the_base_alone_is_unstable() -> None:
    assert _delay(()) == math.inf


@pytest.mark.parametrize("target", [None, 300.0, 150.0, 110.0, 90.0, 75.0])
def test_it_finds_what_trying_all_sets_finds(target: float | None) -> None:
    found = policies.recruit(BASE, POOL, PRICES, SPEC, STREAM, target=target)
    assert found.price == pytest.approx(_cheapest(math.inf if target is None else target))
    assert found.price == pytest.approx(sum(PRICES[i] for i in found.chosen))
    assert found.proven
    assert found.forecast.stable
    assert found.forecast.delay == pytest.approx(_delay(found.chosen))
    assert target is None or found.forecast.delay <= target
    assert list(found.cluster) == [*BASE, *(POOL[i] for i in found.chosen)]
    assert found.split.loads.sum() == SPEC.total


@pytest.mark.parametrize("seed", range(4))
def test_random_pools_of_five(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mean = 10 ** rng.uniform(-0.5, 0.7, 5)
    pool = [dh.Worker(m, m, c) for m, c in zip(mean, rng.uniform(0.0, 3.0, 5), strict=True)]
    prices = rng.uniform(0.1, 5.0, 5).round(1).tolist()
    sets = itertools.chain.from_iterable(itertools.combinations(range(5), size) for size in range(6))
    outcomes = {}
    for members in sets:
        cluster = dh.Cluster([*BASE, *(pool[i] for i in members)])
        outcomes[members] = dh.forecast(cluster, dh.split(cluster, SPEC), STREAM).delay
    target = float(np.quantile([d for d in outcomes.values() if d < math.inf], 0.4))
    cheapest = min(sum(prices[i] for i in members) for members, delay in outcomes.items() if delay <= target)
    assert policies.recruit(BASE, pool, prices, SPEC, STREAM, target=target).price == pytest.approx(cheapest)


def test_the_useless_are_never_recruited_however_cheap() -> None:
    for target in (None, 110.0, 75.0):
        assert 4 not in policies.recruit(BASE, POOL, [*PRICES[:4], 0.0], SPEC, STREAM, target=target).chosen


def test_nobody_is_recruited_when_all_is_well() -> None:
    calm = dh.Stream.poisson(1e-4, 10)
    for target in (None, 1e4):
        found = policies.recruit(BASE, POOL, PRICES, SPEC, calm, target=target)
        assert (found.chosen, found.price) == ((), 0.0)
        assert list(found.cluster) == list(BASE)


def test_an_empty_pool_will_do_when_all_is_well() -> None:
    assert policies.recruit(BASE, [], [], SPEC, dh.Stream.poisson(1e-4, 10)).chosen == ()


def test_out_of_reach_is_an_error_that_carries_the_best() -> None:
    with pytest.raises(policies.Unreachable, match="delay of 1 s is out of reach") as caught:
        policies.recruit(BASE, POOL, PRICES, SPEC, STREAM, target=1.0)
    assert caught.value.forecast.delay == pytest.approx(_delay((0, 1, 2, 3, 4)))
    assert isinstance(caught.value, dh.DeadheatError)
    with pytest.raises(policies.Unreachable, match="a stable queue is out of reach"):
        policies.recruit(BASE, POOL[2:3], [1.0], SPEC, dh.Stream.poisson(10.0, 10))


def test_a_worker_beyond_theta_never_helps() -> None:
    # Remark 2 of the paper: a_p >= theta is not used, so it cannot make the queue stable.
    theta = dh.split(BASE, SPEC).theta
    useless = dh.Worker(1e-6, 0.0, theta)  # c + c^2 > theta
    assert not theory.would_be_used(useless, dh.split(BASE, SPEC))
    with pytest.raises(policies.Unreachable):
        policies.recruit(BASE, [useless], [0.0], SPEC, STREAM)


def test_the_policy_can_be_another() -> None:
    found = policies.recruit(BASE, POOL[:2], PRICES[:2], SPEC, STREAM, policy=dh.fastest)
    assert found.split.policy == "fastest"


@pytest.mark.parametrize(
    ("prices", "target", "field"),
    [
        ([1.0], None, "prices"),
        ([1.0, 2.0, 3.0, -1.0, 5.0], None, "prices[3]"),
        ([1.0, math.nan, 3.0, 1.0, 5.0], None, "prices[1]"),
        (PRICES, 0.0, "target"),
        (PRICES, math.nan, "target"),
        (PRICES, "fast", "target"),
    ],
)
def test_input_without_sense_is_refused(prices: list[float], target: Any, field: str) -> None:
    with pytest.raises(dh.BadInput) as caught:
        policies.recruit(BASE, POOL, prices, SPEC, STREAM, target=target)
    assert caught.value.field == field
