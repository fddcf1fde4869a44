"""Jobs on Ray, where one is enough to see that the engine carries them: a fit that loses a worker, and rollouts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from killed_workers import Deaths, with_deaths
from softmax_fits import fit, one_after_the_other

import deadheat as dh
from deadheat.jobs import Rollouts


def test_a_fit_with_a_death(ray_cluster: None) -> None:
    deaths = with_deaths([fit("on Ray")], [dh.codes.reed_solomon(12, 3)], Deaths(), "ray")
    state = deaths.done("on Ray").state
    assert np.abs(state.weights - one_after_the_other(fit("serial")).weights).max() < 1e-8


def test_rollouts(ray_cluster: None) -> None:
    def noisy(place: float, seed: int) -> Any:
        return 2 * (place - 2.0) + 0.1 * np.random.default_rng(seed).normal()

    counts: list[int] = []

    def step(place: float, slopes: Any, iteration: int) -> float:
        counts.append(len(slopes))
        return float(place - 0.2 * slopes.mean())

    job = Rollouts(noisy, 10.0, step, iterations=30, critical=6, total=9)
    (done,) = dh.run(job, workers=3, engine="ray").wait().deliveries
    assert done.error is None
    assert done.state == pytest.approx(2.0, abs=0.2)
    assert len(counts) == 30
    assert min(counts) >= 6
