"""MDS codes on linear work: K blocks of a matrix become n coded ones, and any K products give the whole.

[1] Lee, Lam, Pedarsani, Papailiopoulos, Ramchandran, Speeding up distributed machine learning using codes, 2018.
"""

from functools import partial

import numpy as np

from deadheat.coding.certification import LIMIT, gate
from deadheat.coding.cost import Cost
from deadheat.coding.generator_matrices import generator
from deadheat.coding.linear_code import LinearCode
from deadheat.coding.shape import Family, Shape, Shapes, sizes


def mds(critical: int, total: int, basis: str = "gaussian", *, limit: float = LIMIT, seed: int = 0) -> LinearCode:
    """There are K plain blocks and n - K Gaussian parities; nothing is computed for blocks that arrive plain.

    basis: "vandermonde", "chebyshev" or "circle" take polynomials instead; they are let through only where sampled and
    block losses make rounding errors grow by less than `limit`. Raises IllConditioned beyond, with the worst pattern.
    """
    K, n = sizes(critical, total)
    rows = generator(basis, K, n, seed)
    cost = _cost(K, n, basis)
    code = LinearCode("mds", "linear", rows=rows, target=np.eye(K), critical=K, cost=cost, encoders=(rows,))
    return code if basis == "gaussian" else gate(code, limit, 'take basis="gaussian", or fewer tasks to spare')


def _cost(critical: int, total: int, basis: str) -> Cost:
    # A complex block times a real vector is twice the work, and a complex product four times.
    plain, times = critical if basis == "gaussian" else 0, 2 if basis == "circle" else 1
    part, mixed = times / critical, total - plain
    return Cost(part, part, result=part, encode=times * mixed, decode=times**2 * min(mixed, critical), plain=plain)


def _shapes(kind: str, critical: int, total: int) -> Shapes:
    yield Shape("mds", kind, critical, total, _cost(critical, total, "gaussian"), partial(mds, critical, total))


FAMILY = Family("mds", ("linear",), title="Coded blocks of a matrix", source="Lee et al. 2018", work="1/K", factor="1",
                enough="any K", notes="plain blocks and Gaussian parities; other bases are gated",
                shapes=_shapes)  # fmt: skip
