"""Streams and tasks with next to no spread: no lattice too fine to hold, no division by nothing."""

from __future__ import annotations

import math

import pytest

import deadheat as dh
from deadheat import theory


def expected(gap: float, spread: float, *workers: tuple[float, float]) -> theory.Forecast:
    """Three iterations a job, any four of six results."""
    cluster = dh.Cluster(dh.Worker(mean, std) for mean, std in workers)
    return dh.forecast(cluster, dh.split(cluster, dh.CodeSpec(4, 1.5)), dh.Stream(gap, spread, 3))


@pytest.mark.parametrize(("spread", "task"), [(1e-6, 0.0), (1e-3, 1e-5), (0.0, 0.0), (0.5, 0.1)])
def test_a_job_that_is_done_before_the_next_never_waits(spread: float, task: float) -> None:
    forecast = expected(20.0, spread, (1.0, task), (2.0, task))
    draw = forecast.draw(1000)
    assert forecast.service_mean == pytest.approx(9.0, rel=1e-6)  # three times the third task of the fast worker
    assert draw.mean == pytest.approx(9.0, rel=1e-6)
    assert draw.std == pytest.approx(forecast.service_std / math.sqrt(1000), rel=1e-3)


def test_a_narrow_spread_keeps_its_digits() -> None:
    # The iteration ends with the fast worker's third task, so its spread is that of three tasks: sqrt(3) 1e-5.
    assert expected(20.0, 1.0, (1.0, 1e-5), (2.0, 1e-5)).iteration_std == pytest.approx(math.sqrt(3) * 1e-5, rel=1e-3)


def test_exactly_at_saturation_without_spread_nothing_piles_up() -> None:
    cluster = dh.Cluster([dh.Worker(1.0, 0.0)])
    forecast = dh.forecast(cluster, dh.split(cluster, dh.CodeSpec(1)), dh.Stream(1.0, 0.0, 1))
    assert not forecast.stable
    assert forecast.draw(500).mean == 1.0


def test_a_range_of_delays_is_never_negative() -> None:
    cluster = dh.Cluster([dh.Worker(1.0, 1.0)])
    forecast = dh.forecast(cluster, dh.split(cluster, dh.CodeSpec(1)), dh.Stream.poisson(0.5, 1))
    assert 0 <= forecast.draw(1).low < forecast.draw(1).high


def test_theory_has_no_purging_between_tasks() -> None:
    cluster = dh.Cluster([dh.Worker(1.0, 1.0)])
    split = dh.split(cluster, dh.CodeSpec(2))
    with pytest.raises(dh.BadInput, match="purge"):
        dh.forecast(cluster, split, dh.Stream.poisson(0.01, 1), purge="between-tasks")  # type: ignore[arg-type]
