"""Scores of an assignment: what a balanced split makes equal over the workers.

A score is an increasing function of the load of each worker. The paper's is E[T] + gamma E[T^2]; the mean alone is
gamma = 0; a quantile says when the assignment is done with a given certainty. Each knows its value at any real
loads and the loads at which a worker's score exceeds that of an empty assignment by x: the inverse.
"""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from deadheat.errors import BadInput, finite
from deadheat.model import Array, BoolArray, Tasks, quantity, special, start_scores


class Curve(Protocol):
    """The scores of some workers as functions of their real loads, elementwise."""

    @property
    def start(self) -> Array:
        """a_p: the score that an assignment has just above no load at all."""

    def rise(self, loads: Array) -> Array:
        """The score less its start, at loads > 0."""

    def loads(self, rise: Array) -> tuple[Array, Array]:
        """The loads at which the score has risen by that much (0 where rise <= 0), and their derivative."""

    def of(self, workers: BoolArray) -> "Curve":
        """The same for some of the workers only."""


class Score(Protocol):
    """What to balance: it knows its curves for the tasks of a code."""

    def on(self, tasks: Tasks) -> Curve:
        """The scores of the workers' assignments."""


@dataclass(frozen=True)
class Moments:
    """E[T] + gamma E[T^2] (eq. 3); gamma = 0 is the mean alone."""

    gamma: float = 1.0

    def __post_init__(self) -> None:
        quantity("gamma", self.gamma, "give a weight in 1/second, 0 for the mean alone", least=0.0)

    def on(self, tasks: Tasks) -> "MomentsCurve":
        """a = c + gamma c^2, b = m + 2 gamma c m + gamma sigma^2 and gamma m^2 (opt2); shared chunks add to c."""
        m, s, c, gamma = tasks.pace, tasks.std, tasks.ready, self.gamma
        return MomentsCurve(start_scores(tasks, gamma), m + gamma * (2 * c * m + s**2), gamma * m**2)


@dataclass(frozen=True)
class MomentsCurve:
    """a + b kappa + gamma m^2 kappa^2."""

    start: Array
    slope: Array
    bend: Array

    def rise(self, loads: Array) -> Array:
        return loads * (self.slope + self.bend * loads)

    def loads(self, rise: Array) -> tuple[Array, Array]:
        """Theorem 2's root, in the conjugate form that keeps its digits when gamma m^2 is small."""
        x = np.maximum(rise, 0.0)
        root = np.sqrt(self.slope**2 + 4 * self.bend * x)
        return 2 * x / (self.slope + root), (rise > 0) / root

    def of(self, workers: BoolArray) -> Curve:
        return MomentsCurve(self.start[workers], self.slope[workers], self.bend[workers])


@dataclass(frozen=True)
class Quantile:
    """The time by which an assignment is done with probability `level`.

    For real loads the sum of kappa tasks is taken as the gamma law of its mean and variance: exact for gamma tasks.
    """

    level: float = 0.9

    def __post_init__(self) -> None:
        finite("quantile", self.level, "give a probability such as 0.9", above=0.0)
        if self.level >= 1:
            raise BadInput("quantile", self.level, "must be below 1", "give a probability such as 0.9")

    def on(self, tasks: Tasks) -> Curve:
        return QuantileCurve(self.level, tasks, tasks.comm, tasks.mean, tasks.std**2)


@dataclass(frozen=True)
class QuantileCurve:
    """c_p + the quantile of a gamma law of shape k m^2/sigma^2 and scale sigma^2/m, k = kappa + shared_chunks."""

    level: float
    tasks: Tasks
    comm: Array
    mean: Array
    var: Array

    @property
    def start(self) -> Array:
        return self.comm + self._quantile(self.tasks.shared_chunks)

    def rise(self, loads: Array) -> Array:
        together = self._quantile(loads + self.tasks.shared_chunks)
        return together - self._quantile(self.tasks.shared_chunks) + loads * self.tasks.seconds_per_task

    def _quantile(self, count: Array | int) -> Array:
        m, v = self.mean, self.var
        with np.errstate(divide="ignore", invalid="ignore"):
            random = np.asarray(special.gammaincinv(count * m**2 / v, self.level) * (v / m))
        # Without spread, or with so little that the inverse fails, it is the mean.
        return np.where((v > 1e-12 * m**2) & np.isfinite(random) & (count > 0), random, count * m)

    def loads(self, rise: Array) -> tuple[Array, Array]:
        """By bisection between 0 and a load whose quantile is beyond; the derivative by a small step."""
        x = np.maximum(rise, 0.0)
        low, high = np.zeros_like(x), x / self.mean + 1
        while (short := self.rise(high) < x).any():
            high = np.where(short, 2 * high, high)
        for _ in range(60):
            middle = (low + high) / 2
            below = self.rise(middle) < x
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        kappa = np.where(x > 0, high, 0.0)
        step = 1e-4 * kappa + 1e-12
        slope = (self.rise(kappa + step) - self.rise(kappa)) / step
        return kappa, (x > 0) / np.maximum(slope, 1e-300)

    def of(self, workers: BoolArray) -> Curve:
        return replace(self, comm=self.comm[workers], mean=self.mean[workers], var=self.var[workers])
