"""When will it end? An interval for the job at work and for the run, and an account of how often intervals held."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from deadheat.model import Interval
from deadheat.scheduling import Command, Event, Running, messages

SURE = 1.96  # standard deviations to either side: 95 %
FEWEST = 3  # iterations before an interval is stated
MEMORY = 50.0  # iterations after which an old one counts for a third
TENTHS = 10  # intervals that are stated for a job, as it goes on


@dataclass(eq=False)
class Eta:
    """A listener of a driver: it learns the pace of a run from its iterations, in seconds per unit of work.

    count: how many jobs there are in all, where that is known; arrivals: when each comes.
    """

    count: int | None = None
    arrivals: Sequence[float] | None = None
    stated: int = 0
    held: int = 0
    over: int = 0  # jobs that are delivered, given up or skipped
    _jobs: dict[int, tuple[int, float]] = field(default_factory=dict)  # iterations, and work of one
    _pace: Running = field(default_factory=lambda: Running(MEMORY))
    _iterations: int = 0  # of all jobs
    _job: int = -1
    _next: int = 0  # iteration of the job
    _last: float = 0.0  # when the last iteration ended, or the job began
    _open: list[Interval] = field(default_factory=list)

    def add(self, job: int, iterations: int, work: float) -> None:
        """Get to know a job before it begins: at most so many iterations, and the work of one."""
        self._jobs[job] = iterations, work

    def __call__(self, message: Event | Command, at: float) -> None:
        match message:
            case messages.Assign(ticket=ticket) if ticket.job != self._job and ticket.job in self._jobs:
                self._job, self._next, self._last, self._open = ticket.job, ticket.iteration, at, []
                self._state(at)
            case messages.Resolved(ticket=ticket, over=True) if ticket.job == self._job:
                self._open, self._next = [], ticket.iteration + 1  # it converged: intervals were for all iterations
            case messages.Resolved(ticket=ticket) if ticket.job == self._job:
                iterations, work = self._jobs[self._job]
                pace = (at - self._last) / work
                self._pace.add(pace, pace * pace)
                self._iterations += 1
                self._last, self._next = at, ticket.iteration + 1
                if self._next % max(iterations // TENTHS, 1) == 0:
                    self._state(at)
            case messages.Deliver(job=job) | messages.Abandon(job=job) if job in self._jobs:
                if isinstance(message, messages.Deliver) and job == self._job:
                    self.stated += len(self._open)
                    self.held += sum(interval.holds(at) for interval in self._open)
                self._open = []
                self.over += 1
                del self._jobs[job]

    def _state(self, at: float) -> None:
        interval = self.job_ends(at)
        if interval is not None:
            self._open.append(interval)

    def _left(self) -> tuple[int, float]:
        """Iterations that the job at work has still to do, and the work of one."""
        iterations, work = self._jobs.get(self._job, (0, 0.0))
        return max(iterations - self._next, 0), work

    def _around(self, middle: float, at: float, left: Sequence[tuple[int, float]]) -> Interval | None:
        """The interval for iterations of jobs, how many and of how much work: their spread, and that of the pace."""
        own = sum(count * work**2 for count, work in left)
        if self._iterations < FEWEST or not own:
            return None
        common = sum(count * work for count, work in left) ** 2 / self._pace.weight
        half = _student(self._pace.weight - 1) * self._pace.std * math.sqrt(own + common)
        return Interval(middle, max(middle - half, at), middle + half)

    def job_ends(self, at: float) -> Interval | None:
        """When the job at work will be done; None where nothing is known yet."""
        count, work = self._left()
        return self._around(at + count * work * self._pace.mean, at, [(count, work)])

    def run_ends(self, at: float) -> Interval | None:
        """When all will be done, with waits for those that have yet to come; None where that is not known."""
        now = self.job_ends(at)
        if now is None or self.count is None:
            return None
        middle, left = now.mean, [self._left()]
        for job in range(self._job + 1, self.count):
            left.append(self._jobs.get(job, self._jobs[self._job]))  # one that is not prepared is taken to be alike
            arrival = self.arrivals[job] if self.arrivals is not None else 0.0
            middle = max(middle, arrival) + left[-1][0] * left[-1][1] * self._pace.mean
        return self._around(middle, at, left)

    @property
    def progress(self) -> float | None:
        """The part of all jobs that is done, with that of the one at work; None where their number is unknown."""
        if not self.count:
            return None
        part = self._next / self._jobs[self._job][0] if self._job in self._jobs else 0.0
        return min((self.over + part) / self.count, 1.0)


def _student(freedom: float) -> float:
    """The 97.5 % quantile of Student's law: its expansion for large numbers, which is good to 10 % at 2."""
    z = SURE
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
