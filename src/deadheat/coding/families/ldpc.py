"""LDPC moment encoding: gradient steps of a linear regression need M x with M = X^T X, coded by sparse parity checks.

Each parity adds a few blocks to the parity before it (a staircase), so encoding is a few additions per block, and
losses are peeled off.

Maity, Rawat, Mazumdar, Robust gradient descent via moment encoding with LDPC codes, 2019.
"""

from functools import partial

import numpy as np

from deadheat.coding.cost import Cost
from deadheat.coding.peeling_code import PeelingCode
from deadheat.coding.shape import Family, Shape, Shapes, sizes
from deadheat.errors import BadInput, whole

DEGREE = 3  # checks that each block is in


def ldpc(parts: int, total: int, degree: int = DEGREE, *, seed: int = 0) -> PeelingCode:
    """There are k plain blocks and n - k parities, each block in `degree` of them; most small losses peel."""
    k, n = sizes(parts, total, field="parts", what="blocks")
    spare = n - k
    d = whole("degree", degree, "give the parities that each block is in")
    if spare and d > spare:
        raise BadInput("degree", d, f"more than the {spare} parities there are", f"take at most {spare}")
    # The checks are about equally full and none is empty. All weights are one: along the staircase a block is then
    # added at most `degree` times, and nothing cancels.
    rng, members = np.random.default_rng(seed), np.zeros((spare, k))
    for block in rng.permutation(k):
        fullness = np.count_nonzero(members, axis=1) + rng.random(spare)
        members[np.argsort(fullness)[:d], block] = 1.0
    for check in np.flatnonzero(~members.any(axis=1)):
        members[check, rng.integers(k)] = 1.0
    checks = np.hstack([members, np.eye(spare, k=-1) - np.eye(spare)])
    return PeelingCode("ldpc", "linear", symbols=n, wanted=k, cost=_cost(k, n, d), critical=0, least=k,
                       tasks=tuple((np.array([i]), np.ones(1)) for i in range(n)),
                       checks=tuple((np.flatnonzero(row), row[row != 0]) for row in checks),
                       encoders=(np.vstack([np.eye(k), members.cumsum(axis=0)]),))  # fmt: skip


def _cost(parts: int, total: int, degree: int) -> Cost:
    edges = degree + 2 * (total - parts) / parts
    return Cost(1 / parts, 1 / parts, result=1 / parts, encode=edges, decode=edges, plain=parts)


def _shapes(kind: str, critical: int, total: int) -> Shapes:
    if total - critical >= DEGREE:
        cost, build = _cost(critical, total, DEGREE), partial(ldpc, critical, total)
        yield Shape("ldpc", kind, critical, total, cost, build, any_critical=False)


FAMILY = Family("ldpc", ("linear",), title="Sparse parity checks", source="Maity et al. 2019", work="1/k",
                factor="about 1", enough="those that peel", shapes=_shapes,
                notes="moment encoding: gradient steps of a linear regression, after X^T X")  # fmt: skip
