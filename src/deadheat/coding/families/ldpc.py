"""LDPC moment encoding: gradient steps of a linear regression need M x with M = X^T X, coded by sparse parity checks.

Each parity adds a few blocks to the parity before it (a staircase), so encoding is a few additions per block, and
losses are peeled off.

Maity, Rawat, Mazumdar, Robust gradient descent via moment encoding with LDPC codes, 2019.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from deadheat.coding.cost import Cost
from deadheat.coding.peeling_code import Equation, PeelingCode
from deadheat.coding.shape import Family, Shape
from deadheat.errors import BadInput, whole

DEGREE = 3  # checks that each block is in


def ldpc(parts: int, total: int, degree: int = DEGREE, *, seed: int = 0) -> PeelingCode:
    """K plain blocks and n - k parities, each block in `degree` of them; most patterns of a few losses peel."""
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
    tasks = tuple((np.array([i]), np.ones(1)) for i in range(n))
    cost = _cost(k, n, d)
    return PeelingCode("ldpc", "linear", n, k, tasks, tuple(checks), 0, k, cost, (encoder,))


def _members(
    blocks: int, checks: int, degree: int, rng: np.random.Generator
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
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


def _shapes(kind: str, critical: int, total: int) -> Iterator[Shape]:
    if total - critical >= DEGREE:
        cost = _cost(critical, total, DEGREE)
        yield Shape("ldpc", kind, critical, total, cost, partial(ldpc, critical, total), any_critical=False)


FAMILY = Family(
    "ldpc", ("linear",), "Sparse parity checks", "Maity et al. 2019", "1/k", "about 1", "those that peel",
    "moment encoding: gradient steps of a linear regression, after X^T X", _shapes,
)  # fmt: skip
