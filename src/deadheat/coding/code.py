"""What a code is to the rest of the house: tasks, what each needs, which results suffice, and how to put them together.

The contract is small: `total`, `critical`, `cost`, `support(task)`, `decodable(done)`, a recipe for a
pattern, and `finish(ends)`. `decode` and the guard follow from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from deadheat.coding.cost import Cost
from deadheat.coding.decoding_errors import IllConditioned, Overflowed, Undecodable
from deadheat.coding.recipe import Recipe
from deadheat.errors import BadInput
from deadheat.model import AnyArray, Array, IntArray

# Relative errors that rounding may cause, by precision. A gain is a typical growth: 1e-9 keeps the worst to 1e-8.
TOLERANCES = {"f": {2: 1e-1, 4: 1e-4, 8: 1e-9}, "c": {8: 1e-4, 16: 1e-9}}


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
    encoders: tuple[AnyArray, ...]
    exact: bool
    assemble: Callable[[AnyArray], AnyArray] | None
    _kept: dict[tuple[int, ...], Recipe | None]

    @property
    @abstractmethod
    def total(self) -> int:
        """The number of tasks, n."""

    @property
    @abstractmethod
    def chunks(self) -> int:
        """Into how many chunks (or blocks of the first operand) the data is cut, m."""

    @abstractmethod
    def support(self, task: int) -> tuple[IntArray, AnyArray]:
        """The chunks that a task needs, and their weights, one row per chunk."""

    @abstractmethod
    def mix(self, task: int, values: Any) -> AnyArray:
        """The task's result from the results of its chunks."""

    @abstractmethod
    def decodable(self, done: Collection[int]) -> bool:
        """Whether these results determine the iteration."""

    @property
    def fewest(self) -> int:
        """Results below which it is never decodable."""
        return self.critical

    @abstractmethod
    def _recipe(self, done: tuple[int, ...]) -> Recipe | None:
        """The recipe for a pattern, made afresh."""

    def recipe(self, done: Collection[int]) -> Recipe | None:
        """How the iteration is put together from these results, or None where they do not determine it.

        Recipes are kept for the next time.
        """
        key = tuple(sorted(self._known(done)))
        if key not in self._kept:
            if len(self._kept) >= self.MOST_KEPT:
                self._kept.clear()
            self._kept[key] = self._recipe(key) if key else None
        return self._kept[key]

    def _known(self, done: Collection[int]) -> set[int]:
        """The tasks, each once. Raises BadInput for one that there is not."""
        found = set(done)
        for task in found:
            if not isinstance(task, (int, np.integer)):
                raise BadInput("task", task, "not a whole number", f"take 0 to {self.total - 1}")
        if found and not (min(found) >= 0 and max(found) < self.total):
            odd = next(task for task in found if not 0 <= task < self.total)
            raise BadInput("task", odd, f"{self.family} has no such task", f"take 0 to {self.total - 1}")
        return found

    def __getstate__(self) -> dict[str, Any]:
        """Recipes do not travel."""
        return {name: {} if name == "_kept" else value for name, value in self.__dict__.items()}

    def finish(self, ends: Array) -> Array:
        """The time at which each row of arrival times (iterations, tasks) first determines its iteration."""
        return np.asarray(np.partition(ends, self.critical - 1, axis=1)[:, self.critical - 1])

    def decode(self, results: Mapping[int, Any], limit: float | None = None) -> AnyArray:
        """The iteration's answer from the results of some tasks.

        Results that are not finite are treated as missing. Raises Undecodable where the rest does not suffice, and
        IllConditioned where rounding errors would grow by more than `limit` (by default what the precision of the
        results allows): wait for one more result and try again.
        """
        if not isinstance(results, Mapping):
            raise BadInput("results", type(results).__name__, "not a mapping", "give {task: result}")
        given = {task: _number(task, value) for task, value in results.items()}
        shapes = {value.shape for value in given.values()}
        if len(shapes) > 1:
            raise BadInput("results", sorted(shapes), "of different shapes", "give results of one iteration of one job")
        recipe = self.recipe(given) if self.decodable(given) else None
        found = None if recipe is None else self._put_together(recipe, given, limit)
        if found is not None and np.isfinite(found).all():
            return found
        bad = [task for task, value in given.items() if not np.isfinite(value).all()]
        good = {task: value for task, value in given.items() if task not in bad}
        recipe = self.recipe(good) if bad and self.decodable(good) else None
        if recipe is not None:
            return self._put_together(recipe, good, limit)
        if found is not None and not bad:
            raise Overflowed(self.family)
        raise Undecodable(self.family, good, self.critical, bad)

    def _put_together(self, recipe: Recipe, given: Mapping[int, AnyArray], limit: float | None) -> AnyArray:
        if limit is not None and not limit > 0:
            raise BadInput("limit", limit, "must be above 0", "give by how much rounding errors may grow, such as 1e7")
        allowed = limit if limit is not None else most_gain(v.dtype for v in given.values())
        if not recipe.gain <= allowed:
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
    """By how much rounding errors may grow: typically to 1e-9 in double precision, 1e-4 in single; the least counts."""
    return min(float(TOLERANCES[kind.kind].get(kind.itemsize, 1e-9) / np.finfo(kind).eps) for kind in set(dtypes))


def _number(task: object, value: Any) -> AnyArray:
    """A result as an array of real or complex numbers; whole numbers become real ones."""
    found = np.asarray(value)
    if found.dtype.kind not in "iubfc":
        raise BadInput(f"results[{task}]", value, "not an array of numbers", "leave out what is missing")
    return found.astype(float) if found.dtype.kind in "iub" else found
