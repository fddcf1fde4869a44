"""A real job for the tests: least squares by gradient descent, and what a serial run makes of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from deadheat.model import Array
from deadheat.runtime import Job

ROWS, COLUMNS = 1100, 8


def gradient(w: Array, chunk: tuple[Array, Array]) -> Array:
    x, y = chunk
    return np.asarray(x.T @ (x @ w - y))


def step(w: Array, total: Array, iteration: int) -> Array:
    return w - 5e-4 * total


def data() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROWS, COLUMNS))
    return x, x @ rng.normal(size=COLUMNS)


def descent(chunks: int, iterations: int, name: str = "", compute: Any = gradient, step: Any = step) -> Job:
    """A job of so many chunks; compute and step may be others for once."""
    x, y = data()
    parts: list[Any] = [(x[i::chunks], y[i::chunks]) for i in range(chunks)]
    return Job(parts, compute, np.zeros(COLUMNS), step, iterations, name)


def serial(iterations: int) -> Array:
    x, y = data()
    w = np.zeros(COLUMNS)
    for i in range(iterations):
        w = step(w, gradient(w, (x, y)), i)
    return w


def off(state: Array, iterations: int) -> float:
    """How far a state is from that of a serial run."""
    return float(np.abs(state - serial(iterations)).max())
