"""What happened, on record: iterations, tasks and the time lost to purged work, from the master's events and words."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from deadheat.model import Timeline
from deadheat.runtime.messages import Assign, Command, Event, Finished, Resolve, Resolved, Stopped, Ticket


@dataclass(eq=False)
class Record:
    """A listener of a driver. Times are the engine's.

    iterations: how long each took at the workers, from its first order to the result that resolved it; job: whose.
    overhead: how long each took at the master after that (decoding, the step, the next orders).
    decisive, way: the worker that brought the last result, and for how long it was not at work in that iteration:
    what an order and a result need on their way.
    late: seconds for which workers were still busy with purged work, by worker.
    """

    iterations: list[float] = field(default_factory=list)
    job: list[int] = field(default_factory=list)
    overhead: list[float] = field(default_factory=list)
    decisive: list[int] = field(default_factory=list)
    way: list[float] = field(default_factory=list)
    done: dict[int, int] = field(default_factory=dict)
    purged: dict[int, int] = field(default_factory=dict)
    late: dict[int, float] = field(default_factory=dict)
    loads: dict[int, int] = field(default_factory=dict)  # of the last opening
    _began: tuple[Ticket, float] | None = None
    _ended: float = 0.0
    _last: int = 0
    _asked: dict[int, float] = field(default_factory=dict)
    _worked: dict[int, float] = field(default_factory=dict)
    _rows: list[tuple[int, int, int, float, float, bool]] = field(default_factory=list)

    def __call__(self, news: Event | Command, at: float) -> None:
        """Take note."""
        match news:
            case Finished(worker=worker, ticket=ticket, seconds=seconds):
                if ticket.iteration < 0:
                    return  # of a probe
                self.done[worker] = self.done.get(worker, 0) + 1
                self._rows.append((ticket.job, ticket.iteration, worker, at - seconds, at, True))
                if self._began is not None and ticket == self._began[0]:
                    self._worked[worker] = self._worked.get(worker, 0.0) + seconds
                    self._last = worker
            case Stopped(worker=worker, ticket=ticket, seconds=seconds, late=late):
                self.purged[worker] = self.purged.get(worker, 0) + 1
                self.late[worker] = self.late.get(worker, 0.0) + late
                self._rows.append((ticket.job, ticket.iteration, worker, at - seconds, at, False))
            case Assign(worker=worker, ticket=ticket, tasks=tasks):
                if self._began is None or self._began[0] != ticket:
                    self._began, self.loads, self._asked, self._worked = (ticket, at), {}, {}, {}
                self.loads[worker] = self.loads.get(worker, 0) + len(tasks)
                self._asked.setdefault(worker, at)
            case Resolve(ticket=ticket) if self._began is not None:
                self._ended = at
            case Resolved(ticket=ticket) if self._began is not None:
                self.job.append(ticket.job)
                self.iterations.append(self._ended - self._began[1])
                self.overhead.append(at - self._ended)
                self.decisive.append(self._last)
                self.way.append(
                    self._ended - self._asked.get(self._last, self._ended) - self._worked.get(self._last, 0.0)
                )

    def timeline(self, origin: float) -> Timeline:
        """Every task, with times since the origin."""
        rows = self._rows
        columns = list(zip(*rows, strict=True)) if rows else [()] * 6
        job, iteration, worker = (np.array(c, np.int32) for c in columns[:3])
        begin, end = (np.array(c, float) - origin for c in columns[3:5])
        return Timeline(job, iteration, worker, begin, end, np.array(columns[5], bool))
