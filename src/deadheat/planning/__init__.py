"""Who gets how much: splits of an iteration's tasks, and the choice of a code by its mismatch."""

from deadheat.planning.balance import equalise
from deadheat.planning.choice import choose
from deadheat.planning.rounding import apportion
from deadheat.planning.scores import Moments, Quantile, Score
from deadheat.planning.splits import caps, in_ratio, split, uniform
from deadheat.planning.spread import mismatch

__all__ = [
    "Moments",
    "Quantile",
    "Score",
    "apportion",
    "caps",
    "choose",
    "equalise",
    "in_ratio",
    "mismatch",
    "split",
    "uniform",
]
