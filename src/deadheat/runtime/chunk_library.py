"""The chunks of data of all jobs under way: jobs that share data share it in memory and at the workers."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

SAMPLES = 256  # numbers of an array that are compared; parts of a list that are looked at


class ChunkLibrary:
    """Numbers the chunks of jobs. Two jobs whose chunks lie in the same memory get the same number.

    Data must not change while its job is under way; a number is given up with its last job.
    """

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}
        self._chunks: dict[int, tuple[object, Any]] = {}  # the key, and the chunk itself
        self._users: dict[int, int] = {}
        self._next = 0

    def take(self, chunks: Sequence[Any]) -> tuple[int, ...]:
        """The numbers of a job's chunks, which are kept until they are released."""
        return tuple(map(self._take, chunks))

    def _take(self, chunk: Any) -> int:
        key = memory_key(chunk)
        if key not in self._numbers:
            self._numbers[key] = self._next
            self._chunks[self._next] = key, chunk
            self._next += 1
        number = self._numbers[key]
        self._users[number] = self._users.get(number, 0) + 1
        return number

    def release(self, numbers: Iterable[int]) -> frozenset[int]:
        """Give up a job's chunks; return those that no other job uses."""
        unused = set()
        for number in numbers:
            self._users[number] -= 1
            if not self._users[number]:
                key, _ = self._chunks.pop(number)
                del self._users[number], self._numbers[key]
                unused.add(number)
        return frozenset(unused)

    def __getitem__(self, number: int) -> Any:
        return self._chunks[number][1]


def memory_key(chunk: Any, depth: int = 3) -> object:
    """What is equal for two chunks that are the same memory: where an array lies, or which object it is.

    Some samples of an array are part of it: a buffer that is filled anew for every job is not shared.
    """
    if type(chunk) is np.ndarray and not chunk.dtype.hasobject:
        samples = chunk.flat[:: max(chunk.size // SAMPLES, 1)].tobytes()
        return chunk.__array_interface__["data"][0], chunk.shape, chunk.strides, chunk.dtype, samples
    if type(chunk) in (tuple, list) and depth and len(chunk) <= SAMPLES:
        return type(chunk), *(memory_key(part, depth - 1) for part in chunk)
    return id(chunk)
