"""Simulated means and spreads are the forecast's, for every law, both samplers, with and without purging."""

from __future__ import annotations

import math

import numpy as np
import pytest

import deadheat as dh

SPEC = dh.CodeSpec(10, 1.2)
ANY = dh.Stream.poisson(1.0, 4)  # for services, which no arrival changes
JOBS = 20_000
RUNS = 200
ROUNDING = 1e-8  # of the mean: where nothing is left to chance the standard error is 0, and the forecast has 8 digits

purging = pytest.mark.parametrize("purge", [True, False], ids=["purge", "wait"])
sampler = pytest.mark.parametrize("by_tasks", [False, True], ids=["exact", "by tasks"])


def error_of_mean(values: np.ndarray) -> float:
    return float(values.std() / math.sqrt(values.size) + ROUNDING * values.mean())


def error_of_std(values: np.ndarray) -> float:
    """By the fourth moment, as measured."""
    spread = values.std()
    if spread <= ROUNDING * values.mean():
        return float(ROUNDING * values.mean())
    kurtosis = ((values - values.mean()) ** 4).mean() / spread**4
    return float(spread * math.sqrt((kurtosis - 1) / 4 / values.size))


@purging
@sampler
def test_service_is_the_forecasts(trio: dh.Cluster, purge: bool, by_tasks: bool) -> None:
    split = dh.split(trio, SPEC)
    service = dh.simulate(trio, split, ANY, JOBS, purge, 11, by_tasks=by_tasks).service
    expected = dh.forecast(trio, split, ANY, purge)
    assert abs(service.mean() - expected.service_mean) <= 4 * error_of_mean(service)
    assert abs(service.std() - expected.service_std) <= 4 * error_of_std(service)


@sampler
def test_a_percent_more_is_seen(trio: dh.Cluster, by_tasks: bool) -> None:
    """The tolerance above is narrow enough to see workers that are one per cent slower."""
    split = dh.split(trio, SPEC)
    slower = dh.Cluster(dh.Worker.of(w.unit_law().scaled(1.01), w.comm * 1.01) for w in trio)
    service = dh.simulate(slower, split, ANY, JOBS, True, 11, by_tasks=by_tasks).service
    assert abs(service.mean() - dh.forecast(trio, split, ANY).service_mean) > 4 * error_of_mean(service)


def test_purging_is_not_waiting(trio: dh.Cluster) -> None:
    split = dh.split(trio, SPEC)
    service = dh.simulate(trio, split, ANY, JOBS, True, 11).service
    assert abs(service.mean() - dh.forecast(trio, split, ANY, purge=False).service_mean) > 4 * error_of_mean(service)


@pytest.mark.parametrize(("purge", "regularity"), [(True, 1.0), (False, 0.5)], ids=["purge, poisson", "wait, gamma"])
def test_delay_of_replications_is_the_forecasts_draw(trio: dh.Cluster, purge: bool, regularity: float) -> None:
    split = dh.split(trio, SPEC)
    gap = dh.forecast(trio, split, ANY, purge).service_mean / 0.6
    stream = dh.Stream(gap, regularity * gap, ANY.iterations)
    delays = np.array([dh.simulate(trio, split, stream, 100, purge, seed).delay.mean() for seed in range(RUNS)])
    expected = dh.forecast(trio, split, stream, purge).draw(100).mean
    # 0.5 % more for the lattice of waits inside `draw`, as in tests/queueing/test_draws.py.
    assert abs(delays.mean() - expected) <= 4 * error_of_mean(delays) + 0.005 * expected


def test_a_busier_queue_is_seen() -> None:
    """The negative control of the delays: 10 % more load."""
    cluster = dh.Cluster.from_columns([1.0, 2.0], [1.0, 2.0], 0.1)
    split = dh.split(cluster, SPEC)
    gap = dh.forecast(cluster, split, ANY).service_mean / 0.6
    busier = dh.Stream(gap / 1.1, gap / 1.1, ANY.iterations)
    delays = np.array([dh.simulate(cluster, split, busier, 100, True, seed).delay.mean() for seed in range(RUNS)])
    expected = dh.forecast(cluster, split, dh.Stream(gap, gap, ANY.iterations)).draw(100).mean
    assert abs(delays.mean() - expected) > 4 * error_of_mean(delays) + 0.005 * expected


def test_arrivals_have_the_streams_moments() -> None:
    cluster = dh.Cluster.from_columns([1.0], 0.0)
    split = dh.Split.of([1], dh.CodeSpec(1))
    for mean, std in ((2.0, 2.0), (2.0, 0.5), (2.0, 3.0)):
        gaps = np.diff(dh.simulate(cluster, split, dh.Stream(mean, std, 1), JOBS, seed=3).arrival, prepend=0.0)
        assert abs(gaps.mean() - mean) <= 4 * error_of_mean(gaps)
        assert abs(gaps.std() - std) <= 4 * error_of_std(gaps)
    beat = dh.simulate(cluster, split, dh.Stream(2.0, 0.0, 1), 50, seed=3).arrival
    np.testing.assert_allclose(beat, 2.0 * np.arange(1, 51), rtol=1e-12)


def test_measured_arrivals_are_taken_as_they_are() -> None:
    cluster = dh.Cluster.from_columns([1.0], 0.0)
    split = dh.Split.of([3], dh.CodeSpec(3))
    times = [0.0, 1.0, 1.0, 20.0]
    trace = dh.simulate(cluster, split, dh.Stream.poisson(1.0, 1), 4, arrivals=times)
    np.testing.assert_array_equal(trace.arrival, times)
    np.testing.assert_allclose(trace.start, [0.0, 3.0, 6.0, 20.0])
    np.testing.assert_allclose(trace.end, [3.0, 6.0, 9.0, 23.0])
    np.testing.assert_allclose(trace.wait, [0.0, 2.0, 5.0, 0.0])
