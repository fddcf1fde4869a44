"""Polynomial codes: all products of blocks of two matrices.

Plain blocks, and parities that are products of Gaussian mixtures [2] instead of powers of x [1].

[1] Yu, Maddah-Ali, Avestimehr, Polynomial codes, NIPS 2017.
[2] Subramaniam, Heidarzadeh, Narayanan, Random Khatri-Rao-product codes, 2019.
"""

import math
from functools import partial

import numpy as np

from deadheat.coding.block_products import Grid, block_cost, blocks_of, each_with_each, sides
from deadheat.coding.generator_matrices import gaussian
from deadheat.coding.linear_code import LinearCode
from deadheat.coding.shape import Family, Shape, Shapes, at_least


def polynomial(left: int, right: int, total: int, *, seed: int = 0) -> LinearCode:
    """Cut A in `left` blocks of rows, B in `right` blocks of columns; any K = left * right of n results give A B."""
    m, q = blocks_of(left=left, right=right)
    K = m * q
    n = at_least(total, K, "left * right")
    a = np.vstack([np.repeat(np.eye(m), q, axis=0), math.sqrt(m) * gaussian(n - K, m, seed)])
    b = np.vstack([np.tile(np.eye(q), (m, 1)), math.sqrt(q) * gaussian(n - K, q, seed + 1)])
    cost = block_cost(1, m, q, critical=K, total=n, plain=K)
    return LinearCode("polynomial", "product", rows=each_with_each(a, b), target=np.eye(K), critical=K, cost=cost,
                      encoders=(a, b), assemble=Grid(m, q))  # fmt: skip


def _shapes(kind: str, critical: int, total: int) -> Shapes:
    left, right = sides(critical)
    cost = block_cost(1, left, right, critical=critical, total=total, plain=critical)
    build, settings = partial(polynomial, left, right, total), {"left": left, "right": right}
    yield Shape("polynomial", kind, critical, total, cost, build, settings)


FAMILY = Family("polynomial", ("product",), title="All products of blocks", source="Yu et al. 2017", work="1/(pq)",
                factor="1", enough="any K = pq", shapes=_shapes,
                notes="plain blocks and Gaussian parities")  # fmt: skip
