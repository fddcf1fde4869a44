"""What a code is to the other rooms: tasks, what each needs, which results suffice, and how they are combined.

The *target* is what the master wants of an iteration: the sum over all chunks, or all blocks of a product. A *recipe*
says how the target is combined from the results that are in. The contract is small: `total`, `critical`, `cost`,
`support(task)`, `decodable(done)`, a recipe for a pattern, and `finish(ends)`. `decode` and the guard follow from it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deadheat.coding.cost import Cost
from deadheat.coding.decoding_errors import Overflowed, Undecodable
from deadheat.coding.decoding_recipe import Recipe
from deadheat.coding.guard import Guard
from deadheat.coding.mixture import Mixture, mixture
from deadheat.coding.precision import DType, data_type, floating, whole_numbers, whole_sum
from deadheat.errors import BadInput
from deadheat.model import AnyArray, Array, IntArray

MUCH = 32.0  # times its rounding, an imaginary part is more than that
KEPT = ("_kept", "_parities", "_parity_of_all")  # what patterns were solved for is not sent to other processes


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
        """The task's result from the results of its chunks (by number, in a mapping or a sequence), in their precision.

        Workers send such a result in double precision (`mixture`), since decoding takes digits.
        """
        chunks, weights = self.support(task)
        arrays = {j: np.asarray(values[j]) for j in chunks.tolist()}
        same_shape(arrays, "chunk")
        total = np.asarray(mixture(list(arrays.values()), weights))
        kept = floating(array.dtype for array in arrays.values())
        return total.astype(np.result_type(kept, np.complex64) if total.dtype.kind == "c" else kept, copy=False)

    def part(self, task: int) -> int:
        """What is equal for tasks that are copies of one another: the task's own number, where there are none."""
        return task

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

    def parity(self, done: Collection[int]) -> AnyArray | None:
        """Rows V, orthonormal, with V @ results = 0 where all these results are right; None for a code without any.

        Columns are the tasks in ascending order. There are no rows where there are no more results than are needed to
        tell the others. Codes of copies have no parities (copies are compared), and codes that peel give none.
        """
        return None

    def _known(self, done: Collection[int]) -> set[int]:
        """The tasks, each once. Raises BadInput for a task that the code does not have."""
        tasks, n = set(done), self.total
        for task in tasks:
            if not isinstance(task, (int, np.integer)) or not 0 <= task < n:
                raise BadInput("task", task, f"{self.family} has no such task", f"take 0 to {n - 1}")
        return tasks

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in KEPT}

    def finish(self, ends: Array) -> Array:
        """The time at which each row of arrival times (iterations, tasks) first determines its iteration."""
        return np.asarray(np.partition(ends, self.critical - 1, axis=1)[:, self.critical - 1])

    def decode(self, results: Mapping[int, Any], limit: float | None = None) -> AnyArray:
        """The iteration's answer from the results of some tasks.

        Results that are not finite are treated as missing. Raises Undecodable where the rest does not suffice, and
        IllConditioned where rounding errors would grow by more than `limit` (by default what the precision of the
        results and the size of the answer allow, see `Guard`): wait for one more result and try again. The answer has
        the type of the data, as a `Mixture` tells it or the results show it; whole numbers give whole doubles, and
        beyond 2^53 BadInput. A code that cuts results in parts (`in_parts`) gives a flat answer, with the zeros that
        filled up the last part at its end.
        """
        if not isinstance(results, Mapping):
            raise BadInput("results", type(results).__name__, "not a mapping", "give {task: result}")
        arrays, dtypes = {task: np.asarray(value) for task, value in results.items()}, set()
        for task, array in arrays.items():
            if array.dtype.kind not in "iubfc":
                problem, remedy = "not an array of numbers", "leave out what is missing"
                raise BadInput(f"results[{task}]", results[task], problem, remedy)
            dtypes.add(results[task].dtype if isinstance(results[task], Mixture) else array.dtype)
            arrays[task] = whole_numbers(array).astype(float) if array.dtype.kind in "iub" else array
        same_shape(arrays, "task")
        mixed = any(isinstance(result, Mixture) for result in results.values())
        data = data_type(dtypes) if dtypes and (mixed or not self.is_complex) else None
        answer = self._combined(arrays, limit, data, rounded=mixed)
        if answer is None or not np.isfinite(answer).all():
            good = {task: value for task, value in arrays.items() if np.isfinite(value).all()}
            bad = [task for task in arrays if task not in good]
            if answer is not None and not bad:
                raise Overflowed(self.family)
            answer = self._combined(good, limit, data, rounded=mixed) if bad else None
            if answer is None:
                raise Undecodable(self.family, good, self.critical, bad)
        return answer

    def _combined(
        self, results: Mapping[int, AnyArray], limit: float | None, data: DType | None, *, rounded: bool
    ) -> AnyArray | None:
        """The answer, finite or not, in the type of the data, or None where the results do not determine it.

        data: None where it is not known, since complex weights make complex results of any numbers: then the answer is
        real where its imaginary part is nothing but rounding. rounded: whole numbers were mixed, and are so no more.
        """
        recipe = self.recipe(results) if self.decodable(results) else None
        if recipe is None:
            return None
        remedy = "wait for one more result" if len(results) < self.total else "use double precision, or another code"
        kinds = data or data_type(result.dtype for result in results.values())
        guard = Guard(
            self.family, recipe, results, data=kinds, remedy=remedy, exact=self.exact, sums=self.kind == "gradient"
        )
        guard.check_weights(limit)
        is_whole = kinds.kind == "i"
        with np.errstate(invalid="ignore", over="ignore"):
            used = [results[task] for task in recipe.done]
            target = recipe.apply(used)
            if limit is None and self.kind != "linear":  # rows of its answer are what a result is mixed from
                guard.check_cancellation(target)
            if data is None:
                is_real = np.linalg.norm(target.imag) <= MUCH * guard.rounding_of_answer()
                kinds = target.real.dtype if is_real else target.dtype
            if is_whole and rounded and self.exact:
                guard.check_whole_numbers()
                target = np.rint(target.real)
            answer = target if self.assemble is None else self.assemble(target)
            if is_whole:
                return whole_sum(answer.real, used if self.kind == "gradient" and not rounded else [answer])
            return np.asarray(answer.real if kinds.kind == "f" else answer).astype(kinds, order="C", copy=False)

    @property
    def is_complex(self) -> bool:
        """Whether the weights are complex: the results of real data are then complex, and twice as large."""
        return False


def only_row(target: AnyArray) -> AnyArray:
    """The answer of a code whose target has one row, as that of every gradient code."""
    return np.asarray(target[0])


def same_shape(values: Mapping[int, AnyArray], what: str) -> None:
    """Raise BadInput where not all have one shape: numpy would stretch one number to a vector without a word."""
    if len({value.shape for value in values.values()}) < 2:
        return
    (first, value), *others = values.items()
    other, odd = next((number, array.shape) for number, array in others if array.shape != value.shape)
    problem = f"the result of {what} {other} is of another shape than that of {what} {first}, {value.shape}"
    raise BadInput("shape", odd, problem, "give results of one shape, from one iteration of one job")
