"""Estimators in the manner of scikit-learn, fitted over workers. Needs the extra `sklearn`.

The workers are started at the first fit and stay up for the next ones; they end with the process.
"""

from __future__ import annotations

import atexit
import os
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from deadheat.coding import Code
from deadheat.jobs.regression import least_squares, logistic, softmax
from deadheat.jobs.sources import Arrays
from deadheat.model import AnyArray
from deadheat.runtime import Job, Pool

_pools: dict[tuple[int, int | None, str], Pool] = {}  # by the process that started their workers, first of all


def shared_pool(workers: int | None, engine: str) -> Pool:
    """Workers that stay up between fits; a forked process has its own, since it has no thread to serve the others."""
    key = os.getpid(), workers, engine
    if key not in _pools or _pools[key].closed:
        _pools[key] = Pool(engine=engine, workers=workers)
        atexit.register(_close, key[0], _pools[key])
    return _pools[key]


def _close(owner: int, pool: Pool) -> None:
    if os.getpid() == owner:
        pool.close()


class _Descent(BaseEstimator):  # type: ignore[misc]
    """What both have in common: their settings, and how a job is run."""

    def __init__(
        self, l2: float = 1e-4, step: str = "lbfgs", rate: float | None = None, iterations: int = 200,
        tolerance: float = 1e-6, chunks: int = 20, code: Code | None = None, workers: int | None = None,
        engine: str = "local",
    ) -> None:  # fmt: skip
        self.l2, self.step, self.rate = l2, step, rate
        self.iterations, self.tolerance, self.chunks = iterations, tolerance, chunks
        self.code, self.workers, self.engine = code, workers, engine

    def _weights(self, make: Callable[..., Job], *data: Any) -> AnyArray:
        """Fit the job that `make` makes of the data, and keep what is worth knowing."""
        names = "l2", "step", "rate", "iterations", "tolerance", "chunks"
        job = make(*data, **{name: getattr(self, name) for name in names})
        unwarned = replace(job, converges=False)  # the warning of estimators is that of scikit-learn
        done = shared_pool(self.workers, self.engine).submit(unwarned, self.code).result()
        self.n_iter_, self.loss_ = max(done.iterations, 1), done.state.loss
        self.converged_ = bool(done.state.slope <= self.tolerance)
        if job.converges and not self.converged_:
            problem = f"the gradient's largest element is {done.state.slope:.2g}, above tolerance = {self.tolerance:g}"
            remedy = "increase iterations, or scale the features"
            message = f"{type(self).__name__} did not converge in {done.iterations} iterations: {problem}; {remedy}"
            warnings.warn(message, ConvergenceWarning, stacklevel=3)  # of whoever calls fit
        return np.asarray(done.state.weights)


class LinearRegressor(RegressorMixin, _Descent):  # type: ignore[misc]
    """Least squares with an L2 penalty (of the mean squared error; see `deadheat.jobs.regression`).

    The target is fitted in units of its standard deviation, and `tolerance` is that of the gradient in these units: a
    target in other units gives the same fit. Features are taken as they are, since their scale is what the penalty is
    measured in: bring them to about one size.
    """

    def fit(self, X: Any, y: Any) -> LinearRegressor:
        X, y = validate_data(self, X, y, dtype=float, y_numeric=True)
        centre, spread = _centre_and_spread(np.asarray(y, float))
        weights = spread * self._weights(least_squares, Arrays(X, (y - centre) / spread))
        self.coef_, self.intercept_ = weights[:-1], centre + float(weights[-1])
        self.loss_ *= spread * spread
        return self

    def predict(self, X: Any) -> AnyArray:
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, reset=False, dtype=float) @ self.coef_ + self.intercept_)


def _centre_and_spread(values: AnyArray) -> tuple[float, float]:
    """The mean and the standard deviation (1 where they are all the same), whatever the size of the values."""
    largest = float(np.abs(values).max()) or 1.0
    scaled = values / largest
    return float(scaled.mean()) * largest, float(scaled.std()) * largest or 1.0


class LogisticClassifier(ClassifierMixin, _Descent):  # type: ignore[misc]
    """Logistic regression of two labels, softmax regression of more, with an L2 penalty.

    Features are taken as they are: bring them to about one size, or a small gradient says little.
    """

    def fit(self, X: Any, y: Any) -> LogisticClassifier:
        X, y = validate_data(self, X, y, dtype=float)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            problem = f"this needs samples of at least 2 classes, and there is only one class: {self.classes_[0]}"
            raise ValueError(problem)
        source = Arrays(X, labels)
        if len(self.classes_) == 2:
            weights = self._weights(logistic, source)[:, None]
        else:
            weights = self._weights(softmax, source, len(self.classes_))
        self.coef_, self.intercept_ = weights[:-1].T, weights[-1]
        return self

    def decision_function(self, X: Any) -> AnyArray:
        """The score of every class, or of the second of two."""
        check_is_fitted(self)
        score = validate_data(self, X, reset=False, dtype=float) @ self.coef_.T + self.intercept_
        return np.asarray(score[:, 0] if len(self.classes_) == 2 else score)

    def predict_proba(self, X: Any) -> AnyArray:
        score = self.decision_function(X)
        both = np.column_stack([np.zeros(len(score)), score]) if score.ndim == 1 else score
        chance = np.exp(both - both.max(axis=1, keepdims=True))
        return np.asarray(chance / chance.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> AnyArray:
        check_is_fitted(self)
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])
