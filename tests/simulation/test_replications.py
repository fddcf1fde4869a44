"""Replications stop when the mean is known, intervals are Student's, and comparisons come in pairs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import deadheat as dh
from deadheat.model import Interval, interval
from deadheat.paper import worked_example as paper
from deadheat.scheduling.schedules import SCHEDULES, Pull, TopUp
from deadheat.simulation import replicate, seeds
from deadheat.simulation.replicate import FEWEST

CLUSTER, SPEC, STREAM = paper.cluster(), paper.spec(), paper.stream()
BALANCED = dh.split(CLUSTER, SPEC)
NEARLY = dh.Split.of(BALANCED.loads + np.array([1, -1, 0, 0, 0]), SPEC)


def noisy(spread: float, mean: float = 10.0) -> object:
    """A run whose single job is late by a normal number that its seed decides."""

    def run(seed: int) -> dh.Trace:
        delay = mean + spread * np.random.default_rng(seed).normal()
        return dh.Trace(np.zeros(1), np.zeros(1), np.array([delay]))

    return run


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50).filter(lambda v: np.std(v) > 1e-3))
def test_interval_is_scipys(values: list[float]) -> None:
    estimate = interval(values)
    low, high = stats.t.interval(0.95, len(values) - 1, np.mean(values), stats.sem(values))
    assert (estimate.low, estimate.high) == pytest.approx((low, high), rel=1e-9, abs=1e-6)
    assert estimate.mean == pytest.approx(np.mean(values), rel=1e-9, abs=1e-9)
    assert estimate.holds(estimate.mean)
    assert not estimate.holds(estimate.high + 1)


def test_one_value_says_nothing_of_its_error() -> None:
    assert interval([3.0]) == Interval(3.0, -math.inf, math.inf)


def test_the_interval_holds_the_mean_nineteen_times_in_twenty() -> None:
    rng = np.random.default_rng(1)
    held = np.mean([interval(rng.normal(5.0, 2.0, 8)).holds(5.0) for _ in range(2000)])
    assert abs(held - 0.95) <= 4 * math.sqrt(0.95 * 0.05 / 2000)


def test_it_stops_as_soon_as_it_is_precise() -> None:
    sample = replicate(noisy(1.0), 3, precision=0.03)  # type: ignore[arg-type]
    assert sample.delay.precision <= 0.03
    assert sample.replications > FEWEST
    assert interval(sample.delays[:-1]).precision > 0.03
    assert sample.delays.size == sample.replications
    # (1.96 * 1 / 10 / 0.03)^2 = 43 runs
    assert 25 < sample.replications < 65


def test_a_quiet_run_is_still_repeated_ten_times() -> None:
    assert replicate(noisy(1e-6), 3).replications == FEWEST  # type: ignore[arg-type]


def test_a_run_that_is_never_precise_ends() -> None:
    assert replicate(noisy(100.0), 3, precision=1e-6, most=25).replications == 25  # type: ignore[arg-type]


@pytest.mark.parametrize("number", [1, 2, 17])
def test_so_many_as_asked_for(number: int) -> None:
    reports: list[tuple[int, float]] = []
    sample = replicate(noisy(1.0), 3, number, progress=lambda n, p: reports.append((n, p)))  # type: ignore[arg-type]
    assert sample.replications == number == len(reports)
    assert [n for n, _ in reports] == list(range(1, number + 1))
    assert reports[-1][1] == sample.delay.precision


def test_the_sample_sums_up_its_runs() -> None:
    def run(seed: int) -> dh.Trace:
        return dh.simulate(CLUSTER, BALANCED, STREAM, 200, seed=seed)

    sample = replicate(run, 5, 12)
    taken, stream = seeds(5)
    traces = [run(next(stream)) for _ in range(12)]
    assert (sample.seed, sample.jobs) == (taken, 200) == (5, 200)
    np.testing.assert_array_equal(sample.delays, [t.delay.mean() for t in traces])
    assert sample.service.mean == pytest.approx(np.mean([t.service.mean() for t in traces]))
    for name, level in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        assert getattr(sample, name) == pytest.approx(np.mean([np.quantile(t.delay, level) for t in traces]))


def test_runs_are_independent_and_repeatable() -> None:
    first, again, other = (replicate(noisy(1.0), seed, 50).delays for seed in (1, 1, 2))  # type: ignore[arg-type]
    assert (first == again).all()
    assert np.unique(np.concatenate([first, other])).size == 100


def test_a_seed_that_was_not_given_is_on_record() -> None:
    first = replicate(noisy(1.0), None, 5)  # type: ignore[arg-type]
    assert (replicate(noisy(1.0), first.seed, 5).delays == first.delays).all()  # type: ignore[arg-type]
    assert (replicate(noisy(1.0), None, 5).delays != first.delays).any()  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [{"replications": 0}, {"replications": 1.5}, {"precision": 0.0}, {"precision": -1.0}])
def test_impossible_wishes_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(dh.BadInput) as caught:
        replicate(noisy(1.0), 1, **bad)  # type: ignore[arg-type]
    assert caught.value.field in bad


def width(estimate: Interval) -> float:
    return estimate.high - estimate.low


@pytest.mark.parametrize(
    "rival",
    [
        dh.Scheme("nearly", NEARLY),
        dh.Scheme("top-up", BALANCED, TopUp()),
        dh.Scheme("pull", BALANCED, Pull(0)),
        dh.Scheme("between", BALANCED, purge="between-tasks"),
    ],
    ids=lambda scheme: scheme.name,
)
def test_pairs_are_more_certain_than_means(rival: dh.Scheme) -> None:
    """Common random numbers: the paired interval is a fraction of the one that independent runs would give."""
    first, second = dh.compare(CLUSTER, STREAM, [dh.Scheme("base", BALANCED), rival], 40, seed=1, replications=12)
    unpaired = math.hypot(width(first.sample.delay), width(second.sample.delay))
    assert width(second.difference) < 0.3 * unpaired
    assert second.difference.mean == pytest.approx(second.sample.delay.mean - first.sample.delay.mean)


def test_different_luck_would_be_seen() -> None:
    """The negative control: the same scheme with two seeds has a difference as uncertain as its means."""
    one, other = (
        dh.compare(CLUSTER, STREAM, [dh.Scheme("base", BALANCED)], 40, seed=seed, replications=12)[0].sample
        for seed in (1, 2)
    )
    assert width(interval(other.delays - one.delays)) > 0.5 * math.hypot(width(one.delay), width(other.delay))


@pytest.mark.parametrize("schedule", ["static", "pull", "top-up"])
def test_the_same_scheme_twice_differs_by_nothing(schedule: str) -> None:
    twins = [dh.Scheme(name, BALANCED, SCHEDULES[schedule]) for name in ("one", "other")]
    for outcome in dh.compare(CLUSTER, STREAM, twins, 20, seed=None, replications=4):
        assert outcome.difference == Interval(0.0, 0.0, 0.0)


def test_all_run_as_often_as_the_least_certain() -> None:
    schemes = [dh.Scheme("balanced", BALANCED), dh.Scheme("uniform", dh.uniform(CLUSTER, SPEC))]
    reported: set[str] = set()
    outcomes = dh.compare(
        CLUSTER, STREAM, schemes, 300, seed=1, precision=0.04, progress=lambda s, n, p: reported.add(s.name)
    )
    assert reported == {"balanced", "uniform"}
    assert len({o.sample.replications for o in outcomes}) == 1
    assert all(o.sample.delay.precision <= 0.05 for o in outcomes)
    assert outcomes[0].sample.replications > FEWEST


def test_the_forecast_is_given_where_there_is_one() -> None:
    schemes = [
        dh.Scheme("static", BALANCED),
        dh.Scheme("wait", BALANCED, purge=False),
        dh.Scheme("pull", BALANCED, Pull()),
        dh.Scheme("between", BALANCED, purge="between-tasks"),
    ]
    forecasts = [o.forecast for o in dh.compare(CLUSTER, STREAM, schemes, 20, seed=1, replications=2)]
    assert forecasts[0] == dh.forecast(CLUSTER, BALANCED, STREAM).delay
    assert forecasts[1] == dh.forecast(CLUSTER, BALANCED, STREAM, purge=False).delay
    assert forecasts[2:] == [None, None]
    slow = dh.compare(CLUSTER, STREAM, schemes[:1], 20, seed=1, replications=2, condition=dh.Switching(2.0, 0.1, 0.1))
    assert slow[0].forecast is None


def test_nothing_to_compare_is_refused() -> None:
    with pytest.raises(dh.BadInput, match="nothing to compare"):
        dh.compare(CLUSTER, STREAM, [])
