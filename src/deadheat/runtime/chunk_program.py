"""Programs over chunks: a task combines the results of some chunks with the weights that its code gives it."""

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from deadheat.coding import Code, Mixture, mixture, same_shape
from deadheat.model import AnyArray
from deadheat.scheduling import NumericProgram, Token


class ChunkProgram(NumericProgram):
    """A chunk that several tasks of an iteration mix is computed once; a task that is asked for again, anew."""

    def __init__(self, code: Code, **settings: Any) -> None:
        super().__init__(code, **settings)
        self._tasks = [code.support(task) for task in range(code.total)]
        self._parts: int = getattr(code, "parts", 1)
        self._results: dict[int, AnyArray] = {}  # of chunks, in this iteration
        self._ran: set[int] = set()  # tasks, in this iteration
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
        self._state, self._iteration, self._results, self._ran = state, iteration, {}, set()

    def run(self, task: int, token: Token) -> AnyArray | Mixture:
        """The weighted sum of the chunks' results, in double precision; a result that is not mixed stays as it is."""
        chunks, weights = self._tasks[task]
        if weights.shape == (1, 1) and weights[0, 0] == 1:
            return self.result(int(chunks[0]), token)
        if task in self._ran:  # somebody doubts its result
            self._results = {chunk: value for chunk, value in self._results.items() if chunk not in chunks}
        for chunk in chunks.tolist():
            if chunk not in self._results:
                self._results[chunk] = self.result(chunk, token)
        self._ran.add(task)
        values = {chunk: self._results[chunk] for chunk in chunks.tolist()}
        same_shape(values, "chunk")
        return mixture(list(values.values()), weights)

    def numbers_of(self, value: Any) -> AnyArray:
        """The numbers of a result, in the precision of what it was mixed from."""
        array = np.asarray(value)
        if not isinstance(value, Mixture) or value.dtype.kind not in "fc":
            return array
        return array.astype(np.result_type(value.dtype, np.complex64 if array.dtype.kind == "c" else value.dtype))

    def rejected(self, results: Mapping[int, Any]) -> frozenset[int]:
        """Tasks whose results are no arrays of the usual shape."""
        if self._parts == 1:
            return super().rejected(results)
        wholes = {task: np.empty(part.shape) if isinstance(part, Mixture) else None for task, part in results.items()}
        return super().rejected(wholes) | super().rejected(results)

    def decode(self, results: Mapping[int, Any]) -> Any:
        answer = super().decode(results)
        if self._parts == 1:
            return answer
        shape = next(iter(results.values())).shape
        return answer[: int(np.prod(shape))].reshape(shape)


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
