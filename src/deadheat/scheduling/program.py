"""A program: a job under a code. What its tasks are, what each needs, how one is computed, how the state goes on."""

import traceback
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from deadheat.coding import Code
from deadheat.model import AnyArray, CodeSpec

Step = Callable[[Any, Any, int], Any]


class Purged(Exception):
    """Raised by `Token.check` inside a task whose result is no longer wanted."""


class Token:
    """Lets a long task look whether its result is still wanted; iteration: the number of its iteration."""

    def __init__(self, stale: Callable[[], bool], iteration: int = 0) -> None:
        self._stale, self.iteration = stale, iteration

    @property
    def purged(self) -> bool:
        return self._stale()

    def check(self) -> None:
        """Raise Purged if the iteration is over; the worker loop handles it."""
        if self._stale():
            raise Purged


class Unreadable:
    """Takes the place of data that a worker cannot read; the error is raised when the data is needed."""

    def __init__(self, error: BaseException) -> None:
        self.error = f"{type(error).__name__}: {error}"


class ChunkView:
    """A job's chunks by their place in the job, where a worker keeps them by number."""

    def __init__(self, numbers: tuple[int, ...], stored: Mapping[int, Any]) -> None:
        self._numbers, self._stored = numbers, stored

    def __getitem__(self, place: int) -> Any:
        return self._stored[self._numbers[place]]

    def __len__(self) -> int:
        return len(self._numbers)


class Program:
    """A job under a code.

    The master decodes, steps and shares the state; workers get a copy without code, chunks and step, begin iterations
    and run tasks. By itself a Program has tasks that compute nothing: that is enough on sampled time.

    work: units of work of a plain iteration. chunks: the job's data; each worker is sent those that its tasks need.
    step(state, answer, iteration) gives the next state. share(state) gives what workers see of it.
    converges: its step ends it at a tolerance, so that using up all iterations is worth a warning.
    patience: seconds that a task may take; None leaves it to what is measured.
    """

    MASTER_ONLY: tuple[str, ...] = ("code", "chunks", "step", "_share")
    repeatable = False  # whether a task gives the same numbers on every worker, so that results can be compared
    verifies = False  # whether `verify` can tell a wrong result from the result alone

    def __init__(
        self, code: Code, *, work: float = 1.0, iterations: int = 1, name: str = "", chunks: Sequence[Any] = (),
        step: Step | None = None, share: Callable[[Any], Any] | None = None, converges: bool = False,
        patience: float | None = None,
    ) -> None:  # fmt: skip
        self.converges, self.patience = converges, patience
        self.code, self.work, self.iterations, self.name = code, work, iterations, name
        self.chunks: Any = chunks  # at a worker: a ChunkView
        self.step: Step = keep if step is None else step
        self._share = share
        self._critical, self._total, self._cost = code.critical, code.total, code.cost

    @property
    def spec(self) -> CodeSpec:
        """The number of tasks, and the units of work of one."""
        work, shared = self.work * self._cost.work, self._cost.shared_chunks
        return CodeSpec.of(self._critical, self._total, work=work, shared_chunks=shared)

    def share(self, state: Any) -> Any:
        """What workers see of a state: all of it by default."""
        return state if self._share is None else self._share(state)

    def needs(self, task: int) -> Collection[int]:
        return ()

    def rejected(self, results: Mapping[int, Any]) -> frozenset[int]:
        """Tasks whose results cannot be used, whatever the others are."""
        return frozenset()

    def decode(self, results: Mapping[int, Any]) -> Any:
        """The iteration's answer from the results of some tasks."""
        return None

    def numbers_of(self, value: Any) -> AnyArray:
        """The numbers of a result, in the precision in which they were computed."""
        return np.asarray(value)

    def verify(self, task: int, value: Any, state: Any) -> bool:
        """Whether a result is right, far more cheaply than by computing it again. state: what workers see of it."""
        return True

    def begin(self, state: Any, iteration: int) -> None:
        """Begin an iteration, at the worker: what belongs to the last one is forgotten."""

    def run(self, task: int, token: Token) -> Any:
        """The result of a task, at the worker."""
        return None

    def chunk(self, number: int) -> Any:
        """A chunk of the data; raises where it could not be read."""
        chunk = self.chunks[number]
        if isinstance(chunk, Unreadable):
            raise RuntimeError(f"the worker cannot read what it was sent ({chunk.error})")
        return chunk

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in self.MASTER_ONLY}


class NumericProgram(Program):
    """A program whose results are arrays of one shape, put together by the code's decoder."""

    repeatable = True

    def rejected(self, results: Mapping[int, Any]) -> frozenset[int]:
        """Tasks whose results are no arrays of numbers, or of another shape than most."""
        shapes = {task: _shape(value) for task, value in results.items()}
        usual = Counter(shape for shape in shapes.values() if shape is not None).most_common(1)
        return frozenset(task for task, shape in shapes.items() if not usual or shape != usual[0][0])

    def decode(self, results: Mapping[int, Any]) -> Any:
        return self.code.decode(results)


def describe_error(error: BaseException) -> str:
    """The error in one line, with the place in the user's code and what was noted on the way."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    notes = "".join(f", {note}" for note in getattr(error, "__notes__", ()))
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text} ({last.filename.rpartition('/')[2]}:{last.lineno}{notes})"


def keep(state: Any, answer: Any, iteration: int) -> Any:
    """Leave the state as it is: the step of a program that has none."""
    return state


def _shape(value: Any) -> tuple[int, ...] | None:
    """The shape of an array of numbers; None for anything else."""
    try:
        array = np.asarray(value)
    except ValueError:  # a ragged list
        return None
    return array.shape if array.dtype.kind in "iubfc" else None
