"""Polynomial codes: all products of blocks of two matrices.

Plain blocks, and parities that are products of Gaussian mixtures [2] instead of powers of x [1].

[1] Yu, Maddah-Ali, Avestimehr, Polynomial codes, NIPS 2017.
[2] Subramaniam, Heidarzadeh, Narayanan, Random Khatri-Rao-product codes, 2019.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from deadheat.coding.assemble import Grid
from deadheat.coding.cost import Cost
from deadheat.coding.families.uncoded import sides
from deadheat.coding.generator_matrices import gaussian
from deadheat.coding.linear_code import LinearCode
from deadheat.coding.product_blocks import blocks_of, each_with_each
from deadheat.coding.shape import Family, Shape, at_least


def polynomial(left: int, right: int, total: int, *, seed: int = 0) -> LinearCode:
    """A in `left` blocks of rows, B in `right` blocks of columns; any K = left * right of n results give A B."""
    m, q = blocks_of(left=left, right=right)
    n = at_least(total, m * q, "left * right")
    spare = n - m * q
    a = np.vstack([np.repeat(np.eye(m), q, axis=0), math.sqrt(m) * gaussian(spare, m, seed)])
    b = np.vstack([np.tile(np.eye(q), (m, 1)), math.sqrt(q) * gaussian(spare, q, seed + 1)])
    rows = each_with_each(a, b)
    cost = _cost(m, q, n)
    return LinearCode("polynomial", "product", rows, np.eye(m * q), m * q, cost, encoders=(a, b), assemble=Grid(m, q))


def _cost(left: int, right: int, total: int) -> Cost:
    K = left * right
    spare = total - K
    storage = (1 / left + 1 / right) / 2
    return Cost(1 / K, storage, result=1 / K, encode=spare, decode=min(spare, K), plain=K)


def _shapes(kind: str, critical: int, total: int) -> Iterator[Shape]:
    left, right = sides(critical)
    cost = _cost(left, right, total)
    build = partial(polynomial, left, right, total)
    yield Shape("polynomial", kind, critical, total, cost, build, {"left": left, "right": right})


FAMILY = Family(
    "polynomial", ("product",), "All products of blocks", "Yu et al. 2017", "1/(pq)", "1", "any K = pq",
    "plain blocks and Gaussian parities; real Vandermonde is useless from K = 50", _shapes,
)  # fmt: skip
