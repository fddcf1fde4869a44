"""The worked example over 200 draws of 1000 jobs: both splits, and where the printed delays fall."""

from __future__ import annotations

import numpy as np
import pytest

import deadheat as dh
from deadheat.paper import worked_example as paper
from deadheat.simulation import Replications, replicate

CLUSTER, SPEC, STREAM = paper.cluster(), paper.spec(), paper.stream()


def draws(split: dh.Split) -> Replications:
    return replicate(lambda one: dh.simulate(CLUSTER, split, STREAM, 1000, seed=one), 2024, 200)


@pytest.mark.parametrize(
    ("split", "mean", "within", "least", "most", "printed"),
    [  # four standard errors of 200 draws: 4 * 1.25 / 14 and 4 * 12 / 14
        pytest.param(dh.split(CLUSTER, SPEC), 49.6, 0.35, 1.0, 1.5, 47.93, id="Theorem 2"),
        pytest.param(dh.uniform(CLUSTER, SPEC), 147.0, 3.5, 10.0, 14.5, 129.96, id="uniform"),
    ],
)
def test_two_hundred_draws(
    split: dh.Split, mean: float, within: float, least: float, most: float, printed: float
) -> None:
    sample = draws(split)
    assert sample.replications == 200
    assert sample.delay.mean == pytest.approx(mean, abs=within)
    assert least < sample.delays.std(ddof=1) < most
    assert 0.005 < np.mean(sample.delays < printed) < 0.5  # an ordinary draw, on the lucky side


def test_the_quick_sampler_is_not_quicker_than_the_tasks() -> None:
    """Both samplers on the example itself: mean services within their standard errors."""
    split = dh.split(CLUSTER, SPEC)
    one = dh.simulate(CLUSTER, split, STREAM, 4000, seed=1).service
    other = dh.simulate(CLUSTER, split, STREAM, 1000, seed=2, by_tasks=True).service
    assert abs(one.mean() - other.mean()) < 4 * np.sqrt(one.var() / one.size + other.var() / other.size)
