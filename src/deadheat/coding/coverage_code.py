"""Codes that stop on coverage: tasks are copies of one another, and one result of each kind suffices."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deadheat.coding.code import Code
from deadheat.coding.cost import Cost
from deadheat.coding.recipe import Recipe, Weights
from deadheat.model import AnyArray, Array, IntArray


@dataclass(frozen=True, eq=False)
class CoverageCode(Code):
    """Task i computes part groups[i]; all parts are needed, each from any task that has it.

    critical: so many results suffice whichever they are; the fewest are the number of parts.
    """

    family: str
    kind: str
    groups: IntArray
    critical: int
    cost: Cost
    encoders: tuple[AnyArray, ...] = ()
    assemble: Callable[[AnyArray], AnyArray] | None = None
    exact: bool = True
    _kept: dict[tuple[int, ...], Recipe | None] = field(default_factory=dict, repr=False)

    @property
    def total(self) -> int:
        """The number of tasks, n."""
        return len(self.groups)

    @property
    def chunks(self) -> int:
        """Into how many parts the data is cut."""
        return int(self.groups.max()) + 1

    def support(self, task: int) -> tuple[IntArray, AnyArray]:
        """One part, as it is."""
        return self.groups[task : task + 1], np.ones((1, 1))

    def mix(self, task: int, values: Any) -> AnyArray:
        """The part's own result."""
        return np.asarray(values[int(self.groups[task])])

    def decodable(self, done: Collection[int]) -> bool:
        """Whether every part is there."""
        return len({int(self.groups[task]) for task in self._known(done)}) == self.chunks

    @property
    def fewest(self) -> int:
        """One for each part."""
        return self.chunks

    def _recipe(self, done: tuple[int, ...]) -> Recipe | None:
        """The first result of each part: added for a gradient, side by side for blocks."""
        first: dict[int, int] = {}
        for task in done:
            first.setdefault(int(self.groups[task]), task)
        if len(first) < self.chunks:
            return None
        used = tuple(first[group] for group in range(self.chunks))
        if self.kind == "gradient":
            return Weights(used, np.array([-1]), np.ones((1, self.chunks)), 1.0, 0.0)
        return Weights(used, np.arange(self.chunks), np.empty((0, self.chunks)), 1.0, 0.0)

    def finish(self, ends: Array) -> Array:
        """The last part's first result."""
        order = np.argsort(self.groups, kind="stable")
        starts = np.searchsorted(self.groups[order], np.arange(self.chunks))
        return np.asarray(np.minimum.reduceat(ends[:, order], starts, axis=1).max(axis=1))
