"""What an engine is: four methods between the master and real (or sampled) time.

Workers are known by number, 0, 1, 2, ... An engine says Joined when one is ready for letters, also again after it was
lost, and Lost when one is gone. It delivers letters to a worker in order, and never blocks on a worker that does not
read. `deadheat.runtime.conformance` is the suite that an engine must pass.
"""

from __future__ import annotations

from typing import Protocol

from deadheat.runtime.messages import Event, Letter


class Engine(Protocol):
    """A place where workers are."""

    def now(self) -> float:
        """The time in seconds, from any origin; never goes back."""

    def send(self, worker: int, letter: Letter) -> None:
        """Send a letter to a worker; to one that is gone, nothing happens."""

    def wait(self, timeout: float | None) -> list[Event]:
        """What has happened, as soon as anything has; empty when so many seconds have passed without news."""

    def close(self) -> None:
        """End all workers and give back what was taken. May be called twice."""
