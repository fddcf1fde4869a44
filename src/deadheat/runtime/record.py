"""What happened in a run: jobs, iterations, tasks and the time spent on purged work, from the events and commands."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deadheat.model import Timeline
from deadheat.runtime.delivery import Delivery
from deadheat.scheduling import Command, Event, Ticket, messages


def _numbers() -> array[float]:
    return array("d")


@dataclass(eq=False)
class Record:
    """A listener of a driver. Times are the engine's; a probe is not recorded. A row takes some 30 bytes.

    iterations: how long each took at the workers, from its first tasks to the result that resolved it; job: whose.
    at_master: how long each took at the master after that (decoding, the step, the next messages).
    decisive, latency: the worker that brought the last result, and for how long it did not compute in that iteration.
    late: seconds for which workers were still busy with purged work, by worker. loads: of the current iteration.
    """

    job: array[int] = field(default_factory=lambda: array("q"))
    iterations: array[float] = field(default_factory=_numbers)
    at_master: array[float] = field(default_factory=_numbers)
    decisive: array[int] = field(default_factory=lambda: array("q"))
    latency: array[float] = field(default_factory=_numbers)
    done: dict[int, int] = field(default_factory=dict)
    purged: dict[int, int] = field(default_factory=dict)
    late: dict[int, float] = field(default_factory=dict)
    loads: dict[int, int] = field(default_factory=dict)
    delivered: array[int] = field(default_factory=lambda: array("q"))  # jobs that are done
    times: tuple[array[float], array[float], array[float]] = field(  # arrival, start and end of these
        default_factory=lambda: (_numbers(), _numbers(), _numbers())
    )
    failed: int = 0
    last: float | None = None  # when the last job was delivered
    _ticket: Ticket | None = None
    _began: float = 0.0
    _ended: float = 0.0
    _last_worker: int = 0
    _asked: dict[int, float] = field(default_factory=dict)
    _computed: dict[int, float] = field(default_factory=dict)
    _tasks: list[array[Any]] = field(default_factory=lambda: [array(kind) for kind in "iiiddb"])  # as in a Timeline

    def __call__(self, message: Event | Command, at: float) -> None:
        match message:
            case messages.Finished(worker=worker, ticket=ticket, seconds=seconds) if ticket.iteration >= 0:
                self.done[worker] = self.done.get(worker, 0) + 1
                self._row(ticket.job, ticket.iteration, worker, at - seconds, at, True)
                if ticket == self._ticket:
                    self._computed[worker] = self._computed.get(worker, 0.0) + seconds
                    self._last_worker = worker
            case messages.Stopped(worker=worker, ticket=ticket, seconds=seconds, late=late) if ticket.iteration >= 0:
                self.purged[worker] = self.purged.get(worker, 0) + 1
                self.late[worker] = self.late.get(worker, 0.0) + late
                self._row(ticket.job, ticket.iteration, worker, at - seconds, at, False)
            case messages.Assign(worker=worker, ticket=ticket, tasks=tasks) if ticket.iteration >= 0:
                if ticket != self._ticket:
                    self._ticket, self._began = ticket, at
                    self.loads, self._asked, self._computed = {}, {}, {}
                self.loads[worker] = self.loads.get(worker, 0) + len(tasks)
                self._asked.setdefault(worker, at)
            case messages.Resolve():
                self._ended = at
            case messages.Resolved(ticket=ticket) if self._ticket is not None:
                worker = self._last_worker
                self.job.append(ticket.job)
                self.iterations.append(self._ended - self._began)
                self.at_master.append(at - self._ended)
                self.decisive.append(worker)
                asked, computed = self._asked.get(worker, self._ended), self._computed.get(worker, 0.0)
                self.latency.append(self._ended - asked - computed)

    def deliver(self, delivery: Delivery) -> None:
        """Keep the times of a job that is done."""
        self.last = delivery.delivered
        if delivery.error is not None:
            self.failed += 1
            return
        self.delivered.append(delivery.job)
        for column, time in zip(self.times, (delivery.arrived, delivery.started, delivery.delivered), strict=True):
            column.append(time)

    def _row(self, *task: float) -> None:
        for column, value in zip(self._tasks, task, strict=True):
            column.append(value)

    def timeline(self, origin: float) -> Timeline:
        """Every task, with times since the origin."""
        job, iteration, worker, begin, end, counted = map(np.array, self._tasks)
        return Timeline(
            job=job, iteration=iteration, worker=worker, begin=begin - origin, end=end - origin, done=counted > 0
        )
