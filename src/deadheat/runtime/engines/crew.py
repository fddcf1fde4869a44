"""What engines of real workers have in common: who should be there, who is, and whether the dead are replaced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from deadheat.errors import BadInput, whole
from deadheat.runtime.emulation import Emulation

MOST_DEATHS = 5  # of one worker in a row, without a result, before it is not replaced any more
Post = TypeVar("Post")


class Crew(Generic[Post]):
    """Workers by number, each at its post: the process or actor that is it now.

    workers: how many, or one emulation (or None for real speed) each. replace: whether the dead are replaced.
    """

    def __init__(self, workers: int | Sequence[Emulation | None], replace: bool = True) -> None:
        if isinstance(workers, int):
            workers = [None] * whole("workers", workers, "give the number of workers")
        if not workers:
            raise BadInput("workers", workers, "nobody to work", "give at least one worker")
        self.emulations = list(workers)
        self.posts: dict[int, Post] = {}
        self._replace = replace
        self._deaths = [0] * len(self.emulations)
        self._leaving: set[int] = set()

    def add(self, emulation: Emulation | None) -> int:
        """One more worker; its number."""
        self.emulations.append(emulation)
        self._deaths.append(0)
        return len(self.emulations) - 1

    def leave(self, worker: int) -> None:
        """This one is not replaced when it ends."""
        if worker not in self.posts:
            raise BadInput("worker", worker, "not there", f"give one of {sorted(self.posts)}")
        self._leaving.add(worker)

    def excuse(self, worker: int) -> None:
        """It is ended by us: that is no death of its own."""
        if worker in self.posts:
            self._deaths[worker] -= 1

    def proved(self, worker: int) -> None:
        """It has brought a result: whatever it died of before is over."""
        self._deaths[worker] = 0

    def bury(self, worker: int) -> bool:
        """It is gone; whether to replace it."""
        self.posts.pop(worker, None)
        self._deaths[worker] += 1
        return self._replace and worker not in self._leaving and self._deaths[worker] <= MOST_DEATHS
