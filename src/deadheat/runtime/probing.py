"""A probe: a few tasks on every worker before the first iteration, so that already the first split is a good one."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from deadheat.model.interval import Interval, interval
from deadheat.runtime.driver import Driver
from deadheat.runtime.messages import Event, Failed, Finished, Joined, Lost, Stopped, Ticket, Void
from deadheat.runtime.worker_loop import told

AT_ONCE = 2  # tasks of a worker per round: the first also tells the way to it, the second only its speed
PROBED = 3  # rounds of a short probe, of which the first warms up
GRACE = 1.0  # seconds for the news of how far the others were
PATIENCE = 30.0  # seconds for which a round waits for the slowest, where it was not told


@dataclass(eq=False)
class Sample:
    """What a worker did in a probe: seconds per unit of work of each task, seconds on the way in each round."""

    work: list[float] = field(default_factory=list)
    comm: list[float] = field(default_factory=list)
    error: str = ""  # the last thing that went wrong

    @property
    def mean(self) -> Interval:
        """Seconds per unit of work, with a 95 % interval."""
        return interval(np.array(self.work))

    @property
    def std(self) -> float:
        """The spread of one task."""
        return float(np.std(self.work, ddof=1)) if len(self.work) > 1 else 0.0

    @property
    def way(self) -> Interval:
        """Seconds per iteration that are not work, with a 95 % interval."""
        return interval(np.array(self.comm))


def probe(driver: Driver, job: int, rounds: int, seconds: float = PATIENCE) -> dict[int, Sample]:
    """Have every worker do a few of the job's tasks, all at the same time as they would in a run.

    A round is an order of a few tasks; a worker that is done with one begins the next. The first one warms up and does
    not count where there are others. After `seconds` what is still under way is put down. What they did also goes into
    the master's estimates.
    """
    under_way = {worker: _Round(worker, 0) for worker in sorted(driver.master.alive)}
    samples = {worker: Sample() for worker in under_way}
    engine, voided = driver.engine, False
    end = engine.now() + seconds
    for worker, one in list(under_way.items()):
        samples[worker].error = one.begin(driver, job)
        if samples[worker].error:
            del under_way[worker]
    while under_way:
        if engine.now() >= end:
            if voided:
                break
            voided, end = True, engine.now() + GRACE
            for worker, one in under_way.items():
                engine.send(worker, Void(Ticket(job, -1, one.number)))
        for event in engine.wait(max(end - engine.now(), 0.0)):
            match event:
                case (
                    Finished(worker=worker, ticket=t)
                    | Stopped(worker=worker, ticket=t)
                    | Failed(worker=worker, ticket=t)
                ) if worker in under_way and t == (job, -1, under_way[worker].number):
                    one = under_way[worker]
                    if one.number > 0 or rounds == 1 or isinstance(event, Failed):
                        one.count(driver, job, event, samples[worker])
                    one.left -= 1
                    if not one.left and one.number + 1 < rounds and not voided:
                        under_way[worker] = one = _Round(worker, one.number + 1)
                        one.begin(driver, job)
                    elif not one.left or isinstance(event, Stopped):
                        del under_way[worker]
                case Lost(worker=worker):
                    under_way.pop(worker, None)
                    driver.act(event)
                case Joined():
                    driver.act(event)
    return samples


@dataclass(eq=False)
class _Round:
    """One order of a worker: how many of its tasks are left, and when it was sent."""

    worker: int
    number: int
    left: int = 0
    sent: float = 0.0
    heard: bool = False

    def begin(self, driver: Driver, job: int) -> str:
        """Send the order: other tasks in every round, and other ones for every worker. Why it could not be sent."""
        total = driver.brief(job).code.total
        first = self.worker * total // max(len(driver.master.alive), 1) + self.number * AT_ONCE
        tasks = tuple((first + i) % total for i in range(min(AT_ONCE, total)))
        self.left, self.sent = len(tasks), driver.engine.now()
        try:
            driver.order(self.worker, Ticket(job, -1, self.number), tasks)
        except Exception as error:  # a lock in a closure, say
            return f"it cannot be sent to workers: {told(error)}"
        return ""

    def count(self, driver: Driver, job: int, event: Event, sample: Sample) -> None:
        """Take what was heard into the sample and the estimates; a task that was put down is longer than it was."""
        spec, estimate = driver.brief(job).spec, driver.master.estimates[self.worker]
        match event:
            case Finished(at=at, seconds=seconds):
                units = spec.work * (1 if self.heard else 1 + spec.shared_chunks)
                if not self.heard:
                    comm = max(at - self.sent - seconds, 0.0)
                    sample.comm.append(comm)
                    estimate.comm.add(comm, comm * comm)
                    self.heard = True
                sample.work.append(seconds / units)
                estimate.finished(seconds, units)
            case Failed(error=error):
                sample.error = error
            case Stopped(seconds=seconds, complete=False, first=first) if seconds > 0:
                estimate.cut_off(seconds, spec.work * (1 + spec.shared_chunks if first else 1))
