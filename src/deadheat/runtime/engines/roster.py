"""The roster: which workers an engine should have, which are there, and whether one that dies is replaced."""

import time
from abc import abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar

from deadheat.errors import BadInput, whole
from deadheat.runtime.emulation import Emulation
from deadheat.runtime.worker_loop import TaskEvent
from deadheat.scheduling import Engine, messages

MOST_DEATHS = 5  # of one worker in a row, without a result, before it is not replaced any more
Handle = TypeVar("Handle")


class RosterEngine(Engine, Generic[Handle]):
    """An engine of real workers. handles: the process or the actor that is each worker now.

    workers: how many, or one emulation (or None for real speed) each. replace_dead: whether dead workers are replaced.
    """

    def __init__(self, workers: int | Sequence[Emulation | None], replace_dead: bool = True) -> None:
        if isinstance(workers, int):
            workers = [None] * whole("workers", workers, "give the number of workers")
        if not workers:
            raise BadInput("workers", workers, "nobody to work", "give at least one worker")
        self.emulations = list(workers)
        self.handles: dict[int, Handle] = {}
        self._replace_dead = replace_dead
        self._deaths = [0] * len(self.emulations)
        self._leaving: set[int] = set()
        self._closed = False

    @abstractmethod
    def _start(self, worker: int) -> None:
        """Start the process or actor of a worker."""

    @abstractmethod
    def _end(self, worker: int) -> None:
        """End it without being polite."""

    def now(self) -> float:
        """Seconds of a clock that never goes back."""
        return time.perf_counter()

    @property
    def workers(self) -> int:
        return len(self.emulations)

    @property
    def exhausted(self) -> bool:
        return not self.handles

    def add(self, emulation: Emulation | None = None) -> int:
        """Start one more worker, which joins when it is ready; its number."""
        self.emulations.append(emulation)
        self._deaths.append(0)
        self._start(len(self.emulations) - 1)
        return len(self.emulations) - 1

    def leave(self, worker: int) -> None:
        """Let a worker go; it is not replaced, and what it has is given to others."""
        if worker not in self.handles:
            raise BadInput("worker", worker, "not there", f"give one of {sorted(self.handles)}")
        self._leaving.add(worker)
        self._end(worker)

    def dismiss(self, worker: int) -> None:
        """End a worker that has been silent for too long; it is replaced."""
        if worker in self.handles:
            self._deaths[worker] -= 1  # do not count this death: we end the worker ourselves
            self._end(worker)

    def _received(self, event: TaskEvent) -> TaskEvent:
        """Note an event of a worker: a result clears the worker's record of deaths."""
        if isinstance(event, messages.Finished):
            self._deaths[event.worker] = 0
        return event

    def _died(self, worker: int) -> None:
        """Remove a worker that is gone, and replace it unless it left or dies again and again."""
        self.handles.pop(worker, None)
        self._deaths[worker] += 1
        if self._replace_dead and worker not in self._leaving and self._deaths[worker] <= MOST_DEATHS:
            self._start(worker)
