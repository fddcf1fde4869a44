"""Multinomial logistic regression in double precision, as a job and as a loop. Workers import this file."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from killed_workers import ITERATIONS

from deadheat.jobs import Fit, arrays, softmax
from deadheat.jobs.regression import weights_of
from deadheat.model import AnyArray
from deadheat.runtime import Converged, Job
from deadheat.scheduling import Token


@cache
def table() -> tuple[AnyArray, AnyArray]:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(360, 6))
    return x, (x @ rng.normal(size=(6, 4)) + rng.gumbel(size=(360, 4))).argmax(axis=1)


def fit(name: str, **settings: Any) -> Job:
    chosen = {"step": "descent", "rate": 0.5, "l2": 1e-3, "tolerance": 0.0, "chunks": 12, "iterations": ITERATIONS}
    return softmax(arrays(*table()), 4, **(chosen | settings), name=name)


def one_after_the_other(job: Job) -> Fit:
    """What a loop over the chunks makes of it."""
    state = job.start
    for iteration in range(job.iterations):
        wanted = Token(lambda: False, iteration)
        total = np.sum([job.compute(weights_of(state), chunk, wanted) for chunk in job.chunks], axis=0)
        state = job.step(state, total, iteration)
        assert not isinstance(state, Converged)
    assert isinstance(state, Fit)
    return state
