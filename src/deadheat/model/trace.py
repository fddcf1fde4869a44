"""A trace: what happened to a stream of jobs, simulated or real, and if asked for who worked on what when."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from deadheat.model.arrays import AnyArray, Array, BoolArray


@dataclass(frozen=True, eq=False)
class Timeline:
    """Every task of every iteration, as columns of one length.

    job, iteration, worker: numbers from 0 on. begin, end: seconds since the start of the trace; a purged task ends when
    it was dropped. done: its result arrived in time and counted; False for a purged one.
    """

    job: NDArray[np.int32]
    iteration: NDArray[np.int32]
    worker: NDArray[np.int32]
    begin: Array
    end: Array
    done: BoolArray

    def __len__(self) -> int:
        return int(self.job.size)

    def columns(self) -> dict[str, AnyArray]:
        return {column.name: getattr(self, column.name) for column in fields(self)}

    @classmethod
    def joined(cls, parts: Iterable[Self], room: int) -> Self:
        """Several timelines, one behind the other, of at most `room` tasks in all; each can be forgotten at once."""
        kinds = (np.int32, np.int32, np.int32, np.float64, np.float64, np.bool_)
        columns: list[AnyArray] = [np.empty(room, kind) for kind in kinds]
        size = 0
        for part in parts:
            for column, values in zip(columns, part.columns().values(), strict=True):
                column[size : size + len(part)] = values
            size += len(part)
        return cls(*(column[:size] for column in columns))


@dataclass(frozen=True, eq=False)
class Trace:
    """Arrival, start and end of each job in seconds; `about` says what was run: seed, version, configuration.

    delay: from arrival to delivery. service: from the first iteration's start to delivery. wait: the rest.
    """

    arrival: Array
    start: Array
    end: Array
    timeline: Timeline | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return int(self.arrival.size)

    @property
    def delay(self) -> Array:
        return self.end - self.arrival

    @property
    def service(self) -> Array:
        return self.end - self.start

    @property
    def wait(self) -> Array:
        return self.start - self.arrival

    def columns(self) -> dict[str, AnyArray]:
        names = ("arrival", "start", "end", "delay", "service", "wait")
        return {"job": np.arange(len(self)), **{name: getattr(self, name) for name in names}}
