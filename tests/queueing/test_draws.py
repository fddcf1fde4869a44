"""One draw of J jobs: mean and spread of its average delay, against a simulated queue."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from monte_carlo import queue

import deadheat as dh
from deadheat import theory
from deadheat.paper import worked_example as paper
from deadheat.queueing import draw

DRAWS = 5000


@pytest.mark.parametrize(
    ("stream", "mean", "std", "jobs"),
    [
        pytest.param(dh.Stream(100, 100, 1), 38.0, 0.8, 400, id="stable"),
        pytest.param(dh.Stream(100, 100, 1), 60.0, 60.0, 400, id="stable, random service"),
        pytest.param(dh.Stream(100, 30, 1), 90.0, 40.0, 400, id="stable, not Poisson"),
        pytest.param(dh.Stream(100, 0, 1), 95.0, 20.0, 400, id="steady beat"),
        pytest.param(dh.Stream(100, 100, 1), 80.0, 0.0, 400, id="constant service"),
        pytest.param(dh.Stream(100, 100, 1), 99.0, 3.0, 400, id="nearly critical"),
        pytest.param(dh.Stream(100, 100, 1), 100.0, 3.0, 400, id="critical"),
        pytest.param(dh.Stream(100, 100, 1), 105.0, 5.0, 400, id="unstable"),
        pytest.param(dh.Stream(100, 100, 1), 200.0, 10.0, 400, id="far from stable"),
        pytest.param(dh.Stream(100, 100, 1), 60.0, 20.0, 1, id="a single job"),
        pytest.param(dh.Stream(100, 100, 1), 30.0, 2.0, 2500, id="more jobs than steps"),
    ],
)
def test_mean_and_spread_are_those_of_a_simulated_queue(stream: dh.Stream, mean: float, std: float, jobs: int) -> None:
    expected = draw(stream, mean, std, jobs)
    averages = queue(stream, mean, std, jobs, DRAWS, seed=7)
    kurtosis = ((averages - averages.mean()) ** 4).mean() / averages.var() ** 2
    error = averages.std() / math.sqrt(DRAWS)
    error_of_std = averages.std() * math.sqrt((kurtosis - 1) / 4 / DRAWS)
    # 0.5 % more for the lattice of waits, and for the Brownian start of a queue that is far from stable.
    assert abs(expected.mean - averages.mean()) <= 4 * error + 0.005 * averages.mean()
    assert abs(expected.std - averages.std()) <= 4 * error_of_std + 0.005 * averages.std()
    outside = (averages < expected.low).mean() + (averages > expected.high).mean()
    assert 0.02 < outside < 0.1  # 5 %, up to the shape that a lognormal gives it


def test_a_load_five_percent_higher_is_seen() -> None:
    stream = dh.Stream.poisson(0.01, 1)
    averages = queue(stream, 60.0, 2.0, 400, DRAWS, seed=8)
    error = averages.std() / math.sqrt(DRAWS)
    assert abs(draw(stream, 60.0, 2.0, 400).mean - averages.mean()) <= 4 * error + 0.005 * averages.mean()
    assert abs(draw(stream, 63.0, 2.0, 400).mean - averages.mean()) > 4 * error + 0.005 * averages.mean()


def test_the_printed_delays_are_ordinary_draws() -> None:
    cluster, spec, stream = paper.cluster(), paper.spec(), paper.stream()
    for split, printed in ((dh.split(cluster, spec), 47.93), (dh.uniform(cluster, spec), 129.96)):
        expected = dh.forecast(cluster, split, stream).draw(1000)
        assert expected.low < printed < expected.high
        assert 0.025 < expected.rank(printed) < 0.975


def test_a_long_draw_approaches_the_steady_state() -> None:
    stream = dh.Stream.poisson(0.01, 1)
    steady = theory.pollaczek_khinchine(0.01, 60.0, 20.0)
    draws = [draw(stream, 60.0, 20.0, jobs) for jobs in (10, 100, 1000, 100_000)]
    means = [d.mean for d in draws]
    assert means == sorted(means)
    assert means[-1] == pytest.approx(steady, rel=2e-3)
    # Correlated delays: the variance falls like 1/J all the same.
    assert draws[3].std == pytest.approx(draws[2].std / 10, rel=0.05)


def test_an_unstable_queue_grows_with_the_draw() -> None:
    # The paper's Table II: about E[T_s] + (E[T_s] - E[T_a]) (J - 1)/2.
    expected = draw(dh.Stream.poisson(0.01, 1), 250.0, 10.0, 1000)
    assert expected.mean == pytest.approx(250 + 150 * 999 / 2, rel=0.002)


def test_constant_times_leave_nothing_to_chance() -> None:
    expected = draw(dh.Stream(100.0, 0.0, 1), 90.0, 0.0, 50)
    assert (expected.mean, expected.std) == (90.0, 0.0)
    assert (expected.low, expected.high) == pytest.approx((90.0, 90.0), rel=1e-12)


def test_constant_times_that_pile_up() -> None:
    expected = draw(dh.Stream(100.0, 0.0, 1), 110.0, 0.0, 11)
    assert expected.mean == pytest.approx(110 + 10 * 10 / 2)
    assert expected.std == 0.0


@pytest.mark.parametrize("jobs", [0, -1, 1.5, "10", True])
def test_jobs_are_a_positive_whole_number(jobs: int) -> None:
    with pytest.raises(dh.BadInput) as caught:
        draw(dh.Stream.poisson(0.01, 1), 60.0, 2.0, jobs)
    assert caught.value.field == "jobs"


@given(st.floats(1.0, 1e4), st.floats(0.001, 3.0), st.floats(0.0, 0.99))
def test_rank_inverts_quantile_and_rises(mean: float, spread: float, floor: float) -> None:
    found = theory.Draw(1000, mean, spread * mean, floor * mean)
    levels = np.linspace(0.01, 0.99, 21)
    values = [found.quantile(level) for level in levels]
    assert (np.diff(values) > 0).all()
    np.testing.assert_allclose([found.rank(value) for value in values], levels, atol=1e-6)
    assert found.low < found.high
    assert found.rank(floor * mean) == 0.0


def test_the_interval_holds_95_percent_of_the_draws() -> None:
    found = theory.Draw(1000, 50.0, 4.0, floor=30.0)
    assert found.interval == theory.Interval(50.0, found.low, found.high)
    assert found.interval.holds(50.0)
    assert (found.rank(found.low), found.rank(found.high)) == pytest.approx((0.025, 0.975))
