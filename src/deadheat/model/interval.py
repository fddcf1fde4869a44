"""An interval: a number with the ends of its 95 % range."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.errors import BadInput
from deadheat.model import special
from deadheat.model.arrays import Array


@dataclass(frozen=True)
class Interval:
    """A mean and the ends of a 95 % interval: of that mean, or of what one run shows."""

    mean: float
    low: float
    high: float

    @property
    def precision(self) -> float:
        """Half the interval's width, as a part of the mean."""
        return (self.high - self.low) / 2 / abs(self.mean) if self.mean else math.inf

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high


def interval(values: Sequence[float] | Array) -> Interval:
    """Student's 95 % interval of the mean of independent values, such as means of runs (delays of one run are not)."""
    try:
        numbers = np.asarray(values, float).ravel()
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if not numbers.size:
        raise BadInput("values", values, "not a list of numbers", "give at least one")
    mean, count = float(numbers.mean()), numbers.size
    if count < 2:
        return Interval(mean, -math.inf, math.inf)
    half = float(special.stdtrit(count - 1, 0.975)) * float(numbers.std(ddof=1)) / math.sqrt(count)
    return Interval(mean, mean - half, mean + half)
