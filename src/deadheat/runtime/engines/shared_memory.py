"""Shared memory between the processes of one machine: large arrays are written once and read without a copy.

An arena belongs to one writer and is filled anew when its owner says so: what was in it is void then.
"""

import os
from contextlib import suppress
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import numpy as np

from deadheat.runtime.engines.codec import Encoded, decode, encode

SMALL = 2048  # bytes up to which an object goes through the pipe
ALIGNED = 64

Place = tuple[str, tuple[tuple[int, int], ...]]  # the segment's name, and where each buffer lies in it
Packed = tuple[str, Any, Any]  # "array", type, bytes; "object", pickle, buffers; "shared", place


class Segment(SharedMemory):
    """Shared memory that does not complain when it goes while an array still looks into it.

    Its descriptor is closed at once: the mapping does not need it, and goes with the last array.
    """

    def __init__(self, name: str | None = None, create: bool = False, size: int = 0) -> None:
        super().__init__(name, create, size)
        if self._fd >= 0:  # type: ignore[has-type]
            os.close(self._fd)  # type: ignore[has-type]
            self._fd = -1

    def __del__(self) -> None:
        with suppress(BufferError, OSError):
            self.close()

    def bytes(self) -> memoryview:
        assert self.buf is not None
        return self.buf


class Arena:
    """Shared memory of one writer, which grows as needed."""

    def __init__(self) -> None:
        self._segment: Segment | None = None
        self._full: list[Segment] = []
        self._used = 0

    def clear(self) -> None:
        """Begin at the front again: readers are done with what was there."""
        self._used = 0
        for segment in self._full:
            _drop(segment)
        self._full.clear()

    def write(self, buffers: list[memoryview]) -> Place:
        needed = sum(b.nbytes + ALIGNED for b in buffers)
        if self._segment is None or self._used + needed > self._segment.size:
            if self._segment is not None:
                self._full.append(self._segment)
            size = max(needed, 2 * (self._segment.size if self._segment else 0), 1 << 20)
            self._segment, self._used = Segment(create=True, size=size), 0
        places = []
        for buffer in buffers:
            start = -(-self._used // ALIGNED) * ALIGNED
            self._segment.bytes()[start : start + buffer.nbytes] = buffer
            places.append((start, buffer.nbytes))
            self._used = start + buffer.nbytes
        return self._segment.name, tuple(places)

    def unlink(self) -> None:
        """Take the names away, from any thread: the memory goes when the last process lets go of it."""
        for segment in filter(None, (*self._full, self._segment)):
            with suppress(FileNotFoundError):
                segment.unlink()

    def close(self) -> None:
        self.clear()
        if self._segment is not None:
            _drop(self._segment)
            self._segment = None


class ArenaReader:
    """Looks into arenas of other processes."""

    def __init__(self) -> None:
        self._segments: dict[str, Segment] = {}

    def read(self, place: Place) -> list[memoryview]:
        name, places = place
        if name not in self._segments:
            self._segments[name] = Segment(name)
        buffer = self._segments[name].bytes()
        return [buffer[start : start + size].toreadonly() for start, size in places]

    def close(self, unlink: bool = False) -> None:
        """Let go of all; unlink: their writers are gone, so the memory must be released from here."""
        for segment in self._segments.values():
            _drop(segment, unlink)
        self._segments.clear()


def pack(value: Any, arena: Arena) -> Packed:
    """An object ready for the pipe; what is large lies in the arena."""
    if type(value) is np.ndarray and value.nbytes <= SMALL and value.dtype.isbuiltin == 1 and not value.dtype.hasobject:
        return "array", (value.dtype.str, value.shape), value.tobytes()  # three times faster than pickle
    encoded = encode(value)
    if encoded.size <= SMALL:
        return "object", encoded.head, [bytes(buffer) for buffer in encoded.buffers]
    return "shared", arena.write([memoryview(encoded.head), *encoded.buffers]), None


def unpack(packed: Packed, reader: ArenaReader) -> Any:
    """The object again; its arrays are read-only, and large ones look into the arena."""
    kind, first, second = packed
    if kind == "array":
        return np.frombuffer(second, first[0]).reshape(first[1])
    if kind == "object":
        return decode(Encoded(first, second))
    head, *buffers = reader.read(first)
    return decode(Encoded(head, buffers))


def _drop(segment: Segment, unlink: bool = True) -> None:
    with suppress(FileNotFoundError):
        if unlink:
            segment.unlink()
    with suppress(BufferError):  # an array still looks into it: it goes with the array
        segment.close()
