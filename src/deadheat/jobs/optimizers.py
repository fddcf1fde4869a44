"""Steps of the master: how the weights go on from a gradient.

A step remembers what it needs and never changes what it remembers in place: a copy of it goes on from where it was.
"""

import math
from typing import Protocol

import numpy as np

from deadheat.errors import BadInput, finite, nearest, whole
from deadheat.model import Array


class Step(Protocol):
    """Gives the next weights from the gradient and the loss at these."""

    def __call__(self, weights: Array, gradient: Array, loss: float) -> Array: ...


class Descent:
    """Against the gradient, with momentum where asked for."""

    def __init__(self, rate: float = 0.1, momentum: float = 0.0) -> None:
        self.rate = finite("rate", rate, "give the length of a step, above 0", above=0.0)
        self.momentum = finite("momentum", momentum, "give a part from 0 to 1", least=0.0)
        if self.momentum >= 1:
            raise BadInput("momentum", momentum, "never slows down", "give a part below 1, such as 0.9")
        self._speed: Array | None = None

    def __call__(self, weights: Array, gradient: Array, loss: float) -> Array:
        self._speed = gradient if self._speed is None else self.momentum * self._speed + gradient
        return weights - self.rate * self._speed


class Adam:
    """Kingma and Ba, 2015."""

    def __init__(self, rate: float = 0.01, mean: float = 0.9, square: float = 0.999) -> None:
        self.rate = finite("rate", rate, "give the length of a step, above 0", above=0.0)
        self.mean, self.square = mean, square
        self._first: Array | float = 0.0
        self._second: Array | float = 0.0
        self._count = 0

    def __call__(self, weights: Array, gradient: Array, loss: float) -> Array:
        self._count += 1
        self._first = self.mean * self._first + (1 - self.mean) * gradient
        self._second = self.square * self._second + (1 - self.square) * gradient**2
        first = self._first / (1 - self.mean**self._count)
        second = self._second / (1 - self.square**self._count)
        return weights - self.rate * first / (np.sqrt(second) + 1e-8)


class Lbfgs:
    """Limited-memory BFGS (Nocedal, 1980), one gradient per step.

    A step that made the loss worse is taken back and halved, so that no pass over the data is for a line search alone.
    """

    def __init__(self, memory: int = 10, rate: float = 1.0) -> None:
        self.memory = whole("memory", memory, "give how many steps to remember")
        self.rate = finite("rate", rate, "give the length of the first step, above 0", above=0.0)
        self._pairs: tuple[tuple[Array, Array], ...] = ()
        self._last: tuple[Array, Array, float] | None = None  # weights, gradient and loss that were accepted
        self._direction: Array | None = None
        self._part = 1.0

    def __call__(self, weights: Array, gradient: Array, loss: float) -> Array:
        if self._last is not None and self._direction is not None:
            before, old, best = self._last
            drop = float(np.vdot(old, self._direction))
            if not loss <= best + 1e-4 * self._part * drop and self._part > 1e-10:
                self._part /= 2
                return before + self._part * self._direction
            moved, turned = weights - before, gradient - old
            if np.vdot(moved, turned) > 1e-12 * np.linalg.norm(moved) * np.linalg.norm(turned):
                self._pairs = (*self._pairs, (moved, turned))[-self.memory :]
        self._last, self._part = (weights, gradient, loss), 1.0
        self._direction = -self._inverse(gradient)
        return weights + self._direction

    def _inverse(self, gradient: Array) -> Array:
        """The inverse Hessian, as far as it is known, times the gradient: two loops over the pairs."""
        product, parts = gradient, []
        for moved, turned in reversed(self._pairs):
            parts.append(np.vdot(moved, product) / np.vdot(moved, turned))
            product = product - parts[-1] * turned
        if self._pairs:
            moved, turned = self._pairs[-1]
            product = product * (np.vdot(moved, turned) / np.vdot(turned, turned))
        else:
            product = product * (self.rate / max(float(np.linalg.norm(gradient)), math.ulp(1.0)))
        for (moved, turned), part in zip(self._pairs, reversed(parts), strict=True):
            product = product + (part - np.vdot(turned, product) / np.vdot(moved, turned)) * moved
        return np.asarray(product)


STEPS = {"descent": Descent, "adam": Adam, "lbfgs": Lbfgs}


def step_named(name: object, rate: float | None = None, momentum: float = 0.0) -> Step:
    """A step by its name, with its usual rate where none is given."""
    if name not in STEPS:
        raise BadInput("step", name, "no such step", nearest(str(name), STEPS))
    if momentum and name != "descent":
        raise BadInput("momentum", momentum, f"{name} has its own", 'use step="descent", or leave it out')
    settings = {} if rate is None else {"rate": rate}
    step: Step = STEPS[str(name)](**settings | ({"momentum": momentum} if momentum else {}))
    return step
