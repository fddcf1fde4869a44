"""Other scores than the paper's: a quantile, and any increasing function of the load."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import deadheat as dh
from deadheat.errors import NoConvergence
from deadheat.model import Tasks
from deadheat.planning import equalise
from deadheat.planning.score import Moments, Quantile

Array = NDArray[np.float64]


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_a_quantile_is_balanced(level: float) -> None:
    rng = np.random.default_rng(3)
    mean = rng.uniform(0.5, 4.0, 8)
    cluster = dh.Cluster.from_columns(mean, mean * rng.uniform(0.2, 2.0, 8), rng.uniform(0.0, 12.0, 8))
    split = dh.split(cluster, dh.CodeSpec(40), score=Quantile(level))
    assert split.loads.sum() == 40
    shape, scale = (cluster.mean / cluster.std) ** 2, cluster.std**2 / cluster.mean
    busy = split.shares > 1e-6
    done = cluster.comm + stats.gamma(np.maximum(split.shares, 1e-300) * shape, scale=scale).ppf(level)
    np.testing.assert_allclose(done[busy], split.theta, rtol=1e-6)
    assert (cluster.comm[~busy] >= split.theta * (1 - 1e-9)).all()


def test_the_quantile_of_constant_tasks_is_their_time() -> None:
    cluster = dh.Cluster.from_columns([1.0, 2.0], 0.0, [0.0, 1.0])
    quantile = dh.split(cluster, dh.CodeSpec(8), score=Quantile(0.9))
    mean = dh.split(cluster, dh.CodeSpec(8), gamma=0.0)
    np.testing.assert_allclose(quantile.shares, mean.shares, rtol=1e-9)
    assert quantile.theta == pytest.approx(mean.theta, rel=1e-9)


def test_a_cautious_quantile_spares_the_fickle_worker() -> None:
    cluster = dh.Cluster.from_columns([1.0, 1.0], [0.1, 2.0])
    shares = [dh.split(cluster, dh.CodeSpec(20), score=Quantile(q)).shares[1] for q in (0.5, 0.9, 0.99)]
    assert shares[0] > shares[1] > shares[2]


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 1.5, math.nan, "0.9"])
def test_a_quantile_is_a_probability(level: float) -> None:
    with pytest.raises(dh.BadInput) as caught:
        Quantile(level)
    assert caught.value.field == "quantile"


def test_a_curve_and_its_inverse_agree() -> None:
    cluster = dh.Cluster.from_columns([1.0, 2.0, 0.1], [0.5, 3.0, 0.0], [0.0, 1.0, 2.0])
    loads = np.array([0.3, 4.0, 120.0])
    for score in (Moments(0.0), Moments(2.0), Quantile(0.9)):
        curve = score.on(cluster.tasks(dh.CodeSpec(1)))
        found, slopes = curve.loads(curve.rise(loads))
        np.testing.assert_allclose(found, loads, rtol=1e-9)
        step = 1e-5 * loads
        rises = (curve.rise(loads + step) - curve.rise(loads - step)) / (2 * step)
        np.testing.assert_allclose(slopes, 1 / rises, rtol=1e-3)
        assert curve.loads(np.array([0.0, -1.0, 0.0]))[0].tolist() == [0.0, 0.0, 0.0]


@dataclass(frozen=True)
class Cubic:
    """A score of one's own: c + (kappa m)^3."""

    start: Array
    mean: Array

    def on(self, tasks: Tasks) -> Cubic:
        return Cubic(tasks.comm, tasks.mean)

    def rise(self, loads: Array) -> Array:
        cube: Array = (loads * self.mean) ** 3
        return cube

    def loads(self, rise: Array) -> tuple[Array, Array]:
        x = np.maximum(rise, 0.0)
        with np.errstate(divide="ignore"):
            slope = np.where(x > 0, x ** (-2 / 3) / (3 * self.mean), 0.0)
        return np.cbrt(x) / self.mean, slope

    def of(self, workers: NDArray[np.bool_]) -> Cubic:
        return Cubic(self.start[workers], self.mean[workers])


def test_any_increasing_score_is_balanced() -> None:
    cluster = dh.Cluster.from_columns([1.0, 2.0, 5.0], 1.0, [0.0, 4.0, 1e9])
    split = dh.split(cluster, dh.CodeSpec(9), score=Cubic(cluster.comm, cluster.mean))
    scores = cluster.comm + (split.shares * cluster.mean) ** 3
    np.testing.assert_allclose(scores[:2], split.theta, rtol=1e-9)
    assert split.shares[2] == 0.0


def test_a_score_that_never_rises_is_an_error_and_not_a_loop() -> None:
    class Stuck(Cubic):
        def on(self, tasks: Tasks) -> Stuck:
            return Stuck(tasks.comm, tasks.mean)

        def loads(self, rise: Array) -> tuple[Array, Array]:
            return np.full(rise.size, 1.0), np.zeros(rise.size)

    tasks = dh.Cluster.from_columns([1.0, 2.0], 1.0).tasks(dh.CodeSpec(50))
    with pytest.raises(NoConvergence) as caught:
        equalise(tasks, 50, Stuck(tasks.comm, tasks.mean), np.full(2, np.inf))
    assert caught.value.residual == pytest.approx(48.0)
