"""Forecasts: the paper's worked example in numbers, and what every forecast must obey."""

from __future__ import annotations

import math

import pytest

import deadheat as dh
from deadheat import theory
from deadheat.paper import worked_example as paper

CLUSTER, SPEC, STREAM = paper.cluster(), paper.spec(), paper.stream()
BALANCED, UNIFORM = dh.split(CLUSTER, SPEC), dh.uniform(CLUSTER, SPEC)


def test_worked_example_with_purging() -> None:
    assert dh.forecast(CLUSTER, BALANCED, STREAM).delay == pytest.approx(49.53, abs=0.005)
    assert dh.forecast(CLUSTER, UNIFORM, STREAM).delay == pytest.approx(148.4, abs=0.05)


def test_worked_example_without_purging() -> None:
    assert dh.forecast(CLUSTER, BALANCED, STREAM, purge=False).delay == pytest.approx(76.8, abs=0.05)
    uniform = dh.forecast(CLUSTER, UNIFORM, STREAM, purge=False)
    assert uniform.delay == math.inf
    assert not uniform.stable
    assert uniform.utilisation > 1 > dh.forecast(CLUSTER, UNIFORM, STREAM).utilisation


def test_the_numbers_of_a_forecast_hang_together() -> None:
    found = dh.forecast(CLUSTER, BALANCED, STREAM)
    assert found.service_mean == pytest.approx(50 * found.iteration_mean)
    assert found.service_std == pytest.approx(math.sqrt(50) * found.iteration_std)
    assert found.utilisation == pytest.approx(found.service_mean / 100)
    assert found.headroom == pytest.approx(1 - found.utilisation)
    assert found.delay == theory.pollaczek_khinchine(0.01, found.service_mean, found.service_std)
    assert found.stable
    assert found.law.mean == found.iteration_mean


def test_the_greatest_rate_is_the_edge_of_stability() -> None:
    rate = dh.forecast(CLUSTER, BALANCED, STREAM).most_rate
    assert dh.forecast(CLUSTER, BALANCED, dh.Stream.poisson(rate * 0.9999, 50)).stable
    assert not dh.forecast(CLUSTER, BALANCED, dh.Stream.poisson(rate * 1.0001, 50)).stable


def test_a_steady_stream_waits_less_than_a_poisson_one() -> None:
    poisson = dh.forecast(CLUSTER, BALANCED, STREAM)
    steady = dh.forecast(CLUSTER, BALANCED, dh.Stream(100.0, 0.0, 50))
    assert steady.service_mean == poisson.service_mean
    assert steady.service_mean < steady.delay < steady.service_mean + 0.01  # the service hardly varies
    assert steady.delay == theory.kingman(dh.Stream(100.0, 0.0, 50), steady.service_mean, steady.service_std)


def test_constant_tasks_and_a_steady_stream_never_wait() -> None:
    cluster = dh.Cluster.from_columns([1.0, 2.0], 0.0, [0.5, 0.0])
    found = dh.forecast(cluster, dh.Split.of([4, 2], dh.CodeSpec(6)), dh.Stream(50.0, 0.0, 10))
    assert found.iteration_mean == pytest.approx(4.5)
    assert found.delay == pytest.approx(45.0, rel=1e-6)


def test_work_reaches_the_forecast() -> None:
    per_unit = dh.forecast(CLUSTER, BALANCED, STREAM)
    per_task_cluster = dh.Cluster.from_columns(CLUSTER.mean * SPEC.work, CLUSTER.std * SPEC.work, CLUSTER.comm)
    per_task = dh.forecast(per_task_cluster, dh.Split.of(BALANCED.loads, dh.CodeSpec(50, 1.1)), STREAM)
    assert per_task.delay == pytest.approx(per_unit.delay, rel=1e-12)


def test_a_split_of_another_cluster_is_refused() -> None:
    with pytest.raises(dh.BadInput, match="5 loads for 3 workers"):
        dh.forecast(CLUSTER[:3], BALANCED, STREAM)
