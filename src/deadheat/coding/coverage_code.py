"""Codes that stop on coverage: tasks are copies of one another, and one result of each part suffices."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deadheat.coding.block_products import Grid, sides
from deadheat.coding.code import Code, only_row
from deadheat.coding.cost import ALL, Cost
from deadheat.coding.decoding_recipe import Recipe, Weights
from deadheat.errors import BadInput, nearest
from deadheat.model import AnyArray, Array, IntArray

COVERED = ("gradient", "linear", "product")  # the kinds of work that can be cut in parts


@dataclass(frozen=True, eq=False)
class CoverageCode(Code):
    """Task i computes part groups[i]; all parts are needed, each from any task that has it."""

    family: str
    kind: str
    groups: IntArray
    critical: int  # so many results suffice whichever they are; the fewest are the number of parts
    cost: Cost
    encoders: tuple[AnyArray, ...] = ()
    assemble: Callable[[AnyArray], AnyArray] | None = None

    @property
    def total(self) -> int:
        return len(self.groups)

    @property
    def chunks(self) -> int:
        return int(self.groups.max()) + 1

    def support(self, task: int) -> tuple[IntArray, AnyArray]:
        return self.groups[task : task + 1], np.ones((1, 1))

    def mix(self, task: int, values: Any) -> AnyArray:
        return np.asarray(values[int(self.groups[task])])

    def part(self, task: int) -> int:
        return int(self.groups[task])

    def decodable(self, done: Collection[int]) -> bool:
        return len({int(self.groups[task]) for task in self._known(done)}) == self.chunks

    @property
    def fewest(self) -> int:
        return self.chunks

    def _recipe(self, done: tuple[int, ...]) -> Recipe | None:
        """The first result of each part: added for a gradient, side by side for blocks."""
        first = {int(self.groups[task]): task for task in reversed(done)}
        if len(first) < self.chunks:
            return None
        used = tuple(first[group] for group in range(self.chunks))
        if self.kind == "gradient":
            return Weights(used, plain=np.array([-1]), mixed=np.ones((1, self.chunks)))
        return Weights(used, plain=np.arange(self.chunks), mixed=np.empty((0, self.chunks)))

    def finish(self, ends: Array) -> Array:
        """The time of the last part's first result."""
        order = np.argsort(self.groups, kind="stable")
        starts = np.searchsorted(self.groups[order], np.arange(self.chunks))
        return np.asarray(np.minimum.reduceat(ends[:, order], starts, axis=1).max(axis=1))


def copies(family: str, kind: str, parts: int, times: int) -> CoverageCode:
    """The parts of the plain work, each so many times, `parts` tasks apart: neighbouring tasks are all different."""
    if kind not in COVERED:
        raise BadInput("kind", kind, "no such kind of work", nearest(str(kind), COVERED))
    groups = np.tile(np.arange(parts), times)
    code = CoverageCode(family, kind, groups, critical=parts * times - times + 1, cost=part_cost(kind, parts))
    if kind == "gradient":
        return replace(code, assemble=only_row)
    if kind == "linear":
        return replace(code, encoders=(np.eye(parts)[groups],))
    left, right = sides(parts)
    encoders = np.eye(left)[groups // right], np.eye(right)[groups % right]
    return replace(code, encoders=encoders, assemble=Grid(left, right))


def part_cost(kind: str, parts: int) -> Cost:
    """A gradient is a sum of K full vectors; blocks of a product lie side by side."""
    if kind == "gradient":
        return Cost(1 / parts, 1 / parts, decode=parts, plain=ALL)
    left, right = (parts, parts) if kind == "linear" else sides(parts)
    return Cost(1 / parts, (1 / left + 1 / right) / 2, result=1 / parts, plain=ALL)
