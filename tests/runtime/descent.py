"""A real job for the tests: least squares by gradient descent, and what a serial run makes of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.runtime.job import Job

Array = NDArray[np.float64]
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


def descent(chunks: int, iterations: int, name: str = "") -> Job:
    x, y = data()
    pieces: list[Any] = [(x[i::chunks], y[i::chunks]) for i in range(chunks)]
    return Job(pieces, gradient, np.zeros(COLUMNS), step, iterations, name)


def serial(iterations: int) -> Array:
    x, y = data()
    w = np.zeros(COLUMNS)
    for i in range(iterations):
        w = step(w, gradient(w, (x, y)), i)
    return w
