"""The codec: objects as bytes between processes, with the bytes of large arrays kept apart.

What is not plain data is pickled by value, so that functions and classes of a script travel whole. What a worker cannot
read becomes `Unreadable`, and the error is raised where the data is needed.
"""

import pickle
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, get_args

import numpy as np

from deadheat.runtime.worker_loop import TaskEvent
from deadheat.scheduling import Ticket, Unreadable

KINDS = get_args(TaskEvent)
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


def event_bytes(event: TaskEvent, **changed: Any) -> bytes:
    """An event of a worker for the pipe: its kind and its fields, which take a tenth of the time of its pickle."""
    fields = [changed.get(name, getattr(event, name)) for name in event.__slots__]
    fields[1] = tuple(event.ticket)
    return pickle.dumps((KINDS.index(type(event)), *fields), 5)


def event_from(frame: bytes, at: float) -> TaskEvent:
    """The event again, with the time at which it was received."""
    number, *fields = pickle.loads(frame)
    kind = KINDS[number]
    fields[1] = Ticket(*fields[1])
    fields[kind.__slots__.index("at")] = at
    event: TaskEvent = kind(*fields)
    return event


def readable(read: Callable[[], Any]) -> Any:
    """What was sent, or `Unreadable`: a module that is not here, or memory that holds other data by now."""
    try:
        return read()
    except BaseException as error:  # also SystemExit in a user's __setstate__: the thread that receives must go on
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
