"""The codec: objects as bytes between processes, with the bytes of large arrays kept apart.

What is not plain data is pickled by value, so that functions and classes of a script travel whole. What a worker cannot
read becomes `Unreadable`, and the error is raised where the data is needed.
"""

import pickle
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from deadheat.scheduling import Unreadable

PLAIN = (np.ndarray, float, int, bool, str, bytes, type(None), np.float64, np.int64)


class Encoded(NamedTuple):
    """A pickle of protocol 5 with the buffers of its arrays."""

    head: bytes | memoryview
    buffers: Sequence[Any]

    @property
    def size(self) -> int:
        return len(self.head) + sum(memoryview(buffer).nbytes for buffer in self.buffers)


def encode(value: Any) -> Encoded:
    """An object ready to be sent; large arrays are not copied."""
    buffers: list[pickle.PickleBuffer] = []
    dumps = pickle.dumps if is_plain(value) else by_value
    head = dumps(value, protocol=5, buffer_callback=buffers.append)
    return Encoded(head, [buffer.raw() for buffer in buffers])


def decode(encoded: Encoded) -> Any:
    """The object again. Raises what reading it raises; see `readable`."""
    return pickle.loads(encoded.head, buffers=encoded.buffers)


def readable(read: Callable[[], Any]) -> Any:
    """What was sent, or `Unreadable`: a module that is not here, or memory that holds other data by now."""
    try:
        return read()
    except Exception as error:
        return Unreadable(error)


def is_plain(value: Any) -> bool:
    """Whether it is numbers, text and arrays, alone or in the usual containers: any process can read them."""
    if isinstance(value, dict):
        return type(value) is dict and all(is_plain(key) and is_plain(item) for key, item in value.items())
    if type(value) in (tuple, list):
        return all(is_plain(item) for item in value)
    return type(value) in PLAIN and not (isinstance(value, np.ndarray) and value.dtype.hasobject)


def by_value(value: Any, **settings: Any) -> bytes:
    """A pickle in which functions and classes of a script or a notebook travel whole, others by name."""
    import cloudpickle

    return bytes(cloudpickle.dumps(value, **settings))
