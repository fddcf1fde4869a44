"""MatDot codes: the sum of products of blocks, from few and large results.

With orthonormal Chebyshev polynomials the target is the integral of the product [2], which real points bear well.

[1] Dutta, Fahim, Haddadpour, Jeong, Cadambe, Grover, On the optimal recovery threshold of coded matrix multiplication,
2020. [2] Fahim, Cadambe, Numerically stable polynomially coded computing, 2019.
"""

from functools import partial

import numpy as np

from deadheat.coding.block_products import MOST_SPARE, block_cost, blocks_of
from deadheat.coding.certification import LIMIT, gate
from deadheat.coding.code import only_row
from deadheat.coding.generator_matrices import chebyshev_points, chebyshev_rows
from deadheat.coding.linear_code import LinearCode
from deadheat.coding.shape import Family, Shape, Shapes, at_least


def matdot(inner: int, total: int, *, limit: float = LIMIT) -> LinearCode:
    """Cut A in `inner` blocks of columns, B of rows; any K = 2 inner - 1 of n results give the sum of the products."""
    (p,) = blocks_of(inner=inner)
    K = 2 * p - 1
    n = at_least(total, K, "2 inner - 1")
    points = chebyshev_points(n)
    a = chebyshev_rows(points, p)
    code = LinearCode("matdot", "product", rows=chebyshev_rows(points, K), target=np.eye(1, K), critical=K,
                      cost=block_cost(p, 1, 1, critical=K, total=n), encoders=(a, a), assemble=only_row)  # fmt: skip
    return gate(code, limit, "take fewer tasks to spare, or codes.polynomial")


def _shapes(kind: str, critical: int, total: int) -> Shapes:
    inner, spare = (critical + 1) // 2, total - critical
    K = 2 * inner - 1
    if spare <= MOST_SPARE:
        cost = block_cost(inner, 1, 1, critical=K, total=K + spare)
        yield Shape("matdot", kind, K, K + spare, cost, partial(matdot, inner, K + spare), {"inner": inner})


FAMILY = Family("matdot", ("product",), title="A sum of products of blocks", source="Dutta et al. 2020", work="1/p",
                factor="2 - 1/p", enough="any K = 2p - 1", shapes=_shapes,
                notes="results as large as the product; Chebyshev points, permuted, gated")  # fmt: skip
