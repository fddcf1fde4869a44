"""A probe: a few tasks on every worker before the first iteration, so that already the first split is a good one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from deadheat.runtime.driver import Driver
from deadheat.runtime.messages import Event, Failed, Finished, Lost, Order, Stopped, Ticket, Void
from deadheat.simulation.statistics import Interval, interval

AT_ONCE = 2  # tasks of a worker per round: the first also tells the way to it, the second only its speed
PROBED = 3  # rounds of a short probe, of which the first warms up
GRACE = 1.0  # seconds for the news of how far the others were
PATIENCE = 30.0  # seconds for which a round waits for the slowest, where it was not told


@dataclass(eq=False)
class Sample:
    """What a worker did in a probe: seconds per unit of work of each task, seconds on the way in each round."""

    work: list[float] = field(default_factory=list)
    comm: list[float] = field(default_factory=list)

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

    What they did goes into the master's estimates. The first round warms up and does not count where there are others.
    After `seconds` what is still under way is put down.
    """
    samples = {worker: Sample() for worker in driver.master.alive}
    end = driver.engine.now() + seconds
    for number in range(rounds):
        heard = _round(driver, job, Ticket(job, -1, number), end)
        if number > 0 or rounds == 1:
            _count(driver, job, heard, samples)
        if driver.engine.now() >= end:
            break
    return samples


def _round(driver: Driver, job: int, ticket: Ticket, end: float) -> list[tuple[Event, float]]:
    """Order tasks from everybody, and wait for all; what was heard, each with the time since its order."""
    total, engine = driver.brief(job).code.total, driver.engine
    asked: dict[int, float] = {}
    left: dict[int, int] = {}
    heard: list[tuple[Event, float]] = []
    for worker in sorted(driver.master.alive):
        first = (worker + ticket.attempt * len(driver.master.alive)) * AT_ONCE
        tasks = tuple((first + i) % total for i in range(min(AT_ONCE, total)))
        driver.open(worker, job)
        engine.send(worker, Order(ticket, tasks, driver.state(job)))
        asked[worker], left[worker] = engine.now(), len(tasks)
    voided = False
    while any(left.values()):
        if engine.now() >= end:
            if voided:
                break
            voided, end = True, engine.now() + GRACE
            for worker in (w for w, tasks in left.items() if tasks):
                engine.send(worker, Void(ticket))
        for event in engine.wait(max(end - engine.now(), 0.0)):
            match event:
                case Finished(worker=worker, ticket=t) | Failed(worker=worker, ticket=t) if t == ticket:
                    left[worker] -= 1
                    heard.append((event, event.at - asked[worker]))
                case Stopped(worker=worker, ticket=t) if t == ticket:
                    left[worker] = 0
                    heard.append((event, event.at - asked[worker]))
                case _:
                    if isinstance(event, Lost):
                        left[event.worker] = 0
                    driver.act(event)
    return heard


def _count(driver: Driver, job: int, heard: Sequence[tuple[Event, float]], samples: dict[int, Sample]) -> None:
    """Put what was heard into estimates and samples; a task that was put down is longer than it was."""
    spec, estimates = driver.brief(job).spec, driver.master.estimates
    seen: set[int] = set()
    for event, since in heard:
        match event:
            case Finished(worker=worker, seconds=seconds):
                units = spec.work * (1 if worker in seen else 1 + spec.lead)
                sample = samples.setdefault(worker, Sample())
                if worker not in seen:
                    comm = max(since - seconds, 0.0)
                    sample.comm.append(comm)
                    estimates[worker].comm.add(comm, comm * comm)
                    seen.add(worker)
                sample.work.append(seconds / units)
                estimates[worker].finished(seconds, units)
            case Stopped(worker=worker, seconds=seconds, complete=False) if seconds > 0:
                estimates[worker].cut_off(seconds, spec.work)
