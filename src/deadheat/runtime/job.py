"""A job: chunks of data, what to compute on each, and how the state goes on from the sum."""

import copy
import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from deadheat.coding import Code, added, codes, data_type, same_shape
from deadheat.errors import BadInput, finite, whole
from deadheat.model import AnyArray
from deadheat.runtime.chunk_program import ChunkProgram, LoadedChunks
from deadheat.scheduling import Program, Token


@dataclass(frozen=True)
class Converged:
    """Returned by a step function to end its job early, with the last state; why: in words, where that helps."""

    state: Any
    why: str = ""


class Workable(Protocol):
    """Anything that can be run: `Job`, and the jobs of `deadheat.jobs`. iterations: at most so many."""

    @property
    def name(self) -> str: ...
    @property
    def start(self) -> Any: ...
    @property
    def iterations(self) -> int: ...
    def program(self, code: Code | None, memory: float) -> Program:
        """The job under a code, or under its own choice. memory: bytes of loaded data that a worker may keep."""


@dataclass(frozen=True, eq=False)
class Job:
    """An iterative job whose iteration is a sum over chunks.

    chunks: the data, cut so that workers can hold some. compute(state, chunk) -> array: the part of one chunk; where it
    takes a third argument, that is a token with `.purged` and `.check()`. start: the first state.
    step(state, total, iteration) -> the next state, or `Converged(state)` to end early. iterations: at most so many.
    share(state) -> what workers see of the state, where that is not all of it. converges: `step` ends the job at a
    tolerance, so that a job that uses up its iterations is delivered with a warning. patience: seconds that a task may
    take, instead of what the run says.
    A chunk with a method `load` is read by the workers that need it. Data must not change while the job is under way.
    A job may begin anew, and go on in another process: so `step` and `compute` keep nothing outside of the state, such
    as a momentum in a closure, and `compute` does not change the state. The start is copied, and `step` may change the
    copy in place.
    """

    chunks: Sequence[Any]
    compute: Callable[..., Any]
    start: Any
    step: Callable[[Any, Any, int], Any]
    iterations: int
    name: str = ""
    share: Callable[[Any], Any] | None = None
    converges: bool = False
    patience: float | None = None

    def __post_init__(self) -> None:
        whole("iterations", self.iterations, "give how often to iterate")
        if self.patience is not None:
            finite("patience", self.patience, "give the seconds that a task may take at most", above=0.0)
        if not hasattr(self.chunks, "__len__") or not hasattr(self.chunks, "__getitem__"):
            raise BadInput("chunks", self.chunks, "not a list", "give the data as a list of chunks")
        if len(self.chunks) == 0:
            raise BadInput("chunks", self.chunks, "no data", "give at least one chunk")
        for field in ("compute", "step"):
            if not callable(getattr(self, field)):
                raise BadInput(field, getattr(self, field), "not a function", f"give {field}(state, ...)")

    @property
    def wants_token(self) -> bool:
        try:
            parameters = inspect.signature(self.compute).parameters.values()
        except (TypeError, ValueError):
            return False
        positional = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
        return sum(p.kind in positional and p.default is p.empty for p in parameters) >= 3

    def program(self, code: Code | None, memory: float) -> Program:
        """The job under a gradient code; small chunks are put together where the code wants fewer."""
        code = code_of_sum(code, len(self.chunks))
        return SumProgram(self, code, grouped(self.chunks, code.chunks), memory)


class SumProgram(ChunkProgram):
    """Sums over chunks: the result of a code's chunk is the sum over the user's chunks that it is made of."""

    def __init__(self, job: Job, code: Code, chunks: Sequence[Sequence[Any]], memory: float) -> None:
        super().__init__(
            code, work=float(len(job.chunks)), iterations=job.iterations, name=job.name, chunks=chunks, step=job.step,
            share=job.share, converges=job.converges, patience=job.patience,
        )  # fmt: skip
        self._compute, self._wants_token = job.compute, job.wants_token
        self._loaded = LoadedChunks(memory)

    def result(self, chunk: int, token: Token) -> Any:
        """The sum over the user's chunks in a code's chunk: added in double precision, in the type of its terms."""
        extra = (token,) if self._wants_token else ()
        total: Any = None
        kinds = set()
        for number, part in enumerate(self.chunk(chunk)):
            try:
                value = _numbers(self._compute(self._state, self._loaded.get((chunk, number), part), *extra))
            except Exception as error:
                error.add_note(f"chunk {chunk}" + (f", part {number}" if number else ""))
                raise
            kinds.add(value.dtype)
            if total is None:
                total = value
                continue
            same_shape({0: total, number: value}, f"chunk {chunk}, part")
            total = added(total, value)
        with np.errstate(over="ignore"):  # what overflows is not finite, and is named where results are put together
            return total if len(self.chunk(chunk)) == 1 else total.astype(data_type(kinds), copy=False)


def _numbers(value: Any) -> AnyArray:
    """A copy of what `compute` gave, since that may be one and the same array every time. Raises BadInput for masks."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        problem = "has masked elements, and a sum would count what is behind the mask"
        raise BadInput("result", value, problem, "fill them: return result.filled(0.0)")
    return np.array(value)


def code_of_sum(code: Code | None, chunks: int) -> Code:
    """The code of a sum over so many chunks: uncoded by default. Raises BadInput for one that does not fit."""
    if code is None:
        return codes.uncoded(chunks)
    if code.kind != "gradient":
        raise BadInput("code", code.family, f"for {code.kind} work, and a job sums over chunks", "take a gradient code")
    if code.chunks > chunks:
        remedy = f"cut the data into at least {code.chunks} chunks, or take a smaller code"
        raise BadInput("chunks", chunks, f"{code.family} needs {code.chunks}", remedy)
    return code


def grouped(chunks: Sequence[Any], count: int) -> list[list[Any]]:
    """The chunks in so many groups of neighbours."""
    return [[chunks[i] for i in group] for group in np.array_split(np.arange(len(chunks)), count)]


def private_copy(state: Any) -> Any:
    """A copy that a step may change in place. Raises BadInput for what cannot be copied: the next run would see it."""
    try:
        return copy.deepcopy(state)
    except Exception as error:  # of a class of the user's
        problem = f"cannot be copied ({type(error).__name__}: {error})"
        remedy = "leave out what is not data (locks, files, generators), or give the class a __deepcopy__"
        raise BadInput("start", state, problem, remedy) from None


def in_series(job: Workable) -> Any:
    """The last state of the job, computed here without workers and without a code."""
    program, state = job.program(None, math.inf), private_copy(job.start)
    for iteration in range(program.iterations):
        program.begin(program.share(state), iteration)
        wanted = Token(lambda: False, iteration)
        results = {task: program.run(task, wanted) for task in range(program.code.total)}
        state = program.step(state, program.decode(results), iteration)
        if isinstance(state, Converged):
            return state.state
    return state
