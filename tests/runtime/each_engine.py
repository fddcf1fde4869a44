"""What tests of real workers share: fixtures for local processes and Ray, and workers that die at a moment of a run.

A module takes a fixture by assignment: `engine = each_engine.engine`.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

import deadheat as dh
from deadheat.runtime import LocalEngine, Pool, RayEngine, Run
from deadheat.scheduling import Command, Dismiss, Event, Lost

TRIO = dh.Cluster.from_columns([1e-3] * 3, 1e-4)
PAIR = dh.Cluster.from_columns([1e-3] * 2, 1e-4)
ENGINES: dict[str, Any] = {"local": LocalEngine, "ray": RayEngine}


def _named(request: pytest.FixtureRequest) -> str:
    if request.param == "ray":
        request.getfixturevalue("ray_cluster")
    return str(request.param)


@pytest.fixture(params=list(ENGINES))
def engine(request: pytest.FixtureRequest) -> str:
    """The name of an engine; each test runs on both."""
    return _named(request)


@pytest.fixture(scope="module", params=list(ENGINES))
def pool(request: pytest.FixtureRequest) -> Iterator[Pool]:
    """Three workers that stay up for all tests of a module that only submit jobs; on both engines."""
    with Pool(TRIO, engine=_named(request), adapt=False) as pool:
        yield pool


class Moment:
    """The count-th message of a kind, of a worker, a job and an iteration, as far as these are given."""

    def __init__(
        self,
        kind: type,
        count: int = 1,
        *,
        worker: int | None = None,
        job: int | None = None,
        iteration: int | None = None,
    ) -> None:
        self._kind, self._left = kind, count
        self._wanted = {"worker": worker, "job": job, "iteration": iteration}

    def reached(self, message: Event | Command) -> bool:
        ticket = getattr(message, "ticket", message)
        for name, value in self._wanted.items():
            if value is not None and value not in (getattr(message, name, None), getattr(ticket, name, None)):
                return False
        self._left -= isinstance(message, self._kind)
        return isinstance(message, self._kind) and self._left == 0


class Killer:
    """A listener that ends workers of a run: at each moment the worker that stands with it.

    how: SIGKILL ends a worker as a crash would, SIGSTOP halts its process.
    """

    def __init__(self, run: Run, *moments: tuple[Moment, int], how: int = signal.SIGKILL) -> None:
        self._run, self._moments, self._how = run, list(moments), how
        self.killed: list[int] = []
        self.lost: list[int] = []
        self.dismissed: list[int] = []
        run.driver.listeners.append(self)

    def __call__(self, message: Event | Command, at: float) -> None:
        match message:
            case Lost(worker=worker):
                self.lost.append(worker)
            case Dismiss(worker=worker):
                self.dismissed.append(worker)
        for moment, worker in self._moments:
            if moment.reached(message):
                pid = self._run.driver.engine.pid(worker)
                assert pid is not None
                self.killed.append(worker)
                os.kill(pid, self._how)
