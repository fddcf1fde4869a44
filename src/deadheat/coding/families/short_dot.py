"""Short-Dot: the rows of a wide matrix are mixed so that every task is a short dot product.

Between the MDS code (M = K: full rows) and the gradient code (M = 1) it trades the length of a task against the number
of results needed.

Dutta, Cadambe, Grover, Short-Dot: computing large linear transforms distributedly using coded short dot products, 2016.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from deadheat.coding.assemble import joined
from deadheat.coding.cost import Cost
from deadheat.coding.linear_code import LinearCode
from deadheat.coding.shape import Family, Shape, sizes
from deadheat.coding.windows import window_rows
from deadheat.errors import BadInput, whole


def short_dot(critical: int, total: int, rows: int, *, seed: int = 0) -> LinearCode:
    """M rows, cut in n blocks of columns; any K of n results give all M products.

    A chunk's result is the M products of its columns; a task mixes those of n - K + M chunks into one number.
    """
    K, n = sizes(critical, total)
    M = whole("rows", rows, "give the rows of the matrix (M)")
    if M > K:
        other = f", or critical = {M}" if n >= M else ""
        raise BadInput("rows", M, f"more than the K = {K} results needed", f"take at most {K}{other}")
    weights, target = window_rows(n, K, M, seed)
    return LinearCode("short-dot", "linear", weights, target, K, _cost(K, n, M), parts=M, assemble=joined)


def _cost(critical: int, total: int, rows: int) -> Cost:
    length = (total - critical + rows) / total
    return Cost(length / rows, length / rows, result=1 / rows, encode=total - critical + rows, decode=critical)


def _shapes(kind: str, critical: int, total: int) -> Iterator[Shape]:
    for rows in sorted({max(critical // 2, 1), max(critical // 4, 1)}):
        cost = _cost(critical, total, rows)
        build = partial(short_dot, critical, total, rows)
        yield Shape("short-dot", kind, critical, total, cost, build, {"rows": rows})


FAMILY = Family(
    "short-dot",
    ("linear",),
    "Short coded rows",
    "Dutta et al. 2016",
    "(n-K+M)/(nM)",
    "(K(Omega-1)+M)/(Omega M)",
    "any K",
    "M = K is mds, M = 1 a gradient code",
    _shapes,
)
