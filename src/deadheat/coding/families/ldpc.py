"""LDPC moment encoding: gradient steps of a linear regression need M x with M = X^T X, coded by sparse parity checks.

Each parity adds a few blocks to the parity before it (a staircase), so encoding is a few additions per block, and
losses are peeled off.

Maity, Rawat, Mazumdar, Robust gradient descent via moment encoding with LDPC codes, 2019.
"""

from functools import partial

import numpy as np

from deadheat.coding.cost import Cost
from deadheat.coding.peeling_code import Equation, PeelingCode
from deadheat.coding.shape import Family, Shape, Shapes
from deadheat.errors import BadInput, whole
from deadheat.model import Array

DEGREE = 3  # checks that each block is in


def ldpc(parts: int, total: int, degree: int = DEGREE, *, seed: int = 0) -> PeelingCode:
    """There are k plain blocks and n - k parities, each block in `degree` of them; most small losses peel."""
    k = whole("parts", parts, "give the number of blocks")
    n = whole("total", total, "give the number of tasks (n)")
    if k > n:
        raise BadInput("parts", k, f"more than the {n} tasks there are", f"take at most {n}, or total = {k}")
    spare = n - k
    d = whole("degree", degree, "give the parities that each block is in")
    if spare and d > spare:
        raise BadInput("degree", d, f"more than the {spare} parities there are", f"take at most {spare}")
    members = _members(k, spare, d, np.random.default_rng(seed)) if spare else np.zeros((0, k))
    checks: list[Equation] = []
    encoder = np.vstack([np.eye(k), np.zeros((spare, k))])
    for i, row in enumerate(members):
        blocks = np.flatnonzero(row)
        before = [k + i - 1] if i else []  # the staircase
        symbols = np.array([*blocks, *before, k + i], np.int64)
        checks.append((symbols, np.array([*row[blocks], *[1.0] * len(before), -1.0])))
        encoder[k + i] = row + (encoder[k + i - 1] if i else 0.0)
    return PeelingCode(family="ldpc", kind="linear", symbols=n, wanted=k,
                       tasks=tuple((np.array([i]), np.ones(1)) for i in range(n)), checks=tuple(checks), critical=0,
                       least=k, cost=_cost(k, n, d), encoders=(encoder,))  # fmt: skip


def _members(blocks: int, checks: int, degree: int, rng: np.random.Generator) -> Array:
    """The blocks in each check: every block in `degree` checks, the checks about equally full and none empty.

    All weights are one: along the staircase a block is then added at most `degree` times, and nothing cancels.
    """
    members = np.zeros((checks, blocks))
    for block in rng.permutation(blocks):
        fullness = np.count_nonzero(members, axis=1) + rng.random(checks)
        members[np.argsort(fullness)[:degree], block] = 1.0
    for check in np.flatnonzero(~members.any(axis=1)):
        members[check, rng.integers(blocks)] = 1.0
    return members


def _cost(parts: int, total: int, degree: int) -> Cost:
    edges = degree + 2 * (total - parts) / parts
    return Cost(1 / parts, 1 / parts, result=1 / parts, encode=edges, decode=edges, plain=parts)


def _shapes(kind: str, critical: int, total: int) -> Shapes:
    if total - critical >= DEGREE:
        yield Shape(family="ldpc", kind=kind, critical=critical, total=total, cost=_cost(critical, total, DEGREE),
                    build=partial(ldpc, critical, total), any_critical=False)  # fmt: skip


FAMILY = Family(name="ldpc", kinds=("linear",), title="Sparse parity checks", source="Maity et al. 2019", work="1/k",
                factor="about 1", enough="those that peel", shapes=_shapes,
                notes="moment encoding: gradient steps of a linear regression, after X^T X")  # fmt: skip
