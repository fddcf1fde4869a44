"""Product codes: blocks in a square, a cube, ..., with one parity at the end of each line; decoded by peeling.

A line with one missing block determines it by a subtraction. In two dimensions these are products of blocks of two
matrices, k + 1 coded ones of each.

[1] Lee, Suh, Ramchandran, High-dimensional coded matrix multiplication, ISIT 2017 (two dimensions).
[2] Baharav, Lee, Ocal, Ramchandran, Straggler-proofing massive-scale distributed matrix multiplication with
d-dimensional product codes, ISIT 2018.
"""

from functools import partial, reduce

import numpy as np

from deadheat.coding.block_products import Grid
from deadheat.coding.cost import ALL, Cost
from deadheat.coding.peeling_code import PeelingCode
from deadheat.coding.shape import Family, Shape, Shapes
from deadheat.errors import BadInput, nearest, whole
from deadheat.model import AnyArray

KINDS = ("product", "linear")


def product(side: int, dimensions: int = 2, kind: str = "product") -> PeelingCode:
    """There are k^d blocks in a cube of side k and (k + 1)^d tasks; some patterns of losses peel, others do not.

    kind: "product" (two dimensions, C = A B) or "linear" (blocks of one matrix, in any number of dimensions).
    """
    k = whole("side", side, "give the blocks along one side (k)")
    d = whole("dimensions", dimensions, "give the number of dimensions (d)")
    if kind not in KINDS:
        raise BadInput("kind", kind, "no such kind of work", nearest(str(kind), KINDS))
    if kind == "product" and d != 2:
        raise BadInput("dimensions", d, "a product of two matrices has two", 'take 2, or kind="linear"')
    line: AnyArray = np.vstack([np.eye(k), np.ones(k)])
    data = (np.indices((k + 1,) * d) < k).all(axis=0)
    order = np.argsort(~data, axis=None, kind="stable").argsort().reshape(data.shape)  # of the cells, data first
    lines = np.concatenate([np.moveaxis(order, axis, -1).reshape(-1, k + 1) for axis in range(d)])
    tasks = tuple((np.array([symbol]), np.ones(1)) for symbol in order.ravel().tolist())
    checks = tuple((row, np.append(np.ones(k), -1.0)) for row in lines)
    both: tuple[AnyArray, ...] = np.repeat(line, k + 1, axis=0), np.tile(line, (k + 1, 1))
    encoders = both if kind == "product" else (reduce(np.kron, [line] * d),)
    return PeelingCode("product", kind, symbols=data.size, wanted=k**d, tasks=tasks, checks=checks, critical=0,
                       least=k**d, cost=_cost(k, d, kind), encoders=encoders,
                       assemble=Grid(k, k) if kind == "product" else None)  # fmt: skip


def _cost(side: int, dimensions: int, kind: str) -> Cost:
    blocks, parity = side**dimensions, 1 + 1 / side
    if kind == "product":
        return Cost(1 / blocks, 1 / side, result=1 / blocks, encode=1.0, decode=1.0, plain=ALL, most=parity)
    most, edges = parity**dimensions, dimensions * parity**dimensions
    return Cost(1 / blocks, 1 / blocks, result=1 / blocks, encode=edges, decode=1.0, plain=ALL, most=most)


def _shapes(kind: str, critical: int, total: int) -> Shapes:
    for d in (2, 3) if kind == "linear" else (2,):
        side = max(round(critical ** (1 / d)), 2)
        yield Shape("product", kind, side**d, (side + 1) ** d, cost=_cost(side, d, kind), settings={"dimensions": d},
                    build=partial(product, side, d, kind), any_critical=False)  # fmt: skip


FAMILY = Family("product", KINDS, title="Lines with a parity", source="Lee et al. 2017; Baharav et al. 2018",
                work="1/k^d", factor="1 + eps", enough="those that peel", shapes=_shapes,
                notes="n = (k+1)^d; one parity per line, decoded by subtraction")  # fmt: skip
