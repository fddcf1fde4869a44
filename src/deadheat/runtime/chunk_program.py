"""Programs over chunks: a task combines the results of some chunks with the weights that its code gives it."""

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from deadheat.coding import Code, in_parts
from deadheat.model import AnyArray
from deadheat.scheduling import NumericProgram, Token


class Part(NamedTuple):
    """A combination of parts of results, where a code cuts these into parts; shape: of a whole result."""

    value: AnyArray
    shape: tuple[int, ...]


class ChunkProgram(NumericProgram):
    """A chunk that several tasks of an iteration need is computed once."""

    def __init__(self, code: Code, **settings: Any) -> None:
        super().__init__(code, **settings)
        self._tasks = [code.support(task) for task in range(code.total)]
        self._parts: int = getattr(code, "parts", 1)
        self._results: dict[int, AnyArray] = {}  # of chunks, in this iteration
        self._state: Any = None
        self._iteration = 0

    @abstractmethod
    def result(self, chunk: int, token: Token) -> AnyArray:
        """The result of one chunk, at the worker."""

    def needs(self, task: int) -> Collection[int]:
        chunks: list[int] = self._tasks[task][0].tolist()
        return chunks

    def begin(self, state: Any, iteration: int) -> None:
        """Keep the state, and forget the chunks' results."""
        self._state, self._iteration, self._results = state, iteration, {}

    def run(self, task: int, token: Token) -> Any:
        """The weighted sum of the chunks' results."""
        chunks, weights = self._tasks[task]
        total: Any = None
        for chunk, row in zip(chunks.tolist(), weights, strict=True):
            if chunk not in self._results:
                self._results[chunk] = self.result(chunk, token)
            value, first = self._results[chunk], self._results[int(chunks[0])]
            if np.shape(value) != np.shape(first):
                shapes = f"chunk {chunk} gave shape {np.shape(value)}, chunk {chunks[0]} {np.shape(first)}"
                raise ValueError(f"{shapes}: all chunks must give results of one shape")
            whole = value if self._parts > 1 or row[0] == 1 else row[0] * value
            term = row @ in_parts(value, self._parts) if self._parts > 1 else whole
            total = term if total is None else total + term
        return total if self._parts == 1 else Part(total, np.shape(value))

    def rejected(self, results: Mapping[int, Any]) -> frozenset[int]:
        """Tasks whose results are no arrays of the usual shape."""
        if self._parts == 1:
            return super().rejected(results)
        wholes = {task: np.empty(part.shape) if isinstance(part, Part) else None for task, part in results.items()}
        return super().rejected(wholes) | super().rejected(_values(results))

    def decode(self, results: Mapping[int, Any]) -> Any:
        if self._parts == 1:
            return super().decode(results)
        shape = next(iter(results.values())).shape
        return super().decode(_values(results))[: int(np.prod(shape))].reshape(shape)


def _values(results: Mapping[int, Any]) -> dict[int, Any]:
    return {task: part.value if isinstance(part, Part) else None for task, part in results.items()}


class LoadedChunks:
    """Chunks that a worker has read itself, as many as the memory holds; the one not used for longest goes first."""

    def __init__(self, memory: float) -> None:
        self._memory, self._used = memory, 0
        self._data: OrderedDict[object, tuple[Any, int]] = OrderedDict()

    def get(self, key: object, chunk: Any) -> Any:
        """The chunk itself, or what its `load` gives."""
        if not hasattr(chunk, "load"):
            return chunk
        if key not in self._data:
            data = chunk.load()
            self._data[key] = data, _bytes(data)
            self._used += _bytes(data)
            while self._used > self._memory and len(self._data) > 1:
                self._used -= self._data.popitem(last=False)[1][1]
        self._data.move_to_end(key)
        return self._data[key][0]


def _bytes(data: Any) -> int:
    if isinstance(data, (tuple, list)):
        return sum(map(_bytes, data))
    return int(getattr(data, "nbytes", 0))
