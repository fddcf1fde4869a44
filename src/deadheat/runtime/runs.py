"""Run jobs for real: `run` takes jobs, workers and a code, and yields deliveries as they come."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.coding import Code, codes
from deadheat.errors import BadInput, nearest, whole
from deadheat.model import Cluster, CodeSpec, Trace
from deadheat.runtime.briefs import Brief, Policy
from deadheat.runtime.checkpoints import Checkpoints
from deadheat.runtime.driver import Delivery, Driver, Listener, Task
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
MOST_DEFAULT = 8  # workers that are started without being asked for


@dataclass(frozen=True, eq=False)
class Setup:
    """Workers, code and ways of a run, checked; `run` and `Pool` begin with it."""

    cluster: Cluster
    code: Code | None
    engine: str | Engine
    policy: Policy
    schedule: Schedule
    gamma: float
    work: float | None
    adapt: bool
    emulate: bool
    seed: int
    guessed: bool

    @classmethod
    def of(
        cls,
        cluster: Cluster | None = None,
        code: Code | None = None,
        engine: str | Engine = "local",
        *,
        workers: int | None = None,
        policy: str | Policy = "optimal",
        schedule: str | Schedule = "static",
        gamma: float = 1.0,
        work: float | None = None,
        adapt: bool = True,
        emulate: bool = False,
        seed: int = 0,
    ) -> Setup:
        """Fill in what was left out, and refuse what cannot be meant."""
        guessed = cluster is None
        if cluster is None:
            if emulate:
                raise BadInput("emulate", True, "there is nothing to emulate", "give the cluster")
            count = min(os.cpu_count() or 1, MOST_DEFAULT) if workers is None else workers
            cluster = Cluster.from_columns([UNKNOWN] * whole("workers", count, "give the number of workers"), 0.0)
        elif workers is not None and workers != len(cluster):
            raise BadInput("workers", workers, f"the cluster has {len(cluster)}", "leave it out")
        if isinstance(engine, str) and engine not in ENGINES:
            raise BadInput("engine", engine, "no such engine", nearest(engine, ENGINES))
        if isinstance(schedule, str) and schedule not in SCHEDULES:
            raise BadInput("schedule", schedule, "no such schedule in a live run", nearest(schedule, SCHEDULES))
        return cls(
            cluster,
            code,
            engine,
            named(policy) if isinstance(policy, str) else policy,
            SCHEDULES[schedule] if isinstance(schedule, str) else schedule,
            gamma,
            work,
            adapt,
            emulate,
            seed,
            guessed,
        )

    def driver(self, listeners: Sequence[Listener] = ()) -> Driver:
        """A driver on an engine with workers."""
        workers = emulations(self.cluster, self.seed) if self.emulate else [None] * len(self.cluster)
        place: Engine
        if not isinstance(self.engine, str):
            place = self.engine
        else:
            place = LocalEngine(workers) if self.engine == "local" else RayEngine(workers)
        return Driver(Master(Estimates(self.cluster, self.guessed)), place, list(listeners))

    def task(self, job: Job) -> Task:
        """A job with its code, ready to be driven; small chunks are put together where the code wants fewer."""
        code = codes.uncoded(len(job.chunks)) if self.code is None else self.code
        if code.kind != "gradient":
            problem = f"for {code.kind} work, and a Job is a sum over chunks"
            raise BadInput("code", code.family, problem, "take a gradient code")
        if code.chunks > len(job.chunks):
            remedy = f"cut the data into at least {code.chunks} chunks, or take a smaller code"
            raise BadInput("chunks", len(job.chunks), f"{code.family} needs {code.chunks}", remedy)
        groups = np.array_split(np.arange(len(job.chunks)), code.chunks)
        units = (len(job.chunks) if self.work is None else self.work) * code.cost.work
        spec = CodeSpec.of(code.critical, code.total, units, code.cost.lead)
        brief = Brief(code, spec, job.iterations, self.policy, self.gamma, self.schedule, self.adapt)
        grouped = [[job.chunks[i] for i in group] for group in groups]
        return Task(brief, ChunkWork(code, grouped, job.compute, job.wants_token), job.start, job.step, name=job.name)


@dataclass(eq=False)
class Run:
    """A run under way: iterate over it for deliveries as they come; the rest is known when it is over."""

    driver: Driver
    record: Record
    cluster: Cluster
    origin: float
    own_engine: bool
    deliveries: list[Delivery] = field(default_factory=list)

    def __iter__(self) -> Iterator[Delivery]:
        """Deliveries in order; workers that were started for this run are ended after the last."""
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
        """The last state of the last job, when all are done."""
        return self.wait().deliveries[-1].state

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
    adapt: bool = True,
    emulate: bool = False,
    seed: int = 0,
    arrivals: Sequence[float] | None = None,
    checkpoint: str | Path | Checkpoints | None = None,
    listeners: Sequence[Listener] = (),
) -> Run:
    """Run jobs in order on real workers, and yield their deliveries.

    cluster: what is known of the workers; where nothing is, they are taken as equal, and measured as they work.
    code: by default none, with a task for each chunk. engine: "local" (processes), "ray", or an engine of one's own.
    work: units of work of a plain iteration, in the cluster's unit; by default one for each chunk.
    arrivals: seconds after the start at which jobs come; by default at once. adapt: split anew as the workers change.
    emulate: stretch task times to the cluster's laws (demonstrations and tests).
    checkpoint: a folder; a run that was killed goes on from there.
    """
    jobs = [job] if isinstance(job, Job) else list(job)
    if not jobs:
        raise BadInput("job", job, "nothing to run", "give a Job")
    if arrivals is not None and len(arrivals) != len(jobs):
        raise BadInput("arrivals", len(arrivals), f"for {len(jobs)} jobs", "give one time for each")
    setup = Setup.of(
        cluster, code, engine, workers=workers, policy=policy, schedule=schedule, gamma=gamma, work=work,
        adapt=adapt, emulate=emulate, seed=seed,
    )  # fmt: skip
    tasks = [setup.task(one) for one in jobs]
    store = Checkpoints(Path(checkpoint)) if isinstance(checkpoint, (str, Path)) else checkpoint
    saved = [None if store is None else store.load(n, t.name) for n, t in enumerate(tasks)]
    record = Record()
    driver = setup.driver([record, *listeners])
    driver.checkpoints = store
    driver.gather(len(setup.cluster))
    origin = driver.engine.now()
    for number, (task, known) in enumerate(zip(tasks, saved, strict=True)):
        if known is not None:
            task.state, task.iteration, task.over = known.state, known.iteration, known.over
        driver.submit(task, origin + (arrivals[number] if arrivals is not None else 0.0))
    return Run(driver, record, setup.cluster, origin, isinstance(engine, str))
