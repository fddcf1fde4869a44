"""Product codes: blocks in a square, a cube, ..., with one parity at the end of each line; decoded by peeling.

A line with one missing block gives it away by a subtraction. In two dimensions these are products of blocks of two
matrices, k + 1 coded ones of each.

[1] Lee, Suh, Ramchandran, High-dimensional coded matrix multiplication, ISIT 2017 (two dimensions).
[2] Baharav, Lee, Ocal, Ramchandran, Straggler-proofing massive-scale distributed matrix multiplication with
d-dimensional product codes, ISIT 2018.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, reduce

import numpy as np

from deadheat.coding.assemble import Grid
from deadheat.coding.cost import ALL, Cost
from deadheat.coding.peeling_code import Equation, PeelingCode
from deadheat.coding.shape import Family, Shape
from deadheat.errors import BadInput, nearest, whole

KINDS = ("product", "linear")


def product(side: int, dimensions: int = 2, kind: str = "product") -> PeelingCode:
    """K^d blocks in a cube of that side, (k + 1)^d tasks; some patterns of losses peel, others do not.

    kind: "product" (two dimensions, C = A B) or "linear" (blocks of one matrix, in any number of dimensions).
    """
    k = whole("side", side, "give the blocks along one side (k)")
    d = whole("dimensions", dimensions, "give the number of dimensions (d)")
    if kind not in KINDS:
        raise BadInput("kind", kind, "no such kind of work", nearest(str(kind), KINDS))
    if kind == "product" and d != 2:
        raise BadInput("dimensions", d, "a product of two matrices has two", 'take 2, or kind="linear"')
    line = np.vstack([np.eye(k), np.ones(k)])
    order, symbols = _order(k, d)
    tasks: list[Equation] = [(np.array([symbol]), np.ones(1)) for symbol in symbols]
    checks: list[Equation] = []
    for axis in range(d):
        lines = np.moveaxis(order, axis, -1).reshape(-1, k + 1)
        checks += [(row.copy(), np.append(np.ones(k), -1.0)) for row in lines]
    if kind == "product":
        encoders = [np.repeat(line, k + 1, axis=0), np.tile(line, (k + 1, 1))]
    else:
        encoders = [reduce(lambda a, b: np.asarray(np.kron(a, b)), [line] * d)]
    wanted = k**d
    return PeelingCode(
        "product", kind, (k + 1) ** d, wanted, tuple(tasks), tuple(checks), 0, wanted, _cost(k, d, kind),
        tuple(encoders), Grid(k, k) if kind == "product" else None,
    )  # fmt: skip


def _order(k: int, d: int) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.int64]], list[int]]:
    """Numbers of the cube's cells, the k^d data blocks first; and the same task by task."""
    shape = (k + 1,) * d
    cells = np.indices(shape).reshape(d, -1)
    data = (cells < k).all(axis=0)
    numbers = np.empty(data.size, np.int64)
    numbers[data] = np.arange(k**d)
    numbers[~data] = np.arange(k**d, data.size)
    return numbers.reshape(shape), numbers.tolist()


def _cost(side: int, dimensions: int, kind: str) -> Cost:
    blocks, parity = side**dimensions, 1 + 1 / side
    if kind == "product":
        return Cost(1 / blocks, 1 / side, result=1 / blocks, encode=1.0, decode=1.0, plain=ALL, most=parity)
    most, edges = parity**dimensions, dimensions * parity**dimensions
    return Cost(1 / blocks, 1 / blocks, result=1 / blocks, encode=edges, decode=1.0, plain=ALL, most=most)


def _shapes(kind: str, critical: int, total: int) -> Iterator[Shape]:
    for dimensions in (2, 3) if kind == "linear" else (2,):
        side = max(round(critical ** (1 / dimensions)), 2)
        cost, build = _cost(side, dimensions, kind), partial(product, side, dimensions, kind)
        blocks, tasks = side**dimensions, (side + 1) ** dimensions
        settings = {"dimensions": dimensions}
        yield Shape("product", kind, blocks, tasks, cost, build, settings, any_critical=False)


FAMILY = Family(
    "product", KINDS, "Lines with a parity", "Lee et al. 2017; Baharav et al. 2018", "1/k^d", "1 + eps",
    "those that peel", "n = (k+1)^d; one parity per line, decoded by subtraction", _shapes,
)  # fmt: skip
