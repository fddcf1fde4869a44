"""Tails so heavy that the variance barely exists: finite numbers, between bounds that are certain."""

from __future__ import annotations

import math

import numpy as np
import pytest
from monte_carlo import play

import deadheat as dh
from deadheat import theory

PARETO = dh.Cluster([dh.Worker(m, 3 * m, c, law="pareto") for m, c in ((2.0, 0.3), (3.4, 0.1), (1.2, 0.9))])
TASKS = PARETO.tasks(dh.CodeSpec(1))  # of one unit of work
LOADS, CRITICAL = [4, 2, 6], 10


@pytest.mark.parametrize("purge", [True, False])
def test_the_mean_of_a_heavy_tail(purge: bool) -> None:
    law = theory.IterationLaw(TASKS, LOADS, CRITICAL, purge)
    played = play(PARETO, LOADS, CRITICAL, purge, draws=200_000, seed=3)
    # A sample of such a law understates its own spread: the standard error is taken from the law where it is wider.
    error = max(played.error, law.std / math.sqrt(200_000))
    assert abs(law.mean - played.ended.mean()) <= 4 * error
    assert 0 < law.std < math.inf


def test_without_purging_it_lies_between_the_largest_and_the_sum() -> None:
    law = theory.IterationLaw(TASKS, LOADS, CRITICAL, purge=False)
    first, second = theory.assignment_moments(TASKS, LOADS)
    assert first.max() <= law.mean <= first.sum()
    assert law.std**2 + law.mean**2 <= second.sum() * 1.01


def test_purging_takes_most_of_the_tail_away() -> None:
    purged, not_purged = (theory.IterationLaw(TASKS, LOADS, CRITICAL, purge) for purge in (True, False))
    assert purged.mean < not_purged.mean
    assert purged.std < 0.7 * not_purged.std


@pytest.mark.parametrize(("family", "ratio"), [("pareto", 1.0), ("pareto", 3.0), ("lognormal", 5.0), ("weibull", 2.0)])
def test_one_worker_keeps_the_moments_of_its_sum(family: str, ratio: float) -> None:
    # c + 5 tasks in a row: mean and variance are known exactly, however heavy the tail is.
    law = theory.IterationLaw(dh.Cluster([dh.Worker(2.0, 2.0 * ratio, 0.3, law=family)]).tasks(dh.CodeSpec(1)), [5], 5)
    assert law.mean == pytest.approx(10.3, rel=1e-3)
    assert law.std == pytest.approx(math.sqrt(5) * 2 * ratio, rel=0.05)


@pytest.mark.parametrize(("family", "ratio"), [("lognormal", 1.0), ("pareto", 0.5), ("pareto", 1.0), ("weibull", 2.0)])
def test_purging_never_raises_a_moment(family: str, ratio: float) -> None:
    # The K-th result never comes after the last one, so neither moment can be larger; over many splits, since the
    # rounding of the counts differs from one to the next.
    cluster = dh.Cluster(dh.Worker(m, ratio * m, c, law=family) for m, c in ((2.0, 0.3), (3.4, 0.1), (1.2, 0.9)))
    for first in range(0, 13, 4):
        for second in range(0, 13 - first, 4):
            loads = [first, second, 12 - first - second]
            purged, not_purged = (
                theory.IterationLaw(cluster.tasks(dh.CodeSpec(1)), loads, CRITICAL, purge) for purge in (True, False)
            )
            assert purged.mean <= not_purged.mean * (1 + 1e-4), loads
            squares = [law.std**2 + law.mean**2 for law in (purged, not_purged)]
            assert squares[0] <= squares[1] * (1 + 1e-3), loads


def test_a_forecast_with_heavy_tails_is_finite_and_a_number() -> None:
    spec, stream = dh.CodeSpec(CRITICAL, 1.2), dh.Stream.poisson(0.001, 50)
    expected = dh.forecast(PARETO, dh.split(PARETO, spec), stream)
    assert expected.stable
    assert expected.service_mean < expected.delay < 2 * expected.service_mean
    assert np.isfinite([expected.delay, expected.service_std, *expected.law.busy]).all()
    assert ((expected.law.busy >= 0) & (expected.law.busy <= 1)).all()
