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
            case Resolved(ticket=ticket, over=True) if ticket.job == self._job:
                self._stated, self._next = [], ticket.iteration + 1  # it converged: what was stated was for the most
            case Resolved(ticket=ticket) if ticket.job == self._job:
                took = (at - self._last) / self._scale(self._job)
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
                self._pace.weight, self._pace.mean = PRIOR, 1.0
                self._pace.square = 1 + (known.std / known.mean) ** 2
            self._next = ticket.iteration
            self._state(at)
        self._next = ticket.iteration

    def _state(self, at: float) -> None:
        left = self.iterations[self._job] - self._next
        if left > 0 and (stated := self._after(at, left)) is not None:
            self._stated.append(stated)

    def _scale(self, job: int) -> float:
        """What an iteration of a job was expected to take: the pace is told in such units, as jobs may differ."""
        return self.outlooks[job].mean if job in self.outlooks else 1.0

    def _spread(self, counts: Sequence[tuple[int, int]]) -> float:
        """Half the interval for iterations (job, how many): their own spread, and what is not known of the pace."""
        own = sum(count * self._scale(job) ** 2 for job, count in counts)
        common = sum(count * self._scale(job) for job, count in counts) ** 2 / self._pace.weight
        return SURE * self._pace.std * math.sqrt(own + common)

    def _after(self, at: float, count: int) -> Range | None:
        """When so many iterations of the job at work will be done."""
        if self._pace.weight < 2 or count <= 0:
            return None
        middle, half = at + count * self._scale(self._job) * self._pace.mean, self._spread([(self._job, count)])
        return Range(middle, max(middle - half, at), middle + half)

    def job_ends(self, at: float) -> Range | None:
        """When the job at work will be done; None where nothing is known yet."""
        return self._after(at, self.iterations[self._job] - self._next) if self._job >= 0 else None

    def run_ends(self, at: float) -> Range | None:
        """When all will be done, with waits for those that have yet to come."""
        now = self.job_ends(at)
        if now is None:
            return now
        middle, counts = now.mean, [(self._job, self.iterations[self._job] - self._next)]
        for job in range(self._job + 1, len(self.iterations)):
            service = self.iterations[job] * self._scale(job) * self._pace.mean
            middle = max(middle, self.arrivals[job]) + service
            counts.append((job, self.iterations[job]))
        half = self._spread(counts)
        return Range(middle, max(middle - half, at), middle + half)

    @property
    def progress(self) -> float:
        """The part of all iterations that is done."""
        before = sum(self.iterations[: max(self._job, 0)])
        return min((before + self._next) / max(sum(self.iterations), 1), 1.0)
