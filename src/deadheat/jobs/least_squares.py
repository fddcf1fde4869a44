"""Least squares on made data by gradient descent: a real job for demonstrations, probes and tests."""

from __future__ import annotations

import numpy as np

from deadheat.errors import whole
from deadheat.model import Array
from deadheat.runtime.job import Job


def gradient(weights: Array, chunk: tuple[Array, Array]) -> Array:
    """Of half the squared error, on one chunk."""
    x, y = chunk
    return np.asarray(x.T @ (x @ weights - y))


class Descent:
    """A step against the gradient."""

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def __call__(self, weights: Array, total: Array, iteration: int) -> Array:
        """The next weights."""
        return weights - self.rate * total


def made_data(rows: int, columns: int, seed: int) -> tuple[Array, Array]:
    """Gaussian features and noisy targets."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, columns))
    return x, x @ rng.normal(size=columns) + 0.1 * rng.normal(size=rows)


def made_least_squares(
    chunks: int, iterations: int, rows: int = 11_000, columns: int = 20, seed: int = 0, name: str = ""
) -> Job:
    """Least squares on made data, cut into chunks. Half the step at which descent would cease to converge is taken."""
    rows = whole("rows", rows, "give the number of samples", least=whole("chunks", chunks, "give how many"))
    columns = whole("columns", columns, "give the number of features")
    x, y = made_data(rows, columns, whole("seed", seed, "give a number from 0 on", least=0))
    rate = 1 / (np.sqrt(rows) + np.sqrt(columns)) ** 2
    pieces = [(x[part], y[part]) for part in np.array_split(np.arange(rows), chunks)]
    return Job(pieces, gradient, np.zeros(columns), Descent(rate), iterations, name)


def in_series(job: Job) -> Array:
    """What one process makes of it, chunk after chunk."""
    state = job.start
    for iteration in range(job.iterations):
        state = job.step(state, sum(job.compute(state, chunk) for chunk in job.chunks), iteration)
    return np.asarray(state)
