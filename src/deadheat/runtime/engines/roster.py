"""The roster: which workers an engine should have, which are there, and when one that died is replaced.

A worker that has joined is replaced however often it dies: whether a job is to blame is the master's decision. One that
dies before it has joined cannot be started; it is given up after some trials.
"""

import time
from abc import abstractmethod
from collections.abc import Sequence
from math import inf
from typing import Generic, TypeVar

from deadheat.errors import BadInput, DeadheatError, whole
from deadheat.runtime.emulation import Emulation
from deadheat.scheduling import Engine, messages

MOST_STARTS = 5  # of one worker in a row that may fail before it is given up
SHORT_LIFE = 2.0  # seconds; a worker that dies sooner after it has joined is replaced a little later each time
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0  # seconds; the pause doubles from one to the other
LOOK = 0.1  # seconds between two looks at what nobody tells a waiting engine: that it was closed, say
Handle = TypeVar("Handle")


class EngineClosed(DeadheatError):
    """An engine was closed while somebody waited for its events."""

    def __init__(self) -> None:
        super().__init__("the engine was closed while its events were waited for")


class RosterEngine(Engine, Generic[Handle]):
    """An engine of real workers. handles: the process or the actor that is each worker now.

    It may be closed from another thread than the one that waits for its events, which then gets an EngineClosed.

    workers: how many, or one emulation (or None for real speed) each. replace_dead: whether dead workers are replaced.
    reasons: of each worker that was lost, how it ended last.
    """

    def __init__(self, workers: int | Sequence[Emulation | None], replace_dead: bool = True) -> None:
        if isinstance(workers, int):
            workers = [None] * whole("workers", workers, "give the number of workers")
        if not workers:
            raise BadInput("workers", workers, "nobody to work", "give at least one worker")
        self.emulations = list(workers)
        self.handles: dict[int, Handle] = {}
        self.reasons: dict[int, str] = {}
        self._replace_dead = replace_dead
        self._joined: dict[int, float] = {}  # of each worker that is there, since when
        self._failed_starts: dict[int, int] = {}  # in a row
        self._short_lives: dict[int, int] = {}  # in a row
        self._due: dict[int, float] = {}  # of each worker that is to be replaced, when
        self._leaving: set[int] = set()
        self._ended_for: dict[int, str] = {}  # of workers that we have ended, why

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
        return not self.handles and not self._due

    def add(self, emulation: Emulation | None = None) -> int:
        """Start one more worker, which joins when it is ready; its number."""
        self.emulations.append(emulation)
        self._start(len(self.emulations) - 1)
        return len(self.emulations) - 1

    def leave(self, worker: int) -> None:
        """Let a worker go; it is not replaced, and what it has is given to others."""
        if worker not in self.handles and worker not in self._due:
            present = sorted({*self.handles, *self._due})
            raise BadInput("worker", worker, "not there", f"give one of {present}")
        self._remove(worker, "it has left")

    def dismiss(self, worker: int) -> None:
        """End a worker that has been silent for too long; it is replaced."""
        if worker in self.handles:
            self._ended_for[worker] = "it was silent for too long"
            self._end(worker)

    def expel(self, worker: int) -> None:
        """End a worker that gives wrong results; it is not replaced."""
        self._remove(worker, "it gave wrong results")

    def _remove(self, worker: int, why: str) -> None:
        self._leaving.add(worker)
        self._due.pop(worker, None)
        if worker in self.handles:
            self._ended_for[worker] = why
            self._end(worker)

    def _join(self, worker: int) -> messages.Joined:
        """Note that a worker is ready."""
        self._failed_starts[worker] = 0
        self._joined[worker] = self.now()
        return messages.Joined(worker, self._joined[worker])

    def _lose(self, worker: int, reason: str) -> messages.Lost:
        """Remove a worker that is gone, and plan its replacement unless it left or cannot be started."""
        now = self.now()
        self.handles.pop(worker, None)
        self.reasons[worker] = self._ended_for.pop(worker, reason)
        joined = self._joined.pop(worker, None)
        if joined is None:
            self._failed_starts[worker] = self._failed_starts.get(worker, 0) + 1
        short = joined is None or now - joined < SHORT_LIFE
        self._short_lives[worker] = lives = self._short_lives.get(worker, 0) + 1 if short else 0
        if self._replace_dead and worker not in self._leaving and self._failed_starts.get(worker, 0) < MOST_STARTS:
            pause = min(FIRST_PAUSE * 2 ** min(lives - 2, 10), LONGEST_PAUSE) if lives > 1 else 0.0
            self._due[worker] = now + pause
        return messages.Lost(worker, now)

    def _start_due(self) -> None:
        """Start the replacements whose time has come."""
        for worker in [worker for worker, due in self._due.items() if due <= self.now()]:
            del self._due[worker]
            try:
                self._start(worker)
            except (
                OSError,
                DeadheatError,
            ) as error:  # no process or descriptor is left: there may be one a little later
                self._lose(worker, f"it could not be started: {error}")

    def _until_due(self) -> float:
        """Seconds until the next replacement; infinite where none is planned."""
        return min(self._due.values(), default=inf) - self.now()
