"""When will it end? An interval for every job and for the run, and an account of how often it held."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from deadheat.runtime.estimates import Running
from deadheat.runtime.messages import Assign, Command, Deliver, Event, Resolved, Ticket
from deadheat.runtime.outlooks import Outlook, Range

SURE = 1.96  # standard deviations to either side: 95 %
PRIOR = 2.0  # iterations that a forecast counts for: it knows nothing of overhead
MEMORY = 50.0  # iterations after which an old one counts for a third
TENTHS = 10  # intervals that are made for a job, at its start and as it goes on


@dataclass(eq=False)
class Horizon:
    """A listener of a driver. iterations: of each job that is to come, at most; arrivals: when each comes.

    outlooks: what to expect of their iterations, where that is known.
    """

    iterations: Sequence[int]
    arrivals: Sequence[float]
    outlooks: Mapping[int, Outlook]
    made: int = 0
    held: int = 0
    done: int = 0  # jobs
    _pace: Running = field(default_factory=lambda: Running(MEMORY))
    _job: int = -1
    _next: int = 0  # iteration of the job
    _last: float = 0.0  # when the last iteration ended, or the job began
    _stated: list[Range] = field(default_factory=list)

    def __call__(self, news: Event | Command, at: float) -> None:
        """Take note, and state an interval where one is due."""
        match news:
            case Assign(ticket=ticket) if (ticket.job, ticket.iteration) != (self._job, self._next):
                self._begin(ticket, at)
            case Resolved(ticket=ticket) if ticket.job == self._job:
                took = at - self._last
                self._pace.add(took, took * took)
                self._last, self._next = at, ticket.iteration + 1
                if self._next % max(self.iterations[self._job] // TENTHS, 1) == 0:
                    self._state(at)
            case Deliver(job=job) if job == self._job:
                self.made += len(self._stated)
                self.held += sum(at in stated for stated in self._stated)
                self.done += 1
                self._stated = []

    def _begin(self, ticket: Ticket, at: float) -> None:
        if ticket.job != self._job:
            self._job, self._last, self._stated = ticket.job, at, []
            known = self.outlooks.get(ticket.job)
            if not self._pace.weight and known is not None:
                self._pace.weight, self._pace.mean = PRIOR, known.mean
                self._pace.square = known.mean**2 + known.std**2
            self._next = ticket.iteration
            self._state(at)
        self._next = ticket.iteration

    def _state(self, at: float) -> None:
        left = self.iterations[self._job] - self._next
        if left > 0 and (stated := self._after(at, left)) is not None:
            self._stated.append(stated)

    def _after(self, at: float, count: int) -> Range | None:
        """When so many iterations will be done: their own spread, and what is not known of their mean."""
        pace = self._pace
        if pace.weight < 2 or not count:
            return None
        half = SURE * pace.std * math.sqrt(count + count**2 / pace.weight)
        middle = at + count * pace.mean
        return Range(middle, max(middle - half, at), middle + half)

    def job_ends(self, at: float) -> Range | None:
        """When the job at work will be done; None where nothing is known yet."""
        return self._after(at, self.iterations[self._job] - self._next) if self._job >= 0 else None

    def run_ends(self, at: float) -> Range | None:
        """When all will be done, with waits for those that have yet to come."""
        now = self.job_ends(at)
        later = list(zip(self.iterations, self.arrivals, strict=True))[self._job + 1 :]
        if now is None or not later:
            return now
        middle, count = now.mean, self.iterations[self._job] - self._next
        for iterations, arrival in later:
            middle, count = max(middle, arrival) + iterations * self._pace.mean, count + iterations
        half = SURE * self._pace.std * math.sqrt(count + count**2 / self._pace.weight)
        return Range(middle, max(middle - half, at), middle + half)

    @property
    def progress(self) -> float:
        """The part of all iterations that is done."""
        before = sum(self.iterations[: max(self._job, 0)])
        return min((before + self._next) / max(sum(self.iterations), 1), 1.0)
