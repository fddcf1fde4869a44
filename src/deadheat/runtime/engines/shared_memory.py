"""Shared memory between the processes of one machine: large arrays are written once and read without a copy.

An arena belongs to one writer and is filled anew when its owner says so: what was in it is void then. Segments are
files in the engine's folders, mapped into memory. What is written was reserved before: a full /dev/shm is an error that
can be handled, where a plain shared mapping would end the process by SIGBUS.
"""

import mmap
import os
from contextlib import suppress
from itertools import count
from typing import Any

import numpy as np

from deadheat.runtime.engines.codec import Encoded, decode, encode
from deadheat.runtime.engines.memory_folders import MemoryFolders

SMALL = 2048  # bytes up to which an object goes through the pipe
ALIGNED = 64
LEAST = 1 << 20  # bytes of a segment; only what is used of it takes memory
STEP = 1 << 16  # bytes that are reserved at a time
_numbers = count()

Place = tuple[str, tuple[tuple[int, int], ...]]  # the segment's path, and where each buffer lies in it
Packed = tuple[str, Any, Any]  # "array", type, bytes; "object", pickle, buffers; "shared", place


class NoRoom(Exception):
    """Neither in memory nor on disk there is room for a segment."""


class Segment:
    """A file of this process that is mapped into memory. size: what it can hold; its memory is taken bit by bit."""

    def __init__(self, folder: str, size: int) -> None:
        self.path, self.size, self._reserved = os.path.join(folder, f"{os.getpid()}-{next(_numbers)}"), size, 0
        self._descriptor = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        try:
            os.truncate(self._descriptor, size)
            self.mapping = mmap.mmap(self._descriptor, size)
        except BaseException:
            self.drop()
            raise

    def reserve(self, end: int) -> None:
        """Take the memory for everything up to `end`; raises OSError where there is not enough."""
        if end > self._reserved:
            end = min(-(-end // STEP) * STEP, self.size)
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(self._descriptor, self._reserved, end - self._reserved)
            else:  # macOS
                os.pwrite(self._descriptor, bytes(end - self._reserved), self._reserved)
            self._reserved = end

    def unlink(self) -> None:
        """Take the name away, from any thread: the memory goes when the last process lets go of it."""
        with suppress(OSError):
            os.unlink(self.path)

    def drop(self) -> None:
        """Give it up; who looks into it keeps the memory until the last array is gone."""
        self.unlink()
        os.close(self._descriptor)


class Arena:
    """Shared memory of one writer, which grows as needed."""

    def __init__(self, folders: MemoryFolders) -> None:
        self._folders = folders
        self._segment: Segment | None = None
        self._full: list[Segment] = []
        self._used = 0

    def clear(self) -> None:
        """Begin at the front again: readers are done with what was there."""
        self._used = 0
        while self._full:
            self._full.pop().drop()

    def write(self, buffers: list[memoryview]) -> Place:
        """Lay the buffers into shared memory; raises NoRoom where there is none left."""
        needed = sum(b.nbytes + ALIGNED for b in buffers)
        segment = self._with_room(needed)
        places = []
        for buffer in buffers:
            start = -(-self._used // ALIGNED) * ALIGNED
            segment.mapping[start : start + buffer.nbytes] = buffer
            places.append((start, buffer.nbytes))
            self._used = start + buffer.nbytes
        return segment.path, tuple(places)

    def _with_room(self, needed: int) -> Segment:
        """The segment in use if it takes so many bytes more, or a new one in the first folder that has room."""
        if self._segment is not None and self._used + needed <= self._segment.size:
            with suppress(OSError):
                self._segment.reserve(self._used + needed)
                return self._segment
        size = max(needed, 2 * (self._segment.size if self._segment else 0), LEAST)
        for folder in self._folders.paths:
            with suppress(OSError):
                segment = Segment(folder, size)
                try:
                    segment.reserve(needed)
                except OSError:
                    segment.drop()
                    raise
                if self._segment is not None:
                    self._full.append(self._segment)
                self._segment, self._used = segment, 0
                return segment
        raise NoRoom

    def close(self) -> None:
        self.clear()
        if self._segment is not None:
            self._segment.drop()
            self._segment = None


class ArenaReader:
    """Looks into arenas of other processes."""

    def __init__(self) -> None:
        self._mappings: dict[str, mmap.mmap] = {}

    def read(self, place: Place) -> list[memoryview]:
        path, places = place
        if path not in self._mappings:
            self._mappings = {old: mapping for old, mapping in self._mappings.items() if os.path.exists(old)}
            with open(path, "rb") as file:
                self._mappings[path] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        view = memoryview(self._mappings[path])
        return [view[start : start + size] for start, size in places]

    def close(self) -> None:
        """Let go of all; memory that an array looks into goes with the array."""
        self._mappings.clear()


def pack(value: Any, arena: Arena) -> Packed:
    """An object ready for the pipe; what is large lies in the arena, if there is room."""
    if type(value) is np.ndarray and value.nbytes <= SMALL and value.dtype.isbuiltin == 1 and not value.dtype.hasobject:
        return "array", (value.dtype.str, value.shape), value.tobytes()  # three times faster than pickle
    encoded = encode(value)
    if encoded.size > SMALL:
        with suppress(NoRoom):
            return "shared", arena.write([memoryview(encoded.head), *encoded.buffers]), None
    return "object", encoded.head, [bytes(buffer) for buffer in encoded.buffers]


def unpack(packed: Packed, reader: ArenaReader) -> Any:
    """The object again; its arrays are read-only, and large ones look into the arena."""
    kind, first, second = packed
    if kind == "array":
        return np.frombuffer(second, first[0]).reshape(first[1])
    if kind == "object":
        return decode(Encoded(first, second))
    head, *buffers = reader.read(first)
    return decode(Encoded(head, buffers))
