"""What a worker does: a job's work turns tasks into results, given the state of the iteration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deadheat.coding import Code

Array = NDArray[Any]


class Purged(Exception):
    """Raised by `Token.check` inside a task whose result is no longer wanted."""


class Token:
    """Lets a long task look whether its result is still wanted."""

    def __init__(self, stale: Callable[[], bool]) -> None:
        self._stale = stale

    @property
    def purged(self) -> bool:
        """Whether the iteration is over."""
        return self._stale()

    def check(self) -> None:
        """Raise Purged if the iteration is over; the worker loop knows what to do with it."""
        if self._stale():
            raise Purged


class Work(Protocol):
    """A job's work, as it is sent to workers: it must survive pickle."""

    def begin(self, state: Any) -> None:
        """A new iteration: forget what belongs to the last."""

    def run(self, task: int, token: Token) -> Any:
        """The result of a task."""


class Broken:
    """Work that could not be read where it should be done: every task says why."""

    def __init__(self, error: BaseException) -> None:
        self._error = f"the worker cannot read the job ({type(error).__name__}: {error})"

    def begin(self, state: Any) -> None:
        """Nothing to begin."""

    def run(self, task: int, token: Token) -> Any:
        """Say why."""
        raise RuntimeError(self._error)


class ChunkWork:
    """Sums over chunks, mixed by a code: a task adds up the weighted results of its chunks.

    chunks: for each of the code's chunks, the pieces of data it is made of. compute(state, piece) gives an array; where
    it takes a third argument, that is the token. A chunk that several tasks of the iteration need is computed once.
    """

    def __init__(
        self, code: Code, chunks: Sequence[Sequence[Any]], compute: Callable[..., Array], wants_token: bool
    ) -> None:
        self._tasks = [code.support(task) for task in range(code.total)]
        self._parts = getattr(code, "parts", 1)
        self._chunks, self._compute, self._wants_token = chunks, compute, wants_token
        self._state: Any = None
        self._known: dict[int, Array] = {}

    def begin(self, state: Any) -> None:
        """Forget the chunks' results."""
        self._state, self._known = state, {}

    def run(self, task: int, token: Token) -> Array:
        """The mixture."""
        chunks, weights = self._tasks[task]
        total: Array | None = None
        for chunk, row in zip(chunks.tolist(), weights, strict=True):
            if chunk not in self._known:
                self._known[chunk] = self._result(chunk, token)
            value = self._known[chunk]
            if self._parts > 1:
                piece = row @ np.reshape(value, (self._parts, -1))
            else:
                piece = value if row[0] == 1 else row[0] * value
            total = piece if total is None else total + piece
        assert total is not None
        return total

    def _result(self, chunk: int, token: Token) -> Array:
        more = (token,) if self._wants_token else ()
        first, *rest = (np.asarray(self._compute(self._state, piece, *more)) for piece in self._chunks[chunk])
        return sum(rest, start=first)
