"""The probe: a few tasks on every worker before the first iteration, so that already the first split is a good one."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from deadheat.model import CodeSpec, Interval, interval
from deadheat.scheduling.estimates import Estimates
from deadheat.scheduling.messages import Arrived, Assign, Command, Dismiss, Failed, Finished, Purge, Stopped, Ticket

AT_ONCE = 2  # tasks of a worker per round: the first also tells its comm, the second only its speed
ROUNDS = 3  # of a short probe, of which the first warms up
GRACE = 1.0  # seconds for workers to report how far they were when the probe ended
PATIENCE = 30.0  # seconds that a short probe may take


@dataclass(eq=False)
class Sample:
    """What a worker did in a probe: seconds per unit of work of each task, and comm seconds of each round."""

    work: list[float] = field(default_factory=list)
    comm: list[float] = field(default_factory=list)
    error: str = ""  # the last thing that went wrong

    @property
    def mean(self) -> Interval:
        """Seconds per unit of work, with a 95 % interval."""
        return interval(np.array(self.work))

    @property
    def std(self) -> float:
        return float(np.std(self.work, ddof=1)) if len(self.work) > 1 else 0.0

    @property
    def latency(self) -> Interval:
        """Seconds per iteration that are not work, with a 95 % interval."""
        return interval(np.array(self.comm))


@dataclass(eq=False)
class _Round:
    """One assignment of a worker: how many of its tasks are left, and when it was sent."""

    number: int
    left: int
    sent: float
    first: bool = True


class Probe:
    """A schedule of the master's: every worker does rounds of a few tasks, all at the same time as in a run.

    A worker that is done with a round begins the next. The first one warms up and does not count where there are
    others. When the time is up, what is under way is stopped. What was measured goes into the estimates.
    """

    def __init__(self, job: Arrived, workers: Iterable[int], estimates: Estimates) -> None:
        self._job, self._estimates, self._spec = job, estimates, job.spec
        self._rounds: dict[int, _Round] = {}
        self._workers = sorted(workers)
        self._stopping = False
        self.samples = {worker: Sample() for worker in self._workers}
        self.deadline = job.at + job.seconds

    @property
    def over(self) -> bool:
        """Whether nobody is at work any more."""
        return not self._rounds

    def begin(self, at: float) -> list[Command]:
        return [self._assign(worker, 0, at) for worker in self._workers]

    def handle(self, event: Finished | Stopped | Failed) -> list[Command]:
        """Count a task; the worker's next round, when it is done with this one."""
        worker = event.worker
        current = self._rounds.get(worker)
        if current is None or event.ticket != Ticket(self._job.job, -1, current.number):
            return []
        if current.number > 0 or self._job.rounds == 1 or isinstance(event, Failed):
            self._count(event, current)
        current.left -= 1
        if not current.left and current.number + 1 < self._job.rounds and not self._stopping:
            return [self._assign(worker, current.number + 1, event.at)]
        if not current.left or isinstance(event, Stopped):
            del self._rounds[worker]
        return []

    def lose(self, worker: int, error: str = "") -> None:
        self._rounds.pop(worker, None)
        if worker in self.samples and error:
            self.samples[worker].error = error

    def tick(self, at: float) -> list[Command]:
        """End it when its time is up: at first politely, then without those that do not answer."""
        if at < self.deadline:
            return []
        if self._stopping:
            hanging = [Dismiss(worker) for worker in sorted(self._rounds)]
            self._rounds.clear()
            return [*hanging]
        self._stopping, self.deadline = True, at + GRACE
        last = max(current.number for current in self._rounds.values())
        return [Purge(Ticket(self._job.job, -1, last), tuple(sorted(self._rounds)))]

    def _assign(self, worker: int, number: int, at: float) -> Command:
        """Other tasks in every round, and other ones for every worker."""
        total = self._job.code.total
        first = self._workers.index(worker) * total // len(self._workers) + number * AT_ONCE
        tasks = tuple((first + i) % total for i in range(min(AT_ONCE, total)))
        self._rounds[worker] = _Round(number, len(tasks), at)
        return Assign(worker, Ticket(self._job.job, -1, number), tasks)

    def _count(self, event: Finished | Stopped | Failed, current: _Round) -> None:
        """Take what was measured into the sample and the estimates."""
        sample, estimate = self.samples[event.worker], self._estimates[event.worker]
        match event:
            case Finished(at=at, seconds=seconds):
                units = task_units(self._spec, current.first)
                if current.first:
                    comm = max(at - current.sent - seconds, 0.0)
                    sample.comm.append(comm)
                    estimate.comm.add(comm, comm * comm)
                    current.first = False
                sample.work.append(seconds / units)
                estimate.finished(seconds, units)
            case Failed(error=error):
                sample.error = error
            case Stopped(seconds=seconds, complete=False, first=first) if seconds > 0:
                estimate.cut_off(seconds, task_units(self._spec, first))


def task_units(spec: CodeSpec, first: bool) -> float:
    """Units of work of a task; the first of an iteration includes the shared chunks."""
    return spec.work * (1 + spec.shared_chunks if first else 1)
