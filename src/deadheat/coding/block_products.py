"""What the codes for matrix products share: the grid of blocks, and mixtures of blocks of both matrices.

C = A B with A cut in m x p blocks, B in p x n. A task multiplies one mixture of the blocks of A with one of B:
    polynomial  p = 1: all m n products of blocks, K = m n
    MatDot      m = n = 1: sum_j A_j B_j, K = 2p - 1
    PolyDot     m = n = t, p = s: K = t^2 (2s - 1)
    entangled   K = p m n + p - 1
They are defined by powers of x at n points, which lose their digits where the points are real and K is not small
(tests/coding/test_guard.py). Only which mixtures are independent matters, so where the target allows it others take
their place (docs/decisions/0009).
"""

import math
from dataclasses import dataclass

from deadheat.coding.cost import Cost
from deadheat.errors import whole
from deadheat.model import AnyArray

MOST_SPARE = 5  # tasks to spare that the tuner tries: Chebyshev points keep seven digits (test_code_costs.py)


@dataclass(frozen=True)
class Grid:
    """Makes one matrix of rows x columns blocks that come one after another, row by row."""

    rows: int
    columns: int

    def __call__(self, target: AnyArray) -> AnyArray:
        height, width = target.shape[1:]
        blocks = target.reshape(self.rows, self.columns, height, width)
        return blocks.transpose(0, 2, 1, 3).reshape(self.rows * height, self.columns * width)


def sides(parts: int) -> tuple[int, int]:
    """The most square p x q = K."""
    left = next(p for p in range(math.isqrt(parts), 0, -1) if parts % p == 0)
    return left, parts // left


def each_with_each(a: AnyArray, b: AnyArray) -> AnyArray:
    """Row by row, all products of an entry of a with one of b (Khatri and Rao)."""
    return (a[:, :, None] * b[:, None, :]).reshape(len(a), -1)


def block_cost(
    inner: int, left: int, right: int, *, critical: int, total: int, plain: int = 0, is_complex: bool = False
) -> Cost:
    """Cut A in left x inner blocks, B in inner x right; plain tasks need no mixtures, and a complex product is four."""
    times, mixed = 2 if is_complex else 1, total - plain
    storage = times * (1 / left + 1 / right) / (2 * inner)
    return Cost(times**2 / (inner * left * right), storage, result=times / (left * right), encode=times * mixed,
                decode=times**2 * min(mixed, critical), plain=plain)  # fmt: skip


def blocks_of(**counts: object) -> list[int]:
    """Numbers of blocks, checked."""
    return [whole(name, value, "give the number of blocks") for name, value in counts.items()]
