"""Losses of models that are linear in their weights: the gradient and the loss of one chunk of rows.

A chunk is (x, y); an intercept is a last column of ones. Sums, not means: the master divides by the number of rows.
"""

from typing import Any, Protocol

import numpy as np

from deadheat.errors import BadInput
from deadheat.model import Array


class Loss(Protocol):
    """A model's loss; shape(columns) is that of its weights."""

    def shape(self, columns: int) -> tuple[int, ...]: ...

    def __call__(self, weights: Array, x: Any, y: Any) -> tuple[Array, float]:
        """Gradient and loss, summed over the rows of a chunk."""


class _Vector:
    """Losses of models with one weight for each column."""

    def shape(self, columns: int) -> tuple[int, ...]:
        return (columns,)


class LeastSquares(_Vector):
    """Half the squared error."""

    def __call__(self, weights: Array, x: Any, y: Any) -> tuple[Array, float]:
        error = x @ weights - y
        return np.asarray(x.T @ error), 0.5 * float(error @ error)


class Logistic(_Vector):
    """Minus the log-likelihood of labels 0 and 1."""

    def __call__(self, weights: Array, x: Any, y: Any) -> tuple[Array, float]:
        check_labels(y, 2)
        score = x @ weights
        loss = np.logaddexp(0.0, score) - y * score
        chance = 0.5 * (1 + np.tanh(0.5 * score))  # the logistic function, without overflow
        return np.asarray(x.T @ (chance - y)), float(loss.sum())


class Softmax:
    """Minus the log-likelihood of labels 0, 1, ..., classes - 1."""

    def __init__(self, classes: int) -> None:
        self.classes = classes

    def shape(self, columns: int) -> tuple[int, ...]:
        return (columns, self.classes)

    def __call__(self, weights: Array, x: Any, y: Any) -> tuple[Array, float]:
        check_labels(y, self.classes)
        score = x @ weights
        score = score - score.max(axis=1, keepdims=True)
        total = np.exp(score).sum(axis=1)
        rows = np.arange(len(total))
        labels = np.asarray(y, np.int64)
        loss = float((np.log(total) - score[rows, labels]).sum())
        chance = np.exp(score) / total[:, None]
        chance[rows, labels] -= 1
        return np.asarray(x.T @ chance), loss


def check_labels(y: Any, classes: int) -> None:
    """Refuse labels that are not 0, 1, ..., classes - 1."""
    labels = np.asarray(y)
    if labels.dtype.kind not in "iubf":
        raise BadInput("y", str(labels.dtype), "not labels", f"number them from 0 to {classes - 1}")
    odd = labels[(labels < 0) | (labels >= classes) | (labels != np.floor(labels))]
    if odd.size:
        raise BadInput("y", odd.ravel()[0].item(), "no such label", f"number them from 0 to {classes - 1}")
