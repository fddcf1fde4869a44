"""PolyDot codes: between MatDot (inner blocks, Chebyshev polynomials) and polynomial (outer ones, Gaussian mixtures).

Dutta, Fahim, Haddadpour, Jeong, Cadambe, Grover, On the optimal recovery threshold of coded matrix multiplication,
2020.
"""

import math
from functools import partial

import numpy as np

from deadheat.coding.block_products import MOST_SPARE, Grid, block_cost, blocks_of, each_with_each
from deadheat.coding.certification import LIMIT, gate
from deadheat.coding.generator_matrices import chebyshev_points, chebyshev_rows, gaussian
from deadheat.coding.linear_code import LinearCode
from deadheat.coding.shape import Family, Shape, Shapes, at_least


def polydot(inner: int, outer: int, total: int, *, limit: float = LIMIT, seed: int = 0) -> LinearCode:
    """Cut A in outer x inner blocks, B in inner x outer; any K = outer^2 (2 inner - 1) of n results give A B."""
    s, t = blocks_of(inner=inner, outer=outer)
    K = t * t * (2 * s - 1)
    n = at_least(total, K, "outer^2 (2 inner - 1)")
    points = chebyshev_points(n)
    inside, outside = chebyshev_rows(points, s), chebyshev_rows(points, 2 * s - 1)
    a, b = (math.sqrt(t) * gaussian(n, t, seed + i) for i in (0, 1))
    code = LinearCode("polydot", "product", rows=each_with_each(each_with_each(a, b), outside), assemble=Grid(t, t),
                      target=np.kron(np.eye(t * t), np.eye(1, 2 * s - 1)), critical=K,
                      cost=block_cost(s, t, t, critical=K, total=n),
                      encoders=(each_with_each(a, inside), each_with_each(inside, b)))  # fmt: skip
    return gate(code, limit, "take fewer tasks to spare, or codes.polynomial")


def _shapes(kind: str, critical: int, total: int) -> Shapes:
    spare = total - critical
    for outer in (2, 3, 4) if spare <= MOST_SPARE else ():
        inner = max(round((critical / outer**2 + 1) / 2), 2)
        K = outer**2 * (2 * inner - 1)
        yield Shape("polydot", kind, K, K + spare, cost=block_cost(inner, outer, outer, critical=K, total=K + spare),
                    build=partial(polydot, inner, outer, K + spare),
                    settings={"inner": inner, "outer": outer})  # fmt: skip


FAMILY = Family("polydot", ("product",), title="Between MatDot and polynomial", source="Dutta et al. 2020",
                work="1/(s t^2)", factor="2 - 1/s", enough="any K = t^2 (2s - 1)",
                notes="Chebyshev points and Gaussian mixtures, gated", shapes=_shapes)  # fmt: skip
