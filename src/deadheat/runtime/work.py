"""What a worker does: a job's work turns tasks into results, given the state of the iteration."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from deadheat.coding import Code
from deadheat.model import AnyArray


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
    """A job's work, as it is sent to workers: it must survive pickle, and leaves its stock behind then.

    stock: the job's data in pieces, by number. Each worker is sent those that its tasks need.
    """

    @property
    def stock(self) -> Mapping[int, Any]:
        """All pieces, at the master."""

    def needs(self, task: int) -> Collection[int]:
        """The pieces that a task needs."""

    def store(self, number: int, piece: Any) -> None:
        """Take a piece, at the worker."""

    def begin(self, state: Any) -> None:
        """A new iteration: forget what belongs to the last."""

    def run(self, task: int, token: Token) -> Any:
        """The result of a task."""


class Unread:
    """Data that a worker cannot read: it says so when it is needed."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def load(self) -> Any:
        """Say why."""
        raise RuntimeError(f"the worker cannot read what it was sent ({type(self.error).__name__}: {self.error})")


class Stocked:
    """Data in numbered pieces that stay behind when the work is sent: each worker is given those it needs."""

    def __init__(self, pieces: Sequence[Any] = ()) -> None:
        self._stock = dict(enumerate(pieces))

    @property
    def stock(self) -> Mapping[int, Any]:
        """The pieces that are here."""
        return self._stock

    def store(self, number: int, piece: Any) -> None:
        """Take a piece."""
        self._stock[number] = piece

    def piece(self, number: int) -> Any:
        """A piece; raises where it could not be read."""
        found = self._stock[number]
        return found.load() if isinstance(found, Unread) else found

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_stock": {}}


class Broken(Stocked):
    """Work that could not be read where it should be done: every task says why."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self._error = f"the worker cannot read the job ({type(error).__name__}: {error})"

    def needs(self, task: int) -> Collection[int]:
        """Nothing."""
        return ()

    def begin(self, state: Any) -> None:
        """Nothing to begin."""

    def run(self, task: int, token: Token) -> Any:
        """Say why."""
        raise RuntimeError(self._error)


class Mixture(Stocked):
    """A stock of chunks that tasks mix as a code says; `_known`: results of chunks in this iteration."""

    def __init__(self, code: Code, chunks: Sequence[Any]) -> None:
        super().__init__(chunks)
        self._tasks = [code.support(task) for task in range(code.total)]
        self._known: dict[int, AnyArray] = {}

    def needs(self, task: int) -> Collection[int]:
        """The chunks that it mixes."""
        found: list[int] = self._tasks[task][0].tolist()
        return found


class ChunkWork(Mixture):
    """Sums over chunks, mixed by a code: a task adds up the weighted results of its chunks.

    chunks: for each of the code's chunks, the pieces of data it is made of; a piece with a method `load` is read by the
    worker that needs it. compute(state, piece) gives an array; where it takes a third argument, that is the token.
    A chunk that several tasks of the iteration need is computed once. memory: bytes of loaded pieces that are kept.
    """

    def __init__(
        self,
        code: Code,
        chunks: Sequence[Sequence[Any]],
        compute: Callable[..., AnyArray],
        wants_token: bool,
        memory: float = math.inf,
    ) -> None:
        super().__init__(code, chunks)
        self._parts = getattr(code, "parts", 1)
        self._compute, self._wants_token = compute, wants_token
        self._loaded = Loaded(memory)
        self._state: Any = None

    def begin(self, state: Any) -> None:
        """Forget the chunks' results."""
        self._state, self._known = state, {}

    def run(self, task: int, token: Token) -> AnyArray:
        """The mixture."""
        chunks, weights = self._tasks[task]
        total: AnyArray | None = None
        for chunk, row in zip(chunks.tolist(), weights, strict=True):
            if chunk not in self._known:
                self._known[chunk] = self._result(chunk, token)
            value = self._known[chunk]
            if self._parts > 1:
                if value.size % self._parts:
                    told = f"the code cuts results into {self._parts} parts, and one of {value.size} numbers cannot be"
                    raise ValueError(f"{told}: pad it, or take codes.cyclic")
                piece = row @ np.reshape(value, (self._parts, -1))
            else:
                piece = value if row[0] == 1 else row[0] * value
            total = piece if total is None else total + piece
        assert total is not None
        return total

    def _result(self, chunk: int, token: Token) -> AnyArray:
        more = (token,) if self._wants_token else ()
        total: AnyArray | None = None
        for number, piece in enumerate(self.piece(chunk)):
            try:
                value = np.asarray(self._compute(self._state, self._loaded.get((chunk, number), piece), *more))
            except Exception as error:
                error.add_note(f"chunk {chunk}" + (f", piece {number}" if number else ""))
                raise
            total = value if total is None else total + value
        assert total is not None
        return total


class Loaded:
    """Pieces that were read from where they lie, as many as the memory holds; who was not used longest goes first."""

    def __init__(self, memory: float) -> None:
        self._memory, self._used = memory, 0
        self._pieces: OrderedDict[object, tuple[Any, int]] = OrderedDict()

    def get(self, key: object, piece: Any) -> Any:
        """The piece itself, or what its `load` gives."""
        if not hasattr(piece, "load"):
            return piece
        if key not in self._pieces:
            data = piece.load()
            size = size_of(data)
            self._used += size
            self._pieces[key] = data, size
            while self._used > self._memory and len(self._pieces) > 1:
                self._used -= self._pieces.popitem(last=False)[1][1]
        self._pieces.move_to_end(key)
        return self._pieces[key][0]


def size_of(data: Any) -> int:
    """Bytes of the arrays in it."""
    if isinstance(data, (tuple, list)):
        return sum(map(size_of, data))
    return int(getattr(data, "nbytes", 0))
