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

import numpy as np

SMALL = 2048  # bytes up to which an object goes through the pipe
ALIGNED = 64
PLAIN = (np.ndarray, float, int, bool, str, bytes, type(None), np.float64, np.int64)

Place = tuple[str, tuple[tuple[int, int], ...]]  # the shelf's name, and where each array lies
Parcel = tuple[str, Any, Any]  # "array" with its kind and bytes, "object" with pickle and buffers, "shelf" with place


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


def pack(value: Any, shelf: Shelf) -> Parcel:
    """An object ready to be sent. What is not plain data is pickled so that code travels where it is not installed."""
    if type(value) is np.ndarray and value.nbytes <= SMALL and value.dtype.isbuiltin == 1 and not value.dtype.hasobject:
        return "array", (value.dtype.str, value.shape), value.tobytes()  # three times faster than pickle
    buffers: list[pickle.PickleBuffer] = []
    head = (pickle.dumps if is_plain(value) else by_value)(value, protocol=5, buffer_callback=buffers.append)
    views = [b.raw() for b in buffers]
    if len(head) + sum(v.nbytes for v in views) <= SMALL:
        return "object", head, [bytes(v) for v in views]
    return "shelf", shelf.lay([memoryview(head), *views]), None


def unpack(parcel: Parcel, reader: Reader) -> Any:
    """The object again; its arrays are read-only, and large ones look into the shelf."""
    kind, first, second = parcel
    if kind == "array":
        return np.frombuffer(second, first[0]).reshape(first[1])
    if kind == "object":
        return pickle.loads(first, buffers=second)
    head, *rest = reader.look(first)
    return pickle.loads(head, buffers=rest)


def is_plain(value: Any) -> bool:
    """Numbers, text and arrays, alone or in the usual containers: any process can read them."""
    if isinstance(value, dict):
        return type(value) is dict and all(is_plain(key) and is_plain(one) for key, one in value.items())
    if type(value) in (tuple, list):
        return all(is_plain(one) for one in value)
    return type(value) in PLAIN and not (isinstance(value, np.ndarray) and value.dtype.hasobject)


def by_value(value: Any, **ways: Any) -> bytes:
    """Functions and classes of a script or of a notebook travel whole, others by name."""
    import cloudpickle

    return bytes(cloudpickle.dumps(value, **ways))


def _drop(memory: Memory) -> None:
    with suppress(FileNotFoundError):
        memory.unlink()
    with suppress(BufferError):
        memory.close()
