"""Softmax regression under every gradient code, a worker killed in each: the weights are those of a serial loop."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from killed_workers import GRADIENT_CODES, ITERATIONS, Deaths, with_deaths
from softmax_fits import fit, one_after_the_other, table

import deadheat as dh

CODES = GRADIENT_CODES | {
    "cyclic MDS, reuse": dh.codes.cyclic_mds(12, 3, reuse=True),
    "paper": dh.codes.paper_example(),
}
FITS: dict[str, dict[str, Any]] = {  # besides one for each code
    "Adam": {"step": "adam", "rate": 0.05},
    "L-BFGS": {"step": "lbfgs", "rate": None},
    "a sample": {"sample": 0.5, "seed": 5},
    "more chunks": {"chunks": 31},
}


@pytest.fixture(scope="module")
def fits() -> Deaths:
    jobs = [fit(name) for name in CODES] + [fit(name, **settings) for name, settings in FITS.items()]
    return with_deaths(jobs, [*CODES.values(), *[dh.codes.cyclic(12, 3)] * len(FITS)], Deaths())


@cache
def plain() -> Any:
    return one_after_the_other(fit("plain"))


@pytest.mark.parametrize("name", [*CODES])
def test_softmax_regression_under_a_code(name: str, fits: Deaths) -> None:
    state = fits.done(name).state
    assert np.abs(state.weights - plain().weights).max() < 1e-8
    assert len(state.losses) == ITERATIONS


@pytest.mark.parametrize("name", [*FITS])
def test_softmax_regression_in_other_ways(name: str, fits: Deaths) -> None:
    state = fits.done(name).state
    # Near its end L-BFGS compares losses that differ by rounding alone, and Adam divides a gradient by its own size.
    limit = 1e-6 if name in ("L-BFGS", "Adam") else 1e-8
    assert np.abs(state.weights - one_after_the_other(fit(name, **FITS[name])).weights).max() < limit


def test_the_loop_over_chunks_is_plain_descent() -> None:
    x, y = table()
    ones, labels = np.column_stack([x, np.ones(len(x))]), np.eye(4)[y]
    weights = np.zeros((7, 4))
    for _ in range(ITERATIONS):
        chance = np.exp(ones @ weights)
        chance /= chance.sum(axis=1, keepdims=True)
        penalty = 1e-3 * np.vstack([weights[:-1], np.zeros(4)])
        weights = weights - 0.5 * (ones.T @ (chance - labels) / len(x) + penalty)
    assert np.abs(plain().weights - weights).max() < 1e-12


def test_a_sample_is_not_the_whole() -> None:
    sample = one_after_the_other(fit("sample", **FITS["a sample"]))
    assert np.abs(plain().weights - sample.weights).max() > 1e-3


def test_every_job_lost_a_worker(fits: Deaths) -> None:
    assert len(fits.killed) == len(CODES) + len(FITS)
    assert len(fits.lost) >= len(fits.killed) - 1  # of the last one the run may not hear
    assert fits.dismissed == []
