"""An independent model in SimPy agrees with `simulate` in service and delay."""

from __future__ import annotations

import math

import numpy as np
import pytest
from simpy_model import play

import deadheat as dh
from deadheat.simulation import iteration_times

CLUSTER = dh.Cluster.from_columns([1.0, 2.0, 0.5], [1.0, 1.0, 0.5], [0.3, 0.0, 0.6])
SPLIT = dh.Split.of([2, 1, 5], dh.CodeSpec.of(6, 8))
STREAM = dh.Stream.poisson(0.08, 3)
JOBS, RUNS = 25, 100


@pytest.fixture(scope="module")
def means() -> tuple[np.ndarray, np.ndarray]:
    """The mean service and the mean delay of each of SimPy's runs."""
    runs = [play(CLUSTER, SPLIT, STREAM, JOBS, np.random.default_rng(seed)) for seed in range(RUNS)]
    return np.array([s.mean() for s, _ in runs]), np.array([d.mean() for _, d in runs])


def ours(by_tasks: bool, purge: bool = True) -> tuple[np.ndarray, np.ndarray]:
    traces = [dh.simulate(CLUSTER, SPLIT, STREAM, JOBS, purge, seed, by_tasks=by_tasks) for seed in range(5 * RUNS)]
    return np.array([t.service.mean() for t in traces]), np.array([t.delay.mean() for t in traces])


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run here has 600 tasks: no need to draw half a million."""
    monkeypatch.setattr(iteration_times, "DRAWS", 2**10)


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """The difference of two means of independent replications, in standard errors."""
    return abs(float(one.mean() - other.mean())) / math.sqrt(one.var() / one.size + other.var() / other.size)


@pytest.mark.parametrize("by_tasks", [False, True])
def test_service_and_delay_are_simpys(means: tuple[np.ndarray, np.ndarray], by_tasks: bool) -> None:
    for simpy, mine in zip(means, ours(by_tasks), strict=True):
        assert apart(simpy, mine) < 4


def test_a_model_without_purging_is_told_apart(means: tuple[np.ndarray, np.ndarray]) -> None:
    for simpy, mine in zip(means, ours(False, purge=False), strict=True):
        assert apart(simpy, mine) > 8
