"""Short-Dot: the rows of a wide matrix are mixed so that every task is a short dot product.

Between the MDS code (M = K: full rows) and the gradient code (M = 1) it trades the length of a task against the number
of results needed.

Dutta, Cadambe, Grover, Short-Dot: computing large linear transforms distributedly using coded short dot products, 2016.
"""

from functools import partial

from deadheat.coding.cost import Cost
from deadheat.coding.cyclic_windows import window_rows
from deadheat.coding.linear_code import LinearCode
from deadheat.coding.shape import Family, Shape, Shapes, sizes
from deadheat.errors import BadInput, whole


def short_dot(critical: int, total: int, rows: int, *, seed: int = 0) -> LinearCode:
    """A matrix is cut in M blocks of rows and n strips of columns; any K of n results give all M products.

    rows: M. A task's data is one block of n - K + M strips, a mixture of the M blocks in each of them.
    """
    K, n = sizes(critical, total)
    M = whole("rows", rows, "give the blocks of rows of the matrix (M)")
    if M > K:
        other = f", or critical = {M}" if n >= M else ""
        raise BadInput("rows", M, f"more than the K = {K} results needed", f"take at most {K}{other}")
    weights, target = window_rows(n, K, M, seed)
    return LinearCode("short-dot", "linear", rows=weights, target=target, critical=K, cost=_cost(K, n, M),
                      encoders=(weights.reshape(n, n, M).transpose(0, 2, 1),))  # fmt: skip


def _cost(critical: int, total: int, rows: int) -> Cost:
    length = (total - critical + rows) / total
    return Cost(length / rows, length / rows, result=1 / rows, encode=total - critical + rows, decode=critical)


def _shapes(kind: str, critical: int, total: int) -> Shapes:
    for rows in sorted({max(critical // 2, 1), max(critical // 4, 1)}):
        cost, build = _cost(critical, total, rows), partial(short_dot, critical, total, rows)
        yield Shape("short-dot", kind, critical, total, cost, build, {"rows": rows})


FAMILY = Family("short-dot", ("linear",), title="Short coded rows", source="Dutta et al. 2016", work="(n-K+M)/(nM)",
                factor="(K(Omega-1)+M)/(Omega M)", enough="any K", shapes=_shapes,
                notes="M = K is mds, M = 1 a gradient code")  # fmt: skip
