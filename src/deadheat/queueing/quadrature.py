"""Integrals of falling functions that are dear to evaluate: adaptive, many points and several functions at a time."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from deadheat.model import Array

NODES, WEIGHTS = (np.asarray(part) for part in np.polynomial.legendre.leggauss(10))
ROUNDS = 40
MOST_POINTS = 20_000  # a function that needs more is a staircase; the error says so


class Integrals(NamedTuple):
    """The integrals of S(t) and of 2 (t - edges[0]) S(t), and how far off they may be: one number for each function."""

    first: Array
    second: Array
    first_error: Array
    second_error: Array


def integrate(function: Callable[[Array], Array], edges: Array, tolerance: float) -> Integrals:
    """Integrate over the panels between the edges, halving those whose halves disagree with the whole.

    function: its values at given times along the last axis. tolerance: of each integral, relative to the largest.
    """
    origin = float(edges[0])

    def panels(left: Array, right: Array) -> Array:
        """Gauss sums of both integrands on each panel: shape (2, ..., panels)."""
        half = (right - left) / 2
        t = (left + half)[:, None] + half[:, None] * NODES
        values = function(t.ravel())
        parts = values.reshape(*values.shape[:-1], *t.shape) * (WEIGHTS * half[:, None])
        return np.stack([parts.sum(-1), (2 * (t - origin) * parts).sum(-1)])

    left, right = edges[:-1], edges[1:]
    whole = panels(left, right)
    sums, errors = np.zeros(whole.shape[:-1]), np.zeros(whole.shape[:-1])
    points = left.size * NODES.size
    for _ in range(ROUNDS):
        middle = (left + right) / 2
        halves = panels(np.concatenate([left, middle]), np.concatenate([middle, right]))
        points += 2 * left.size * NODES.size
        finer = halves[..., : left.size] + halves[..., left.size :]
        gap = np.abs(finer - whole)
        scale = (sums + finer.sum(-1)).reshape(2, -1).max(axis=1)
        worst = gap.reshape(2, -1, left.size).max(axis=1)
        bad = (worst > tolerance * scale[:, None]).any(0) & (middle > left) & (middle < right)
        if points > MOST_POINTS:
            bad[:] = False
        sums += finer[..., ~bad].sum(-1)
        errors += gap[..., ~bad].sum(-1)
        if not bad.any():
            return Integrals(*sums, *errors)
        whole = halves[..., np.concatenate([bad, bad])]
        left, right = np.concatenate([left[bad], middle[bad]]), np.concatenate([middle[bad], right[bad]])
    return Integrals(*(sums + whole.sum(-1)), *(errors + np.abs(whole).sum(-1)))
