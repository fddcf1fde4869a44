"""Integrals of a falling function that is dear to evaluate: adaptive, many points at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
NODES, WEIGHTS = (np.asarray(part) for part in np.polynomial.legendre.leggauss(10))
ROUNDS = 40
MOST_POINTS = 20_000  # a function that needs more is a staircase; the error says so


class Integrals(NamedTuple):
    """The integrals of S(t) and of 2 (t - origin) S(t), and how far off they may be."""

    first: float
    second: float
    first_error: float
    second_error: float


def integrate(function: Callable[[Array], Array], edges: Array, tolerance: float) -> Integrals:
    """Integrate over the panels between the edges, halving those whose halves disagree with the whole.

    tolerance: of each integral, relative to it. The second integral is weighted by 2 (t - edges[0]).
    """
    origin = float(edges[0])

    def panels(left: Array, right: Array) -> Array:
        """Gauss sums of both integrands on each panel: shape (2, panels)."""
        half = (right - left) / 2
        t = (left + half)[:, None] + half[:, None] * NODES
        value = function(t.ravel()).reshape(t.shape) * WEIGHTS * half[:, None]
        return np.stack([value.sum(1), (2 * (t - origin) * value).sum(1)])

    left, right = edges[:-1], edges[1:]
    whole = panels(left, right)
    sums, errors, points = np.zeros(2), np.zeros(2), whole.shape[1] * NODES.size
    for _ in range(ROUNDS):
        middle = (left + right) / 2
        halves = panels(np.concatenate([left, middle]), np.concatenate([middle, right]))
        points += halves.shape[1] * NODES.size
        finer = halves[:, : left.size] + halves[:, left.size :]
        gap = np.abs(finer - whole)
        scale = sums + finer.sum(1)
        bad = (gap > tolerance * scale[:, None]).any(0) & (middle > left) & (middle < right)
        if points > MOST_POINTS:
            bad[:] = False
        sums += finer[:, ~bad].sum(1)
        errors += gap[:, ~bad].sum(1)
        if not bad.any():
            return Integrals(*map(float, (*sums, *errors)))
        both = np.concatenate([bad, bad])
        left, right = np.concatenate([left[bad], middle[bad]]), np.concatenate([middle[bad], right[bad]])
        whole = halves[:, both]
    sums += whole.sum(1)
    return Integrals(*map(float, (*sums, *(errors + np.abs(whole).sum(1)))))
