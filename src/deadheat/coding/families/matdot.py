"""MatDot codes: the sum of products of blocks, from few and large results.

With orthonormal Chebyshev polynomials the wish is the integral of the product [2], which real points bear well.

[1] Dutta, Fahim, Haddadpour, Jeong, Cadambe, Grover, On the optimal recovery threshold of coded matrix multiplication,
2020. [2] Fahim, Cadambe, Numerically stable polynomially coded computing, 2019.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from deadheat.coding.assemble import only
from deadheat.coding.certification import LIMIT, gate
from deadheat.coding.cost import Cost
from deadheat.coding.generator_matrices import chebyshev_points, chebyshev_rows
from deadheat.coding.linear_code import LinearCode
from deadheat.coding.product_blocks import MOST_SPARE, blocks_of
from deadheat.coding.shape import Family, Shape, at_least


def matdot(inner: int, total: int, *, limit: float = LIMIT) -> LinearCode:
    """A in `inner` blocks of columns, B of rows; any K = 2 inner - 1 of n results give the sum of their products."""
    (p,) = blocks_of(inner=inner)
    n = at_least(total, 2 * p - 1, "2 inner - 1")
    points = chebyshev_points(n)
    a = chebyshev_rows(points, p)
    code = LinearCode(
        "matdot", "product", chebyshev_rows(points, 2 * p - 1), np.eye(1, 2 * p - 1), 2 * p - 1,
        _cost(p, n), encoders=(a, a), assemble=only,
    )  # fmt: skip
    gate(code, limit, "take fewer tasks to spare, or codes.polynomial")
    return code


def _cost(inner: int, total: int) -> Cost:
    return Cost(1 / inner, 1 / inner, result=1.0, encode=total, decode=2 * inner - 1)


def _shapes(kind: str, critical: int, total: int) -> Iterator[Shape]:
    inner, spare = (critical + 1) // 2, total - critical
    if spare <= MOST_SPARE:
        n = 2 * inner - 1 + spare
        cost = _cost(inner, n)
        yield Shape("matdot", kind, n - spare, n, cost, partial(matdot, inner, n), {"inner": inner})


FAMILY = Family(
    "matdot", ("product",), "A sum of products of blocks", "Dutta et al. 2020", "1/p", "2 - 1/p", "any K = 2p - 1",
    "results as large as the product; Chebyshev points, permuted, gated", _shapes,
)  # fmt: skip
