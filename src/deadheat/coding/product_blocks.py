"""What the codes for matrix products share.

C = A B with A cut in m x p blocks, B in p x n. A task multiplies one mixture of the blocks of A with one of B:
    polynomial  p = 1: all m n products of blocks, K = m n
    MatDot      m = n = 1: sum_j A_j B_j, K = 2p - 1
    PolyDot     m = n = t, p = s: K = t^2 (2s - 1)
    entangled   K = p m n + p - 1
They are defined by powers of x at n points, which lose all digits from K = 20 to 50 on where the points are real. Only
which mixtures are independent matters, so where the wish allows it others take their place (docs/decisions/0009).
"""

from __future__ import annotations

from deadheat.errors import whole
from deadheat.model import AnyArray

MOST_SPARE = 5  # tasks to spare up to which permuted Chebyshev points keep seven digits: what the tuner tries


def each_with_each(a: AnyArray, b: AnyArray) -> AnyArray:
    """Row by row, all products of an entry of a with one of b (Khatri and Rao)."""
    return (a[:, :, None] * b[:, None, :]).reshape(len(a), -1)


def blocks_of(**given: object) -> list[int]:
    """Numbers of blocks, checked."""
    return [whole(name, value, "give the number of blocks") for name, value in given.items()]
