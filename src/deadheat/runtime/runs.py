"""Run jobs for real: `run` takes jobs, workers and a code, and yields deliveries; what was expected stands beside."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from deadheat.coding import Code, codes
from deadheat.errors import BadInput, nearest, whole
from deadheat.model import Cluster, CodeSpec, Split, Trace
from deadheat.queueing import IterationLaw
from deadheat.runtime.briefs import Brief, Policy
from deadheat.runtime.driver import Delivery, Driver, Task
from deadheat.runtime.emulation import emulations
from deadheat.runtime.engine import Engine
from deadheat.runtime.engines.local import LocalEngine
from deadheat.runtime.engines.ray import RayEngine
from deadheat.runtime.estimates import Estimates
from deadheat.runtime.job import Job
from deadheat.runtime.master import Master
from deadheat.runtime.records import Record
from deadheat.runtime.schedules import SCHEDULES, Schedule
from deadheat.runtime.work import ChunkWork
from deadheat.tuning import policy as named

ENGINES = ("local", "ray")
UNKNOWN = 1e-3  # seconds per unit of work that are taken for granted of workers nobody has measured


@dataclass(eq=False)
class Run:
    """A run under way: iterate over it for deliveries as they come; the rest is known when it is over."""

    driver: Driver
    record: Record
    cluster: Cluster
    specs: list[CodeSpec]
    origin: float
    own_engine: bool
    deliveries: list[Delivery] = field(default_factory=list)

    def __iter__(self) -> Iterator[Delivery]:
        """Deliveries in order; the workers are ended after the last."""
        try:
            while self.driver.open:
                for delivery in self.driver.turn(None):
                    self.deliveries.append(delivery)
                    yield delivery
        finally:
            self.close()

    def wait(self) -> Run:
        """Run to the end."""
        for _ in self:
            pass
        return self

    def close(self) -> None:
        """End the workers, if they were started for this run."""
        if self.own_engine:
            self.driver.engine.close()

    @property
    def state(self) -> Any:
        """The last state of the last job. Raises what went wrong with it."""
        self.wait()
        return self.deliveries[-1].state

    @property
    def trace(self) -> Trace:
        """Arrivals, starts, ends and every task, in seconds since the run began."""
        done = [d for d in self.wait().deliveries if d.error is None]
        arrival, start, end = (
            np.array([getattr(d, name) for d in done]) - self.origin for name in ("arrived", "started", "delivered")
        )
        about = {"jobs": len(done), "engine": type(self.driver.engine).__name__, "workers": self.cluster.names}
        return Trace(arrival, start, end, self.record.timeline(self.origin), about)

    @cached_property
    def workers(self) -> Cluster:
        """The workers as they were measured."""
        return self.driver.master.estimates.cluster(range(len(self.cluster)))


def run(
    job: Job | Sequence[Job],
    cluster: Cluster | None = None,
    code: Code | None = None,
    engine: str | Engine = "local",
    *,
    workers: int | None = None,
    policy: str | Policy = "optimal",
    schedule: str | Schedule = "static",
    gamma: float = 1.0,
    work: float | None = None,
    arrivals: Sequence[float] | None = None,
    adapt: bool = True,
    emulate: bool = False,
    seed: int = 0,
    listeners: Sequence[Callable[..., None]] = (),
) -> Run:
    """Run jobs in order on real workers, and yield their deliveries.

    cluster: what is known of the workers; where nothing is, they are taken as equal, and measured as they work.
    code: by default none, with a task for each chunk. engine: "local" (processes), "ray", or an engine of one's own.
    work: units of work of a plain iteration, in the cluster's unit; by default one for each chunk.
    arrivals: seconds after the start at which jobs come; by default at once. adapt: split anew as the workers change.
    emulate: stretch task times to the cluster's laws (demonstrations and tests).
    """
    jobs = [job] if isinstance(job, Job) else list(job)
    if not jobs:
        raise BadInput("job", job, "nothing to run", "give a Job")
    count = len(cluster) if cluster is not None else workers or min(os.cpu_count() or 1, 8)
    known = (
        cluster if cluster is not None else Cluster.from_columns([UNKNOWN] * whole("workers", count, "how many"), 0.0)
    )
    if emulate and cluster is None:
        raise BadInput("emulate", True, "there is nothing to emulate", "give the cluster")
    chosen = named(policy) if isinstance(policy, str) else policy
    if isinstance(schedule, str) and schedule not in SCHEDULES:
        raise BadInput("schedule", schedule, "no such schedule in a live run", nearest(schedule, SCHEDULES))
    way = SCHEDULES[schedule] if isinstance(schedule, str) else schedule
    tasks = [_task(one, code, chosen, gamma, way, work, adapt) for one in jobs]
    place = _engine(engine, emulations(known, seed) if emulate else [None] * count)
    record = Record()
    driver = Driver(Master(Estimates(known)), place, [record, *listeners])
    origin = place.now()
    for number, task in enumerate(tasks):
        driver.submit(task, origin + (arrivals[number] if arrivals is not None else 0.0))
    return Run(driver, record, known, [t.brief.spec for t in tasks], origin, isinstance(engine, str))


def _engine(engine: str | Engine, workers: Sequence[Any]) -> Engine:
    if not isinstance(engine, str):
        return engine
    if engine not in ENGINES:
        raise BadInput("engine", engine, "no such engine", nearest(engine, ENGINES))
    return LocalEngine(workers) if engine == "local" else RayEngine(workers)


def _task(
    job: Job, code: Code | None, policy: Policy, gamma: float, schedule: Schedule, work: float | None, adapt: bool
) -> Task:
    """A job with its code, ready to be driven; small chunks are put together where the code wants fewer."""
    given = codes.uncoded(len(job.chunks)) if code is None else code
    if given.kind != "gradient":
        raise BadInput(
            "code", given.family, f"for {given.kind} work, and a Job is a sum over chunks", "take a gradient code"
        )
    if given.chunks > len(job.chunks):
        remedy = f"cut the data into at least {given.chunks} chunks, or take a smaller code"
        raise BadInput("chunks", len(job.chunks), f"{given.family} needs {given.chunks}", remedy)
    groups = np.array_split(np.arange(len(job.chunks)), given.chunks)
    units = (len(job.chunks) if work is None else work) * given.cost.work
    spec = CodeSpec.of(given.critical, given.total, units, given.cost.lead)
    brief = Brief(given, spec, job.iterations, policy, gamma, schedule, adapt)
    grouped = [[job.chunks[i] for i in group] for group in groups]
    work_of = ChunkWork(given, grouped, job.compute, job.wants_token)
    return Task(brief, work_of, job.start, job.step, name=job.name)


def expected(cluster: Cluster, split: Split) -> IterationLaw:
    """The law of an iteration that a split should have."""
    return IterationLaw(cluster.tasks(split.spec), split.loads, split.spec.critical)
