"""Intervals: delays of one run are correlated, so certainty comes from independent replications."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadheat.model import special


@dataclass(frozen=True)
class Interval:
    """A mean with the ends of its 95 % interval (Student's, over replications); endless where there is but one."""

    mean: float
    low: float
    high: float

    @property
    def precision(self) -> float:
        """Half the interval's width, as a part of the mean."""
        return (self.high - self.low) / 2 / abs(self.mean) if self.mean else math.inf

    def holds(self, value: float) -> bool:
        """Whether a value lies inside."""
        return self.low <= value <= self.high


def interval(values: Sequence[float] | NDArray[np.float64]) -> Interval:
    """The 95 % interval of the mean of independent values."""
    numbers = np.asarray(values, float)
    mean, count = float(numbers.mean()), numbers.size
    if count < 2:
        return Interval(mean, -math.inf, math.inf)
    half = float(special.stdtrit(count - 1, 0.975)) * float(numbers.std(ddof=1)) / math.sqrt(count)
    return Interval(mean, mean - half, mean + half)
