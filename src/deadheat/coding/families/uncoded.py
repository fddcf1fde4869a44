"""Uncoded: every task is a part of the plain work, and all are needed. What each code has to beat."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from deadheat.coding.assemble import Grid, only
from deadheat.coding.cost import ALL, Cost
from deadheat.coding.coverage_code import CoverageCode
from deadheat.coding.shape import Family, Shape
from deadheat.errors import BadInput, nearest, whole

KINDS = ("gradient", "linear", "product")


def uncoded(parts: int, kind: str = "gradient") -> CoverageCode:
    """K tasks of 1/K of the work each; all K results are needed, and they are added or put side by side.

    kind: "gradient" (chunks of samples), "linear" (blocks of rows) or "product" (a grid of blocks, as square as K is).
    """
    count = whole("parts", parts, "give the number of tasks (K)")
    if kind not in KINDS:
        raise BadInput("kind", kind, "no such kind of work", nearest(str(kind), KINDS))
    return copies("uncoded", kind, count, 1)


def copies(family: str, kind: str, parts: int, times: int) -> CoverageCode:
    """The parts of the plain work, each so many times, `parts` tasks apart: neighbouring tasks are all different."""
    groups = np.tile(np.arange(parts), times)
    total = parts * times
    critical = total - times + 1
    cost = part_cost(kind, parts)
    if kind == "gradient":
        return CoverageCode(family, kind, groups, critical, cost, assemble=only)
    if kind == "linear":
        return CoverageCode(family, kind, groups, critical, cost, (np.eye(parts)[groups],))
    left, right = sides(parts)
    encoders = np.eye(left)[groups // right], np.eye(right)[groups % right]
    return CoverageCode(family, kind, groups, critical, cost, encoders, Grid(left, right))


def sides(parts: int) -> tuple[int, int]:
    """The most square p x q = K."""
    left = next(p for p in range(math.isqrt(parts), 0, -1) if parts % p == 0)
    return left, parts // left


def part_cost(kind: str, parts: int) -> Cost:
    """A gradient is a sum of K full vectors; blocks of a product lie side by side."""
    if kind == "gradient":
        return Cost(1 / parts, 1 / parts, decode=parts, plain=ALL)
    if kind == "linear":
        return Cost(1 / parts, 1 / parts, result=1 / parts, plain=ALL)
    left, right = sides(parts)
    return Cost(1 / parts, (1 / left + 1 / right) / 2, result=1 / parts, plain=ALL)


def _shapes(kind: str, critical: int, total: int) -> Iterator[Shape]:
    if critical == total:
        yield Shape("uncoded", kind, total, total, part_cost(kind, total), partial(uncoded, total, kind))


FAMILY = Family(
    "uncoded", KINDS, "Parts of the plain work", "", "1/K", "1", "all n = K", "what a code has to beat", _shapes
)
