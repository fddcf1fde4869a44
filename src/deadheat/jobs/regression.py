"""Regression by descent on rows: least squares, logistic and softmax, with an L2 penalty, as jobs.

The loss is the mean over the rows plus l2/2 times the squared weights (the intercept is not penalised). A chunk gives
the sum of its gradient, its loss and its number of rows in one array, so that a sample of chunks is a mean as well.
"""

from copy import copy
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

from deadheat.errors import BadInput, finite, whole
from deadheat.jobs.losses import LeastSquares, Logistic, Loss, Softmax, check_labels
from deadheat.jobs.optimizers import Lbfgs, Step, step_named
from deadheat.jobs.sources import Arrays, Chunk, Source, cut
from deadheat.model import Array
from deadheat.runtime import Converged, Job
from deadheat.scheduling import Token


@dataclass(frozen=True, eq=False)
class Fit:
    """Where a fit stands: its weights, the loss and the size of the gradient before the last step, and how it moves."""

    weights: Array
    mover: Step
    loss: float = np.inf
    slope: float = np.inf
    losses: tuple[float, ...] = ()


weights_of = attrgetter("weights")  # what workers see of a Fit


@dataclass(frozen=True)
class PartOfFit:
    """The work on one chunk: gradient, loss and number of rows in one array; zeros where it is not in the sample."""

    loss: Loss
    chunks: int
    sample: int
    seed: int
    intercept: bool

    def __call__(self, weights: Array, chunk: Chunk, token: Token) -> Array:
        number, x, y = chunk
        if number not in self.chosen(token.iteration):
            return np.zeros(weights.size + 2)
        if self.intercept:
            x = np.column_stack([x, np.ones(len(x))])
        gradient, loss = self.loss(weights, x, y)
        return np.concatenate([gradient.ravel(), [loss, len(x)]])

    def chosen(self, iteration: int) -> Any:
        """The chunks of an iteration's sample: the same on every worker."""
        if self.sample == self.chunks:
            return range(self.chunks)
        rng = np.random.default_rng([self.seed, iteration])
        return set(rng.choice(self.chunks, self.sample, replace=False).tolist())


@dataclass(frozen=True)
class StepOfFit:
    """From the sums over the chunks to the next weights; it is over when the gradient is as small as asked for."""

    l2: float
    tolerance: float
    intercept: bool

    def __call__(self, fit: Fit, total: Array, iteration: int) -> Fit | Converged:
        weights, rows = fit.weights, total[-1]
        penalised = weights.copy()
        if self.intercept:
            penalised[-1] = 0.0
        gradient = total[:-2].reshape(weights.shape) / rows + self.l2 * penalised
        loss = float(total[-2] / rows + 0.5 * self.l2 * np.vdot(penalised, penalised))
        if not np.isfinite(loss):
            raise FloatingPointError("the loss is not finite: take a smaller rate, or scale the features")
        slope, losses = float(np.abs(gradient).max()), (*fit.losses, loss)
        if slope <= self.tolerance:
            why = f"the largest element of the gradient is {slope:.2g}"
            return Converged(Fit(weights, fit.mover, loss, slope, losses), why)
        mover = copy(fit.mover)
        return Fit(mover(weights, gradient, loss), mover, loss, slope, losses)


def regression(
    source: Source, loss: Loss, *, l2: float = 0.0, intercept: bool = True, step: str | Step = "lbfgs",
    rate: float | None = None, momentum: float = 0.0, iterations: int = 100, tolerance: float = 1e-6, chunks: int = 50,
    sample: float = 1.0, seed: int = 0, name: str = "",
) -> Job:  # fmt: skip
    """A fit as a job; its states are `Fit`.

    step: "lbfgs", "adam", "descent" (with `momentum`) or one of one's own. sample: the part of the chunks that is used
    in each iteration, a fresh one each time. tolerance: of the largest element of the gradient, at which it is over; a
    fit that uses up its iterations before is delivered with a warning, unless it sees only samples, whose gradients
    never settle.
    """
    finite("l2", l2, "give the weight of the penalty, 0 for none", least=0.0)
    finite("tolerance", tolerance, "give a size of the gradient, 0 to use all iterations", least=0.0)
    whole("iterations", iterations, "give how often to iterate")
    rows, columns = source.shape
    parts = cut(source, min(chunks, rows) if isinstance(chunks, int) else chunks)
    if not 0 < finite("sample", sample, "give a part of the chunks, up to 1", least=0.0) <= 1:
        raise BadInput("sample", sample, "not a part of the chunks", "give a number above 0, up to 1")
    if sample < 1 and (step == "lbfgs" or isinstance(step, Lbfgs)):
        raise BadInput("sample", sample, "lbfgs compares losses of the same rows", 'use step="adam" or "descent"')
    mover = step_named(step, rate, momentum) if isinstance(step, str) else copy(step)
    part = PartOfFit(loss, len(parts), max(round(sample * len(parts)), 1), seed, intercept)
    start = Fit(np.zeros(loss.shape(columns + intercept)), mover)
    step_of_fit = StepOfFit(l2, tolerance, intercept)
    converges = tolerance > 0 and part.sample == part.chunks
    return Job(parts, part, start, step_of_fit, iterations, name, weights_of, converges)


def least_squares(source: Source, **settings: Any) -> Job:
    """Half the mean squared error; settings: see `regression`."""
    return regression(source, LeastSquares(), **settings)


def logistic(source: Source, **settings: Any) -> Job:
    """Labels 0 and 1; settings: see `regression`."""
    if isinstance(source, Arrays):
        check_labels(source.y, 2)
    return regression(source, Logistic(), **settings)


def softmax(source: Source, classes: int, **settings: Any) -> Job:
    """Labels 0 to classes - 1; settings: see `regression`."""
    loss = Softmax(whole("classes", classes, "give how many labels there are", least=2))
    if isinstance(source, Arrays):
        check_labels(source.y, loss.classes)
    return regression(source, loss, **settings)


def synthetic_least_squares(
    chunks: int, iterations: int, rows: int = 11_000, columns: int = 20, seed: int = 0, name: str = ""
) -> Job:
    """Least squares on Gaussian features with noisy targets: a real job for demonstrations, probes and tests.

    Gradient descent takes half the step at which it would cease to converge.
    """
    rows = whole("rows", rows, "give the number of samples", least=whole("chunks", chunks, "give how many"))
    columns = whole("columns", columns, "give the number of features")
    rng = np.random.default_rng(whole("seed", seed, "give a number from 0 on", least=0))
    x = rng.normal(size=(rows, columns))
    y = x @ rng.normal(size=columns) + 0.1 * rng.normal(size=rows)
    rate = rows / (np.sqrt(rows) + np.sqrt(columns)) ** 2
    return least_squares(
        Arrays(x, y), step="descent", rate=rate, intercept=False, tolerance=0.0, iterations=iterations, chunks=chunks,
        name=name,
    )  # fmt: skip
