"""Run jobs for real: `run` takes jobs, workers and a code, and yields deliveries as they come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from deadheat.coding import Code
from deadheat.errors import BadInput, DeadheatError, finite
from deadheat.model import Cluster, Trace
from deadheat.runtime.briefs import Brief
from deadheat.runtime.checkpoints import Checkpoints
from deadheat.runtime.driver import Delivery, Driver, JobFailed, Listener
from deadheat.runtime.engine import Engine
from deadheat.runtime.horizons import Horizon
from deadheat.runtime.job import Workable
from deadheat.runtime.outcomes import Compared, Outcome, WorkerReport, mean_of, overhead_of
from deadheat.runtime.outlooks import Outlook, outlook, ranges
from deadheat.runtime.probing import PROBED, probe
from deadheat.runtime.records import Record
from deadheat.runtime.setups import Setup, Ways


class EndedEarly(DeadheatError):
    """A run that was closed before its end is asked for more."""

    def __init__(self, done: int) -> None:
        super().__init__(f"the run was ended after {done} jobs: begin another one for the rest")


@dataclass(eq=False)
class Run:
    """A run under way. It goes on while it is iterated over, or waited for; the rest is known when it is over."""

    driver: Driver
    record: Record
    horizon: Horizon
    cluster: Cluster
    origin: float
    own_engine: bool
    emulation: str
    deliveries: list[Delivery] = field(default_factory=list)
    closed: bool = False

    def __iter__(self) -> Iterator[Delivery]:
        """Deliveries in order; workers that were started for this run are ended after the last."""
        try:
            while self.driver.busy:
                if self.closed:
                    raise EndedEarly(len(self.deliveries))
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
        self.closed = True
        if self.own_engine:
            self.driver.engine.close()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def state(self) -> Any:
        """The last state of the last job, when all are done. Raises JobFailed where it could not be finished."""
        last = self.wait().deliveries[-1]
        if last.error is not None:
            raise JobFailed(last)
        return last.state

    @property
    def trace(self) -> Trace:
        """Arrivals, starts, ends and every task, in seconds since the run began."""
        done = [d for d in self.wait().deliveries if d.error is None]
        arrival, start, end = (
            np.array([getattr(d, name) for d in done]) - self.origin for name in ("arrived", "started", "delivered")
        )
        about = {
            "jobs": len(done), "engine": type(self.driver.engine).__name__, "workers": self.cluster.names,
            "emulated": bool(self.emulation),
        }  # fmt: skip
        return Trace(arrival, start, end, self.record.timeline(self.origin), about)

    @property
    def workers(self) -> Cluster:
        """The workers as they were measured."""
        return self.driver.master.estimates.cluster(range(len(self.cluster)))

    @property
    def reports(self) -> tuple[WorkerReport, ...]:
        """Every worker, as it is now."""
        master, record = self.driver.master, self.record
        every = sorted({*range(len(self.cluster)), *master.alive})
        scores, now = master.estimates.scores(every), master.estimates.cluster(every)
        return tuple(
            WorkerReport(
                worker.name, record.loads.get(w, 0), record.done.get(w, 0), record.purged.get(w, 0),
                record.late.get(w, 0.0), *scores[w], master.state(w),
                worker.mean, worker.std, worker.comm,
            )
            for w, worker in zip(every, now, strict=True)
        )  # fmt: skip

    @cached_property
    def outcome(self) -> Outcome:
        """Forecast beside measurement, when all is over."""
        record, done = self.record, [d for d in self.wait().deliveries if d.error is None]
        overhead, at_master = overhead_of(record, self.cluster.comm.tolist())
        last = max((d.delivered for d in self.deliveries), default=self.origin)
        return Outcome(
            len(done),
            len(self.deliveries) - len(done),
            len(record.iterations),
            last - self.origin,
            self._compared(done, overhead),
            overhead,
            at_master,
            self.horizon.made,
            self.horizon.held,
            self.reports,
            all(o.exact for o in self.horizon.outlooks.values()),
            self.emulation,
        )

    def _compared(self, done: list[Delivery], overhead: float) -> tuple[Compared, ...]:
        """Iteration, service and delay of the jobs that were worked on in this run and are done."""
        record, outlooks = self.record, self.horizon.outlooks
        counts = {d.job: record.job.count(d.job) for d in done}
        whole = [d for d in done if counts[d.job] and d.job in outlooks]
        if not whole:
            return ()
        known = [outlooks[d.job] for d in whole]
        counted = [counts[d.job] for d in whole]
        arrivals = [d.arrived - self.origin for d in whole]
        plain, full = (ranges(known, counted, arrivals, extra) for extra in (0.0, overhead))
        chosen = {d.job for d in whole}
        each = [
            time + extra
            for job, time, extra in zip(record.job, record.iterations, record.overhead, strict=True)
            if job in chosen
        ]
        measured = mean_of(each), mean_of([d.service for d in whole]), mean_of([d.delay for d in whole])
        names = "iteration", "service", "delay"
        return tuple(Compared(*row) for row in zip(names, plain, full, measured, strict=True))


def run(
    job: Workable | Sequence[Workable],
    cluster: Cluster | None = None,
    code: Code | Sequence[Code | None] | None = None,
    engine: str | Engine = "local",
    *,
    arrivals: Sequence[float] | None = None,
    checkpoint: str | Path | Checkpoints | None = None,
    listeners: Sequence[Listener] = (),
    **ways: Unpack[Ways],
) -> Run:
    """Run jobs in order on real workers, and yield their deliveries.

    cluster: what is known of the workers; where nothing is, a short probe measures them.
    code: by default none, with a task for each chunk; or a list, one for each job.
    engine: "local" (processes), "ray", or an engine of one's own.
    arrivals: seconds after the start at which jobs come; by default at once.
    checkpoint: a folder; a run that was killed goes on from there. ways: see `Ways`.
    """
    jobs: list[Workable] = list(job) if isinstance(job, Sequence) else [job]
    if not jobs:
        raise BadInput("job", job, "nothing to run", "give a Job")
    for one in jobs:
        if not callable(getattr(one, "prepare", None)):
            raise BadInput("job", one, "not a job", "give a dh.Job, or one of deadheat.jobs")
    if arrivals is not None:
        _check_arrivals(arrivals, len(jobs))
    if (code is not None and not isinstance(code, (Code, Sequence))) or isinstance(code, str):
        raise BadInput("code", code, "not a code", "give one of dh.codes, such as dh.codes.cyclic(12, 2)")
    given = [code] * len(jobs) if code is None or isinstance(code, Code) else list(code)
    if len(given) != len(jobs):
        raise BadInput("code", len(given), f"for {len(jobs)} jobs", "give one code, or one for each")
    setup = Setup(cluster, None, engine, **ways)
    tasks = [setup.task(one, its) for one, its in zip(jobs, given, strict=True)]
    store = Checkpoints(Path(checkpoint)) if isinstance(checkpoint, (str, Path)) else checkpoint
    saved = [None if store is None else store.load(n, t.signature) for n, t in enumerate(tasks)]
    for task, known in zip(tasks, saved, strict=True):
        if known is not None:
            task.state, task.iteration, task.over = known.state, known.iteration, known.over
    record = Record()
    driver = setup.driver([record, *listeners])
    driver.checkpoints = store
    try:
        driver.gather(len(setup.known))
        numbers = [driver.take(task) for task in tasks]
        if setup.guessed:
            probe(driver, 0, PROBED)
        now = driver.master.estimates.cluster(range(len(setup.known))) if setup.guessed else setup.known
        outlooks = _outlooks(now, [task.brief for task in tasks], setup.seed)
    except BaseException:
        if isinstance(engine, str):
            driver.engine.close()
        raise
    origin = driver.engine.now()
    times = [origin + t for t in (arrivals or [0.0] * len(tasks))]
    for number, at in zip(numbers, times, strict=True):
        driver.arrive(number, at)
    ends = [task.iteration if task.over else task.brief.iterations for task in tasks]
    horizon = Horizon(ends, times, outlooks)
    driver.listeners.append(horizon)
    return Run(driver, record, horizon, now, origin, isinstance(engine, str), setup.emulation)


def _check_arrivals(arrivals: Sequence[float], jobs: int) -> None:
    if len(arrivals) != jobs:
        raise BadInput("arrivals", len(arrivals), f"for {jobs} jobs", "give one time for each")
    for before, at in zip([0.0, *arrivals], arrivals, strict=False):
        if finite("arrivals", at, "give seconds after the start", least=0.0) < before:
            raise BadInput("arrivals", at, f"comes after {before:g}", "give the jobs in the order of their arrival")


def _outlooks(cluster: Cluster, briefs: Sequence[Brief], seed: int) -> dict[int, Outlook]:
    """What to expect of each job's iterations; what has the same law is looked at once."""
    found: dict[int, Outlook] = {}
    known: dict[object, Outlook] = {}
    for number, brief in enumerate(briefs):
        key = brief.spec, None if brief.code.fewest == brief.code.critical else id(brief.code)
        if key not in known:
            known[key] = outlook(cluster, brief, seed)
        found[number] = known[key]
    return found
