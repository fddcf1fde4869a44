"""What an engine is: the place where workers are, real or on sampled time.

Workers are known by number, 0, 1, 2, ... An engine reports Joined when one is ready for messages, also again after it
was lost, and Lost when one is gone. It delivers messages to a worker in order, and never blocks on a worker that does
not read. `deadheat.runtime.conformance` is the suite that an engine must pass.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from deadheat.scheduling.messages import Event, Message


class Engine(ABC):
    """Four methods must be written; the others have harmless defaults.

    reasons: of workers that have ended, how, in words; empty where that is not known.
    """

    reasons: Mapping[int, str] = MappingProxyType({})

    @abstractmethod
    def now(self) -> float:
        """The time in seconds, from any origin; it never goes back."""

    @abstractmethod
    def send(self, worker: int, message: Message) -> None:
        """Send a message to a worker; to one that is gone, nothing happens."""

    @abstractmethod
    def wait(self, timeout: float | None) -> list[Event]:
        """Return what has happened, as soon as anything has; empty when so many seconds have passed."""

    @abstractmethod
    def close(self) -> None:
        """End all workers and release what was taken. It may be called twice."""

    @property
    def workers(self) -> int | None:
        """How many workers it has or starts; None where it does not say."""
        return None

    @property
    def exhausted(self) -> bool:
        """Whether no worker is left and none will come."""
        return False

    def release(self, job: int, chunks: Iterable[int]) -> None:
        """Drop what is kept to be sent: the job's program, and these chunks. By default nothing is kept."""
        return

    def dismiss(self, worker: int) -> None:
        """End a worker that has been silent for too long; it may be replaced. By default nothing happens."""
        return

    def expel(self, worker: int) -> None:
        """End a worker that gives wrong results; it is not replaced. By default nothing happens: it gets no tasks."""
        return

    def kill(self, worker: int) -> None:
        """End a worker as a crash would: for tests and demonstrations."""
        raise NotImplementedError(f"{type(self).__name__} cannot kill workers")

    def pid(self, worker: int) -> int | None:
        """The worker's process, where it has one on this machine."""
        return None

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
