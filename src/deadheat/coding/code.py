"""What a code is to the rest of the house: tasks, what each needs, which results suffice, and how to put them together.

The contract is small: `total`, `critical`, `cost`, `support(task)`, `recipe(done)`, `finish(ends)`. `decodable`,
`decode` and the guard follow from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deadheat.coding.costs import Cost
from deadheat.coding.faults import IllConditioned, Undecodable
from deadheat.coding.recipes import Recipe

Array = NDArray[np.float64]
Matrix = NDArray[Any]
TOLERANCES = {"f": {2: 1e-1, 4: 1e-4, 8: 1e-8}, "c": {8: 1e-4, 16: 1e-8}}  # relative errors allowed, by precision


class Code(ABC):
    """A code; see `LinearCode`, `CoverageCode` and `PeelingCode` for the three kinds there are.

    family: its name in the catalogue. kind: what it is for, "gradient", "linear", "product", "function", "transform".
    critical: K, so many results suffice (for codes that stop on coverage or by peeling: in the worst, or usual, case).
    encoders: for codes that mix data before the work, one matrix (tasks, blocks) for each operand; else empty.
    exact: False for codes that only come near the wish.
    """

    MOST_KEPT: ClassVar[int] = 512  # recipes in memory
    family: str
    kind: str
    critical: int
    cost: Cost
    encoders: tuple[Matrix, ...]
    exact: bool
    assemble: Callable[[Matrix], Matrix] | None

    @property
    @abstractmethod
    def total(self) -> int:
        """The number of tasks, n."""

    @property
    @abstractmethod
    def chunks(self) -> int:
        """Into how many chunks (or blocks of the first operand) the data is cut, m."""

    @abstractmethod
    def support(self, task: int) -> tuple[NDArray[np.int64], Matrix]:
        """The chunks that a task needs, and their weights, one row per chunk."""

    @abstractmethod
    def mix(self, task: int, values: Any) -> Matrix:
        """The task's result from the results of its chunks."""

    @abstractmethod
    def decodable(self, done: Collection[int]) -> bool:
        """Whether these results determine the iteration."""

    @abstractmethod
    def recipe(self, done: Collection[int]) -> Recipe | None:
        """How the iteration is put together from these results, or None where they do not determine it."""

    def finish(self, ends: Array) -> Array:
        """The time at which each row of arrival times (iterations, tasks) first determines its iteration."""
        return np.asarray(np.partition(ends, self.critical - 1, axis=1)[:, self.critical - 1])

    def decode(self, results: Mapping[int, Any], limit: float | None = None) -> Matrix:
        """The iteration's answer from the results of some tasks.

        Results that are not finite are treated as missing. Raises Undecodable where the rest does not suffice, and
        IllConditioned where rounding errors would grow by more than `limit` (by default what the precision of the
        results allows): wait for one more result and try again.
        """
        given = {task: np.asarray(value) for task, value in results.items()}
        found = self._put_together(given, limit, ())
        if np.isfinite(found).all():
            return found
        bad = [task for task, value in given.items() if not np.isfinite(value).all()]
        return self._put_together({t: v for t, v in given.items() if t not in bad}, limit, bad)

    def _put_together(self, given: Mapping[int, Matrix], limit: float | None, rejected: Collection[int]) -> Matrix:
        recipe = self.recipe(given) if self.decodable(given) else None
        if recipe is None:
            raise Undecodable(self.family, given, self.critical, rejected)
        allowed = limit if limit is not None else most_gain(v.dtype for v in given.values())
        if recipe.gain > allowed:
            raise IllConditioned(self.family, given, recipe.gain, allowed, "wait for one more result")
        with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is looked for afterwards
            wish = recipe.apply([given[task] for task in recipe.done])
        answer = wish if self.assemble is None else self.assemble(wish)
        return answer.real if self.is_complex and self.kind != "transform" else answer

    @property
    def is_complex(self) -> bool:
        """Whether the weights are complex: results are then twice as large, and the data must be real."""
        return False


def most_gain(dtypes: Iterable[np.dtype[Any]]) -> float:
    """By how much rounding errors may grow: to 1e-8 in double precision, 1e-4 in single."""
    kind = np.result_type(*set(dtypes))
    if kind.kind not in "fc":
        kind = np.dtype(float)
    return float(TOLERANCES[kind.kind].get(kind.itemsize, 1e-8) / np.finfo(kind).eps)
