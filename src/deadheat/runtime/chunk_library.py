"""The chunks of data of all jobs under way: jobs that share data share it in memory and at the workers."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

PLAIN = (int, float, complex, str, bytes, bool, type(None))


class ChunkLibrary:
    """Numbers the chunks of jobs. Two jobs whose chunks lie in the same memory get the same number.

    That is safe because data must not change while its job is under way; a number is given up with its last job.
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


def memory_key(chunk: Any) -> object:
    """What is equal for two chunks that are the same memory: where an array lies, or which object it is."""
    if type(chunk) is np.ndarray:
        return chunk.__array_interface__["data"][0], chunk.shape, chunk.strides, chunk.dtype
    if type(chunk) in (tuple, list):
        return type(chunk), *map(memory_key, chunk)
    return (type(chunk), repr(chunk)) if type(chunk) in PLAIN else id(chunk)
