"""PolyDot codes: between MatDot (inner blocks, Chebyshev polynomials) and polynomial (outer ones, Gaussian mixtures).

Dutta, Fahim, Haddadpour, Jeong, Cadambe, Grover, On the optimal recovery threshold of coded matrix multiplication,
2020.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from deadheat.coding.assemble import Grid
from deadheat.coding.certification import LIMIT, gate
from deadheat.coding.cost import Cost
from deadheat.coding.generator_matrices import chebyshev_points, chebyshev_rows, gaussian
from deadheat.coding.linear_code import LinearCode
from deadheat.coding.product_blocks import MOST_SPARE, blocks_of, each_with_each
from deadheat.coding.shape import Family, Shape, at_least


def polydot(inner: int, outer: int, total: int, *, limit: float = LIMIT, seed: int = 0) -> LinearCode:
    """A in outer x inner blocks, B in inner x outer; any K = outer^2 (2 inner - 1) of n results give A B."""
    s, t = blocks_of(inner=inner, outer=outer)
    K = t * t * (2 * s - 1)
    n = at_least(total, K, "outer^2 (2 inner - 1)")
    points = chebyshev_points(n)
    inside, outside = chebyshev_rows(points, s), chebyshev_rows(points, 2 * s - 1)
    a, b = (math.sqrt(t) * gaussian(n, t, seed + i) for i in (0, 1))
    rows = each_with_each(each_with_each(a, b), outside)
    target = np.kron(np.eye(t * t), np.eye(1, 2 * s - 1))
    encoders = (each_with_each(a, inside), each_with_each(inside, b))
    code = LinearCode("polydot", "product", rows, target, K, _cost(s, t, n), encoders=encoders, assemble=Grid(t, t))
    gate(code, limit, "take fewer tasks to spare, or codes.polynomial")
    return code


def _cost(inner: int, outer: int, total: int) -> Cost:
    blocks = outer * outer
    K = blocks * (2 * inner - 1)
    return Cost(1 / (inner * blocks), 1 / (inner * outer), result=1 / blocks, encode=total, decode=K)


def _shapes(kind: str, critical: int, total: int) -> Iterator[Shape]:
    spare = total - critical
    for outer in (2, 3, 4):
        inner = max(round((critical / outer**2 + 1) / 2), 2)
        n = outer**2 * (2 * inner - 1) + spare
        if spare <= MOST_SPARE:
            cost, build = _cost(inner, outer, n), partial(polydot, inner, outer, n)
            yield Shape("polydot", kind, n - spare, n, cost, build, {"inner": inner, "outer": outer})


FAMILY = Family(
    "polydot", ("product",), "Between MatDot and polynomial", "Dutta et al. 2020", "1/(s t^2)", "2 - 1/s",
    "any K = t^2 (2s - 1)", "Chebyshev points and Gaussian mixtures, gated", _shapes,
)  # fmt: skip
