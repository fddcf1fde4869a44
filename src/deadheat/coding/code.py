"""What a code is to the other rooms: tasks, what each needs, which results suffice, and how they are combined.

The *target* is what the master wants of an iteration: the sum over all chunks, or all blocks of a product. A *recipe*
says how the target is combined from the results that are in. The contract is small: `total`, `critical`, `cost`,
`support(task)`, `decodable(done)`, a recipe for a pattern, and `finish(ends)`. `decode` and the guard follow from it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deadheat.coding.cost import Cost
from deadheat.coding.decoding_errors import IllConditioned, Overflowed, Undecodable
from deadheat.coding.decoding_recipe import Recipe
from deadheat.errors import BadInput
from deadheat.model import AnyArray, Array, IntArray

# Relative errors that rounding may cause, by precision. A gain is a typical growth: 1e-9 keeps the worst to 1e-8.
TOLERANCES = {"f": {2: 1e-1, 4: 1e-4, 8: 1e-9}, "c": {8: 1e-4, 16: 1e-9}}


class Code(ABC):
    """A code; see `LinearCode`, `CoverageCode` and `PeelingCode` for the three classes there are.

    encoders: for codes that mix data before the work, one array (tasks, blocks) for each operand; or one of (tasks,
    blocks, strips), where each strip of a block's columns has a weight of its own (Short-Dot). Else empty.
    """

    MOST_KEPT: ClassVar[int] = 512  # recipes in memory
    family: str  # its name in the catalogue
    kind: str  # of work: "gradient", "linear", "product", "function" or "transform"
    critical: int  # K, so many results suffice: in the worst case where coverage, in the usual one where peeling counts
    cost: Cost
    encoders: tuple[AnyArray, ...] = ()
    least: int = 0  # fewer never suffice, where some sets of fewer than K do; 0 where it is not set
    exact: bool = True  # False for codes that only come near the target; their recipe's residual says how near
    assemble: Callable[[AnyArray], AnyArray] | None = None  # makes the answer of the target's rows, such as one matrix

    @property
    @abstractmethod
    def total(self) -> int:
        """The number of tasks, n."""

    @property
    def _inputs(self) -> AnyArray:
        """The weights of what goes into a task: (tasks, chunks, parts), or (tasks, blocks, strips)."""
        return self.encoders[0].reshape(*self.encoders[0].shape[:2], -1)

    @property
    def chunks(self) -> int:
        """Into how many chunks (or blocks of the first operand) the data is cut, m."""
        return int(self._inputs.shape[1])

    def support(self, task: int) -> tuple[IntArray, AnyArray]:
        """The chunks (or blocks of the first operand) that a task needs, and their weights, one row per chunk."""
        weights = self._inputs[task]
        chunks = np.flatnonzero(weights.any(axis=1))
        return chunks, weights[chunks]

    def mix(self, task: int, values: Any) -> AnyArray:
        """The task's result from the results of its chunks: by number, in a mapping or a sequence."""
        chunks, weights = self.support(task)
        terms = zip(chunks.tolist(), weights.tolist(), strict=True)  # numbers of Python's keep the precision of values
        if weights.shape[1] == 1:
            return np.asarray(sum(w * np.asarray(values[j]) for j, (w,) in terms))
        cut = ((row, in_parts(values[j], len(row))) for j, row in terms)
        return np.asarray(sum(w * part for row, parts in cut for w, part in zip(row, parts, strict=True)))

    @abstractmethod
    def decodable(self, done: Collection[int]) -> bool:
        """Whether these results determine the target."""

    @property
    def fewest(self) -> int:
        """Fewer results than these never determine the target."""
        return min(self.least, self.critical) if self.least and self.exact else self.critical

    @abstractmethod
    def _recipe(self, done: tuple[int, ...]) -> Recipe | None:
        """A new recipe for a pattern."""

    @cached_property
    def _kept(self) -> dict[tuple[int, ...], Recipe | None]:
        return {}

    def recipe(self, done: Collection[int]) -> Recipe | None:
        """How the target is combined from these results, or None where they do not determine it; kept for next time."""
        key = tuple(sorted(self._known(done)))
        if key not in self._kept:
            if len(self._kept) >= self.MOST_KEPT:
                self._kept.clear()
            self._kept[key] = self._recipe(key) if key else None
        return self._kept[key]

    def _known(self, done: Collection[int]) -> set[int]:
        """The tasks, each once. Raises BadInput for a task that the code does not have."""
        tasks, n = set(done), self.total
        for task in tasks:
            if not isinstance(task, (int, np.integer)) or not 0 <= task < n:
                raise BadInput("task", task, f"{self.family} has no such task", f"take 0 to {n - 1}")
        return tasks

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_kept"}  # recipes are not sent

    def finish(self, ends: Array) -> Array:
        """The time at which each row of arrival times (iterations, tasks) first determines its iteration."""
        return np.asarray(np.partition(ends, self.critical - 1, axis=1)[:, self.critical - 1])

    def decode(self, results: Mapping[int, Any], limit: float | None = None) -> AnyArray:
        """The iteration's answer from the results of some tasks.

        Results that are not finite are treated as missing. Raises Undecodable where the rest does not suffice, and
        IllConditioned where rounding errors would grow by more than `limit` (by default what the precision of the
        results allows): wait for one more result and try again. A code that cuts results in parts (`in_parts`) gives
        a flat answer, with the zeros that filled up the last part at its end.
        """
        if not isinstance(results, Mapping):
            raise BadInput("results", type(results).__name__, "not a mapping", "give {task: result}")
        arrays = {task: np.asarray(value) for task, value in results.items()}
        for task, array in arrays.items():
            if array.dtype.kind not in "iubfc":
                problem, remedy = "not an array of numbers", "leave out what is missing"
                raise BadInput(f"results[{task}]", results[task], problem, remedy)
            arrays[task] = array.astype(float) if array.dtype.kind in "iub" else array
        shapes = {array.shape for array in arrays.values()}
        if len(shapes) > 1:
            raise BadInput("results", sorted(shapes), "of different shapes", "give results of one iteration of one job")
        answer = self._combined(arrays, limit)
        if answer is None or not np.isfinite(answer).all():
            good = {task: value for task, value in arrays.items() if np.isfinite(value).all()}
            bad = [task for task in arrays if task not in good]
            if answer is not None and not bad:
                raise Overflowed(self.family)
            answer = self._combined(good, limit) if bad else None
            if answer is None:
                raise Undecodable(self.family, good, self.critical, bad)
        return answer

    def _combined(self, results: Mapping[int, AnyArray], limit: float | None) -> AnyArray | None:
        """The answer, finite or not, or None where the results do not determine it."""
        recipe = self.recipe(results) if self.decodable(results) else None
        if recipe is None:
            return None
        if limit is not None and not limit > 0:
            raise BadInput("limit", limit, "must be above 0", "give by how much rounding errors may grow, such as 1e7")
        allowed = limit if limit is not None else most_gain(value.dtype for value in results.values())
        if not recipe.gain <= allowed:
            raise IllConditioned(self.family, results, recipe.gain, allowed, "wait for one more result")
        with np.errstate(invalid="ignore", over="ignore"):
            target = recipe.apply([results[task] for task in recipe.done])
        answer = target if self.assemble is None else self.assemble(target)
        return answer.real if self.is_complex and self.kind != "transform" else answer

    @property
    def is_complex(self) -> bool:
        """Whether the weights are complex: results are then twice as large, and the data must be real."""
        return False


def only_row(target: AnyArray) -> AnyArray:
    """The answer of a code whose target has one row, as that of every gradient code."""
    return np.asarray(target[0])


def in_parts(value: AnyArray, parts: int) -> AnyArray:
    """An array cut in parts of one length, shape (parts, length): flat, with zeros at the end where it needs them."""
    flat = np.ravel(value)
    return np.pad(flat, (0, -flat.size % parts)).reshape(parts, -1) if flat.size % parts else flat.reshape(parts, -1)


def most_gain(dtypes: Iterable[np.dtype[Any]]) -> float:
    """By how much rounding errors may grow: typically to 1e-9 in double precision, 1e-4 in single; the least counts."""
    return min(float(TOLERANCES[kind.kind].get(kind.itemsize, 1e-9) / np.finfo(kind).eps) for kind in set(dtypes))
