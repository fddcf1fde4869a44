"""What the gradient codes from roots of unity share: their cost, their shapes and their gate.

They need no random numbers and keep fewer digits than random windows: a block of lost neighbours costs digits with
every neighbour (tests/coding/test_certificates.py).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from deadheat.coding.certification import gate
from deadheat.coding.code import Code
from deadheat.coding.cost import Cost
from deadheat.coding.cyclic_windows import window_cost
from deadheat.coding.linear_code import LinearCode, gradient_code
from deadheat.coding.shape import Shape, Shapes
from deadheat.model import AnyArray

REMEDY = "take fewer stragglers, or codes.cyclic, whose rows are random"
MOST_STRAGGLERS = 20  # that the tuner tries: beyond, the gate refuses many (tests/coding/test_certificates.py)


def gated(family: str, rows: AnyArray, limit: float, cost: Cost, stragglers: int) -> LinearCode:
    """The gradient code of these rows, scaled to norm one, if it passes the gate."""
    n = len(rows)
    scaled = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    least = -(-n // (stragglers + 1))  # fewer do not have all chunks; some sets below K suffice, by symmetry
    return gate(gradient_code(family, scaled, n - stragglers, cost, least=least), limit, REMEDY)


def root_cost(total: int, critical: int, is_complex: bool, reuse: bool, permuted_tasks: bool = False) -> Cost:
    """That of a cyclic window; a complex result is two real ones, and permuted tasks share no chunks."""
    times = 1 + is_complex
    plain = window_cost(total, critical, 1, reuse)
    more = plain.storage if permuted_tasks else plain.more
    return replace(plain, result=times * plain.result, decode=times**2 * plain.decode, more=more)


def root_shapes(
    family: str, make: Callable[..., Code], cost: Callable[[int, int, bool], Cost], most_with_reuse: int,
    kind: str, critical: int, total: int,
) -> Shapes:  # fmt: skip
    """The shapes of a family, with and without reuse; with reuse to so many stragglers."""
    for reuse in (False, True):
        if total - critical <= (most_with_reuse if reuse else MOST_STRAGGLERS):
            yield Shape(family=family, kind=kind, critical=critical, total=total, cost=cost(total, critical, reuse),
                        build=partial(make, total, total - critical, reuse=reuse),
                        settings={"reuse": reuse})  # fmt: skip
