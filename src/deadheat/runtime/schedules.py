"""Schedules of a live run: who gets which tasks at the start, and what an idle worker gets. Pure, as the master is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from deadheat.coding import placement


@dataclass(frozen=True)
class View:
    """What a schedule may look at: the tasks of the iteration, those given out, those each worker still has.

    left: for each worker its unfinished tasks in order; mean: the seconds of a task of each.
    """

    total: int
    given: frozenset[int]
    left: Mapping[int, Sequence[int]]
    mean: Mapping[int, float]


class Schedule(Protocol):
    """A way to give out tasks."""

    def opening(self, workers: Sequence[int], loads: Sequence[int]) -> dict[int, tuple[int, ...]]:
        """What each worker gets at the start of an iteration."""

    def idle(self, worker: int, view: View) -> tuple[int, ...]:
        """What a worker gets that has nothing left."""


class Static:
    """Every worker has its load from the start (the paper): neighbouring tasks, in their order."""

    def opening(self, workers: Sequence[int], loads: Sequence[int]) -> dict[int, tuple[int, ...]]:
        """The split."""
        return {w: tuple(tasks) for w, tasks in zip(workers, placement(loads), strict=True) if tasks}

    def idle(self, worker: int, view: View) -> tuple[int, ...]:
        """Nothing: it has done its part."""
        return ()


class TopUp(Static):
    """The split first; who is done gets a spare coded task, or a copy of what the slowest has last in its row."""

    def idle(self, worker: int, view: View) -> tuple[int, ...]:
        """One task."""
        spare = next((task for task in range(view.total) if task not in view.given), None)
        if spare is not None:
            return (spare,)
        others = {w: tasks for w, tasks in view.left.items() if w != worker and tasks}
        if not others:
            return ()
        slowest = max(others, key=lambda w: (len(others[w]) * view.mean[w], w))
        return (others[slowest][-1],)


class Pull:
    """One task at a time for whoever is free; the split plays no part."""

    def opening(self, workers: Sequence[int], loads: Sequence[int]) -> dict[int, tuple[int, ...]]:
        """One task each, as far as they go."""
        return {w: (task,) for task, w in enumerate(workers[: sum(loads)])}

    def idle(self, worker: int, view: View) -> tuple[int, ...]:
        """The next one."""
        return next(((task,) for task in range(view.total) if task not in view.given), ())


SCHEDULES: dict[str, Schedule] = {"static": Static(), "top-up": TopUp(), "pull": Pull()}
