"""Parcels: objects between processes, large arrays through shared memory, all else through the pipe.

An object is pickled with its arrays' bytes kept apart (protocol 5). Where these are large, they are laid into a shared
shelf, and only the place is sent; the other side gets arrays that look into the shelf, without a copy. A shelf is
filled anew when its owner says so: what lies on it is void then.
"""

from __future__ import annotations

import pickle
from contextlib import suppress
from multiprocessing.shared_memory import SharedMemory
from typing import Any

LARGE = 32 * 1024  # bytes from which the shelf is faster than the pipe (bench_engine)
ROOM = 4096  # bytes that a pipe takes at once: what is larger goes to the shelf, so that sending never blocks
ALIGNED = 64

Place = tuple[str, tuple[tuple[int, int], ...]]  # the shelf's name, and where each array lies


class Memory(SharedMemory):
    """Shared memory that does not complain when it goes while an array still looks into it."""

    def __del__(self) -> None:
        with suppress(BufferError, OSError):
            self.close()

    def bytes(self) -> memoryview:
        """All of it."""
        assert self.buf is not None
        return self.buf


class Shelf:
    """Shared memory of one writer, which grows as needed."""

    def __init__(self) -> None:
        self._memory: Memory | None = None
        self._old: list[Memory] = []
        self._used = 0

    def clear(self) -> None:
        """Begin at the front again: readers are done with what was there."""
        self._used = 0
        for memory in self._old:
            _drop(memory)
        self._old.clear()

    def lay(self, buffers: list[memoryview]) -> Place:
        """Copy the bytes onto the shelf."""
        needed = sum(b.nbytes + ALIGNED for b in buffers)
        if self._memory is None or self._used + needed > self._memory.size:
            if self._memory is not None:
                self._old.append(self._memory)
            size = max(needed, 2 * (self._memory.size if self._memory else 0), 1 << 20)
            self._memory, self._used = Memory(create=True, size=size), 0
        places = []
        for buffer in buffers:
            start = -(-self._used // ALIGNED) * ALIGNED
            self._memory.bytes()[start : start + buffer.nbytes] = buffer
            places.append((start, buffer.nbytes))
            self._used = start + buffer.nbytes
        return self._memory.name, tuple(places)

    def unlink(self) -> None:
        """Take the names away, from any thread: the memory goes when the last process lets go of it."""
        for memory in (*self._old, *([self._memory] if self._memory else [])):
            with suppress(FileNotFoundError):
                memory.unlink()

    def close(self) -> None:
        """Give the memory back."""
        self.clear()
        if self._memory is not None:
            _drop(self._memory)
            self._memory = None


class Reader:
    """Looks into shelves of others."""

    def __init__(self) -> None:
        self._known: dict[str, Memory] = {}

    def look(self, place: Place) -> list[memoryview]:
        """The bytes at that place, read-only."""
        name, places = place
        if name not in self._known:
            self._known[name] = Memory(name)
        buffer = self._known[name].bytes()
        return [buffer[start : start + size].toreadonly() for start, size in places]

    def close(self, unlink: bool = False) -> None:
        """Let go of all; unlink: their writers are gone, so the memory must be given back from here."""
        for memory in self._known.values():
            if unlink:
                with suppress(FileNotFoundError):
                    memory.unlink()
            with suppress(BufferError):  # an array still looks into it: it goes with the process
                memory.close()
        self._known.clear()


def pack(value: Any, shelf: Shelf) -> tuple[bytes, Place | None]:
    """An object ready to be sent."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, 5, buffer_callback=buffers.append)
    views = [b.raw() for b in buffers]
    if sum(v.nbytes for v in views) + len(head) < ROOM // 2:
        return (pickle.dumps(value, 5), None) if views else (head, None)
    return b"", shelf.lay([memoryview(head), *views])


def unpack(head: bytes, place: Place | None, reader: Reader) -> Any:
    """The object again; its large arrays look into the shelf."""
    if place is None:
        return pickle.loads(head)
    first, *rest = reader.look(place)
    return pickle.loads(first, buffers=rest)


def _drop(memory: Memory) -> None:
    with suppress(FileNotFoundError):
        memory.unlink()
    with suppress(BufferError):
        memory.close()
