"""A job: chunks of data, what to compute on each, and how the state goes on from the sum."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from deadheat.coding import Code, codes
from deadheat.errors import BadInput, whole
from deadheat.runtime.work import ChunkWork, Work


@dataclass(frozen=True, eq=False)
class Prepared:
    """A job under a code: what its tasks are, and what becomes of an iteration's answer.

    units: units of work of a plain iteration, where nobody says otherwise. share(state): what workers see of the state.
    """

    code: Code
    work: Work
    units: float
    step: Callable[[Any, Any, int], Any]
    share: Callable[[Any], Any] | None = None


class Workable(Protocol):
    """Anything that can be run: `Job`, and the jobs of `deadheat.jobs`."""

    @property
    def name(self) -> str:
        """For people."""

    @property
    def start(self) -> Any:
        """The first state."""

    @property
    def iterations(self) -> int:
        """At most."""

    def prepare(self, code: Code | None, memory: float) -> Prepared:
        """The job under a code, or under its own choice. memory: bytes of loaded data that a worker may keep."""


@dataclass(frozen=True, eq=False)
class Job:
    """An iterative job whose iteration is a sum over chunks.

    chunks: the data, in pieces that workers can hold. compute(state, chunk) -> array: the part of one chunk; where it
    takes a third argument, that is a token with `.purged` and `.check()`. start: the first state.
    step(state, total, iteration) -> the next state, or `Converged(state)` to end early. iterations: at most.
    share(state) -> what workers see of the state, where that is not all of it.
    A chunk with a method `load` is read by the workers that need it.
    """

    chunks: Sequence[Any]
    compute: Callable[..., Any]
    start: Any
    step: Callable[[Any, Any, int], Any]
    iterations: int
    name: str = ""
    share: Callable[[Any], Any] | None = None

    def __post_init__(self) -> None:
        whole("iterations", self.iterations, "give how often to iterate")
        if not hasattr(self.chunks, "__len__") or not hasattr(self.chunks, "__getitem__"):
            raise BadInput("chunks", self.chunks, "not a list", "give the data in pieces")
        if len(self.chunks) == 0:
            raise BadInput("chunks", self.chunks, "no data", "give at least one chunk")
        for field in ("compute", "step"):
            if not callable(getattr(self, field)):
                raise BadInput(field, getattr(self, field), "not a function", f"give {field}(state, ...)")

    @property
    def wants_token(self) -> bool:
        """Whether compute takes a token."""
        try:
            every = inspect.signature(self.compute).parameters.values()
            plain = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
            needed = [one for one in every if one.kind in plain and one.default is one.empty]
            return len(needed) >= 3
        except (TypeError, ValueError):
            return False

    def prepare(self, code: Code | None, memory: float) -> Prepared:
        """The job under a gradient code; small chunks are put together where the code wants fewer."""
        code = code or codes.uncoded(len(self.chunks))
        if code.kind != "gradient":
            problem = f"for {code.kind} work, and a Job is a sum over chunks"
            raise BadInput("code", code.family, problem, "take a gradient code")
        if code.chunks > len(self.chunks):
            remedy = f"cut the data into at least {code.chunks} chunks, or take a smaller code"
            raise BadInput("chunks", len(self.chunks), f"{code.family} needs {code.chunks}", remedy)
        groups = np.array_split(np.arange(len(self.chunks)), code.chunks)
        grouped = [[self.chunks[i] for i in group] for group in groups]
        work = ChunkWork(code, grouped, self.compute, self.wants_token, memory)
        return Prepared(code, work, len(self.chunks), self.step, self.share)
