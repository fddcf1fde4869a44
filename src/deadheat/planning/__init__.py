"""Who gets how much: splits of an iteration's tasks, and the choice of a code by its mismatch."""

from deadheat.planning.balance import equalise
from deadheat.planning.choice import choose
from deadheat.planning.equal_shares import uniform
from deadheat.planning.hcmm_loads import hcmm, hcmm_redundancy
from deadheat.planning.ratios import caps, in_ratio
from deadheat.planning.rounding import apportion
from deadheat.planning.scores import Moments, Quantile, Score
from deadheat.planning.speed_shares import proportional
from deadheat.planning.splits import split
from deadheat.planning.spread import mismatch

__all__ = [
    "Moments",
    "Quantile",
    "Score",
    "apportion",
    "caps",
    "choose",
    "equalise",
    "hcmm",
    "hcmm_redundancy",
    "in_ratio",
    "mismatch",
    "proportional",
    "split",
    "uniform",
]
