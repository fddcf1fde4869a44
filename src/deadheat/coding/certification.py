"""How far a code may be trusted: what its recipes do to rounding errors, tried on patterns of missing results."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from deadheat.coding.code import Code
from deadheat.coding.decoding_errors import IllConditioned
from deadheat.coding.linear_code import LinearCode
from deadheat.coding.precision import DType, most_gain
from deadheat.errors import finite, whole

ALL_UPTO = 5000  # patterns that are all tried rather than sampled
LIMIT = 1e7  # of the gain of a gated code: seven of sixteen digits
PATTERNS = 8  # of either kind, that tell what is usual
AFFORDABLE = 4_000_000  # K^2 times patterns that a gate tries, so that building a code takes a second or two


@dataclass(frozen=True)
class Certificate:
    """How many patterns were tried, and the worst of them."""

    tried: int
    exhaustive: bool
    gain: float  # by how much rounding errors of the results grow at worst
    median_gain: float
    residual: float
    missed: int  # patterns of K results that did not determine the iteration: none, where any K suffice
    worst: tuple[int, ...]

    def digits(self, dtype: type[np.floating] | str = np.float64) -> float:
        """The digits that are left in the worst case, in that precision."""
        worst = max(self.gain * float(np.finfo(dtype).eps), 1e-300)
        return max(-math.log10(worst), 0.0) if math.isfinite(self.gain) else 0.0


def certify(code: Code, samples: int = 500, seed: int = 0, *, stride: int = 1) -> Certificate:
    """Try all patterns of K results where these are few, else every lost block and `samples` patterns at random.

    Few are 5000 for 500 samples or more. A lost block is n - K tasks in a row, cyclically, as one slow worker takes
    away; every `stride`-th is tried.
    """
    samples = whole("samples", samples, "give the number of random patterns")
    stride = whole("stride", stride, "give 1 to try every lost block")
    everything = math.comb(code.total, code.critical) <= max(samples, ALL_UPTO if samples >= 500 else 0)
    every = combinations(range(code.total), code.critical)
    patterns = list(every if everything else some_patterns(code, samples, seed, stride))
    recipes = ((done, code.recipe(done)) for done in patterns)
    judged = [(recipe.gain, recipe.residual, done) for done, recipe in recipes if recipe is not None]
    gain, _, worst = max(judged, key=lambda judgement: judgement[0], default=(math.inf, 0.0, ()))
    return Certificate(tried=len(patterns), exhaustive=everything, gain=gain, worst=worst,
                       median_gain=float(np.median([gain for gain, _, _ in judged])) if judged else math.inf,
                       residual=max((residual for _, residual, _ in judged), default=0.0),
                       missed=len(patterns) - len(judged))  # fmt: skip


def carries(code: Code, dtype: DType) -> bool:
    """Whether results of that precision can be decoded as a rule: at the usual K of them, and where all n are in.

    Where they cannot, the data has to be coded, and the work done, in double precision.
    """
    few = some_patterns(code, PATTERNS, stride=max(code.total // PATTERNS, 1))
    recipes = [recipe for recipe in map(code.recipe, few) if recipe is not None]
    everything = code.recipe(range(code.total))
    growths = [recipe.growth for recipe in recipes]
    usual, least = np.median(growths) if growths else 1.0, everything.growth if everything is not None else math.inf
    return max(float(usual), least) <= most_gain(dtype)


def affordable(code: Code) -> int:
    """How many patterns can be tried in a second or so."""
    return int(np.clip(AFFORDABLE // code.critical**2, 8, 200))


def gate(code: LinearCode, limit: float, remedy: str) -> LinearCode:
    """The code, or IllConditioned where one of some lost blocks and patterns makes rounding errors grow beyond it."""
    if limit != math.inf:
        finite("limit", limit, "give by how much rounding errors may grow, such as 1e7", above=0.0)
    tried = affordable(code)
    certificate = certify(code, tried, stride=max(2 * code.total // tried, 1))
    if certificate.gain > limit:
        raise IllConditioned(code.family, certificate.worst, certificate.gain, limit, remedy)
    return code


def some_patterns(code: Code, samples: int, seed: int = 0, stride: int = 1) -> Iterator[tuple[int, ...]]:
    """What is left of the results after each lost block, and so many sets of K at random."""
    n, K = code.total, code.critical
    for first in range(0, n if n > K else 1, stride):
        yield tuple(sorted(((first + np.arange(K)) % n).tolist()))
    rng = np.random.default_rng(seed)
    for _ in range(samples):
        yield tuple(sorted(rng.choice(n, K, replace=False).tolist()))
