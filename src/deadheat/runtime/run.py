"""Run jobs for real: `run` takes a stream of jobs, workers and a code, and yields deliveries as they come."""

from __future__ import annotations

import threading
import warnings
import weakref
from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import replace
from functools import cached_property
from itertools import repeat
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.coding import Code
from deadheat.errors import BadInput, DeadheatError, NotConverged, finite
from deadheat.model import Array, Cluster, Trace
from deadheat.planning import Policy
from deadheat.runtime.checkpoint import Checkpoints, Saved
from deadheat.runtime.delivery import Delivery, JobFailed
from deadheat.runtime.driver import Driver, Listener
from deadheat.runtime.eta import Eta
from deadheat.runtime.event_log import EventLog
from deadheat.runtime.expectation import Expectations, intervals_of_a_run
from deadheat.runtime.fingerprint import fingerprint
from deadheat.runtime.job import Workable
from deadheat.runtime.options import Options, must_be_job
from deadheat.runtime.outcome import Compared, Outcome, WorkerReport, mean_of, overhead_of
from deadheat.runtime.record import Record
from deadheat.scheduling import Engine, Program, Schedule, describe_error

MISSING = object()  # a value that nobody gives
FEW_CHECKS = 3  # that a worker's results should have had, before it is worth a remark that they had none
NEAR = 2  # jobs that are prepared: the one at work, and the next


class EndedEarly(DeadheatError):
    """A run that was closed before its end is asked for more."""


def run(
    job: Workable | Iterable[Workable],
    cluster: Cluster | None = None,
    code: Code | Iterable[Code | None] | None = None,
    engine: str | Engine = "local",
    *,
    workers: int | None = None,
    policy: str | Policy = "optimal",
    schedule: str | Schedule = "static",
    gamma: float = 1.0,
    work: float | None = None,
    adapt: bool = True,
    arrivals: Iterable[float] | None = None,
    checkpoint: str | Path | Checkpoints | None = None,
    events: str | Path | None = None,
    listeners: Sequence[Listener] = (),
    emulate: bool = False,
    seed: int = 0,
    quotas: Sequence[float | None] | None = None,
    address: str | None = None,
    memory: float = inf,
    checks: str | float = "auto",
    patience: float | None = None,
) -> Run:
    """Run jobs in order on real workers, and yield their deliveries.

    job: one, or any iterable of them; a job is prepared when its turn is near and forgotten when it is delivered. A
    generator is asked for one job ahead of the one at work: it must not wait for a delivery.
    cluster: what is known of the workers; where nothing is, a short probe measures them.
    code: none by default, with a task for each chunk; or an iterable, one for each job.
    engine: "local" (processes), "ray", or an engine of your own.
    workers: how many, where no cluster is given.
    policy: of the split: a name ("optimal", "fastest", "uniform", ...) or a function of cluster, spec and gamma.
    schedule: "static", "top-up", "pull", "duplicates", "speculative", or one of your own.
    gamma: weight of the second moment in Theorem 2, in 1/second.
    work: units of work of a plain iteration, in the cluster's unit; by default one for each chunk.
    adapt: split anew as the workers change.
    arrivals: seconds after the start at which jobs come, in order; by default all at once.
    checkpoint: a folder; a run that was killed goes on from there.
    events: a file for every event and command, which `deadheat replay` feeds to a master again.
    listeners: functions that are called with every event and command, and the time.
    emulate: stretch task times to the cluster's laws, for demonstrations and tests.
    seed: of emulated times, and of simulated forecasts.
    quotas: shares of a core that local workers get (as root, on Linux).
    address: of a Ray cluster.
    memory: bytes of chunks that a worker may keep of those it reads itself.
    checks: the part of tasks that are checked, so that a worker with wrong results is found; "auto" for one in 200.
    patience: seconds that a task may take before its worker is given up; by default what is measured decides.
    """
    several = isinstance(job, Iterable) and not callable(getattr(job, "program", None))
    jobs: Iterable[Any] = job if several and isinstance(job, Iterable) else [job]
    same = code is None or isinstance(code, (Code, str)) or not isinstance(code, Iterable)
    options = Options(
        cluster=cluster, code=code if same else None, engine=engine, workers=workers, policy=policy,  # type: ignore[arg-type]
        schedule=schedule, gamma=gamma, work=work, adapt=adapt, emulate=emulate, seed=seed, quotas=quotas,
        address=address, memory=memory, checks=checks, patience=patience,
    )  # fmt: skip
    codes = None if same or not isinstance(code, Iterable) else _matching("code", code, jobs)
    times = arrivals.tolist() if isinstance(arrivals, np.ndarray) else arrivals
    times = None if times is None else _matching("arrivals", times, jobs)
    if isinstance(jobs, Sequence):
        if not jobs:
            raise BadInput("job", job, "nothing to run", "give a Job")
        for one_job in jobs:
            must_be_job(one_job)
    if isinstance(times, Sequence):
        list(_ascending(times))
    store = Checkpoints(Path(checkpoint)) if isinstance(checkpoint, (str, Path)) else checkpoint
    return Run(options, jobs, codes=codes, arrivals=times, checkpoints=store, events=events, listeners=listeners)


class Run:
    """A run under way. It goes on while it is iterated over, or waited for; the rest is known when it is over.

    cluster: the workers as they were declared, or as the probe found them. deliveries: those so far, with their states
    where the jobs were given as a list; of a stream the states go to whoever iterates, and only the last one stays.
    """

    def __init__(
        self, options: Options, jobs: Iterable[Workable], *, codes: Iterable[Code | None] | None = None,
        arrivals: Iterable[float] | None = None, checkpoints: Checkpoints | None = None,
        events: str | Path | None = None, listeners: Sequence[Listener] = (),
    ) -> None:  # fmt: skip
        self.options, self.checkpoints = options, checkpoints
        self.count = len(jobs) if isinstance(jobs, Sized) else None
        self.deliveries: list[Delivery] = []
        self.closed = False
        self.record = Record()
        self._keep_states = isinstance(jobs, Sequence)
        self._jobs = iter(jobs)
        self._codes: Iterator[Any] = repeat(None) if codes is None else iter(codes)
        self._arrivals: Iterator[Any] = repeat(0.0) if arrivals is None else _ascending(arrivals)
        self._last: Delivery | None = None
        self._not_converged = 0
        self._waiting = threading.RLock()
        self._kinds: dict[int, tuple[object, bool]] = {}  # of jobs that are under way, and whether they converge
        self._kind_of: list[object] = []  # of jobs that are done, in the order of delivery
        self._error: Exception | None = None  # of the stream of jobs itself
        self._unprepared: Delivery | None = None  # a job that waits for those before it, to be delivered with its error
        self._upcoming = self._next_job()
        if self._upcoming is None:
            raise BadInput("job", jobs, "nothing to run", "give a Job")
        first = options.program(self._upcoming[0], self._upcoming[1])  # what cannot be meant is said before any work
        self._log = None if events is None else EventLog(Path(events), options)
        try:
            self.driver: Driver = options.start([self.record, *([self._log] if self._log else []), *listeners])
        except BaseException:
            if self._log is not None:
                self._log.close()
            raise
        self.driver.checkpoints = checkpoints
        # Not by a method: a run that is dropped, and waited for by nobody, ends its workers too.
        self._end = weakref.finalize(self, _end, options, self.driver, self._log)
        try:
            self.driver.gather(len(options.declared))
            if options.guessed:
                self.driver.probe(first, self._upcoming[0].start)
            estimates = self.driver.master.estimates
            self.cluster = estimates.cluster(range(len(options.declared))) if options.guessed else options.declared
        except BaseException:
            self.close()
            raise
        self.expectations = Expectations(
            self.cluster, options.named_policy, options.gamma, options.named_schedule, options.seed
        )
        self.origin = self.driver.engine.now()
        times = [self.origin + time for time in arrivals] if isinstance(arrivals, Sequence) else None
        self.eta = Eta(self.count, times)
        self.driver.listeners.append(self.eta)
        self._first: Program | None = first

    def __iter__(self) -> Iterator[Delivery]:
        """Yield deliveries in order; workers that were started for this run are ended after the last."""
        try:
            while len(self.driver) or self._unprepared is not None or self._fetched() is not None:
                if self.closed:
                    raise EndedEarly(f"the run was ended after {len(self.deliveries)} jobs: begin another for the rest")
                for delivery in [*self.driver.turn(self._feed()), *self._failed()]:
                    self._take(delivery)
                    yield delivery
            if self._error is not None:
                raise self._error
        finally:
            self.close()

    def _next_job(self) -> tuple[Workable, Code | None, float] | None:
        """The next job of the stream with its code and its arrival; None at its end."""
        for job in self._jobs:
            code: Any = next(self._codes, MISSING)
            at: Any = next(self._arrivals, MISSING)
            for field, value in (("code", code), ("arrivals", at)):
                if value is MISSING:
                    raise BadInput(field, None, "fewer than jobs", "give one for each")
            return job, code, at
        return None

    def _fetched(self) -> tuple[Workable, Code | None, float] | None:
        """The job that is next, taken from the stream when it is needed; an error of the stream itself comes last."""
        if self._upcoming is None and self._error is None:
            try:
                self._upcoming = self._next_job()
            except Exception as error:  # the jobs that are under way are finished first
                self._error = error
        return self._upcoming

    def _feed(self) -> float | None:
        """Prepare and submit jobs that have arrived, while their turn is near; the seconds until the next.

        A job that cannot be prepared is delivered with its error, after those before it.
        """
        while self._unprepared is None and len(self.driver) < NEAR and self._fetched() is not None:
            assert self._upcoming is not None
            job, code, after = self._upcoming
            at = self.origin + after
            if (pause := at - self.driver.engine.now()) > 0:
                return pause
            self._upcoming = None
            try:
                prepared = self._prepared(job, code)
            except Exception as error:
                if not self.driver.submitted:
                    raise  # the first job: what cannot be meant is said before any work
                why = str(error) if isinstance(error, DeadheatError) else describe_error(error)
                number, name = self.driver.skip(), getattr(job, "name", "")
                self._unprepared = Delivery(number, name, None, 0, arrived=at, started=at, delivered=at, error=why)
            else:
                self._submit(*prepared, at)
        return 0.0 if self._unprepared is not None and not len(self.driver) else None

    def _failed(self) -> list[Delivery]:
        """The job that could not be prepared, when all before it are delivered."""
        if self._unprepared is None or len(self.driver):
            return []
        now = self.driver.engine.now()
        delivery, self._unprepared = replace(self._unprepared, started=now, delivered=now), None
        self.eta.over += 1
        return [delivery]

    def _prepared(self, job: Workable, code: Code | None) -> tuple[Program, Any, Saved | None, str]:
        """A job's program and start, with where its checkpoint left it, and by what its checkpoints know it."""
        program, self._first = self._first or self.options.program(job, code), None
        if self.checkpoints is None:
            return program, job.start, None, ""
        mark = fingerprint(program, job.start)
        saved = self.checkpoints.load(self.driver.submitted, program.name, mark, program.iterations)
        return program, job.start, saved, mark

    def _submit(self, program: Program, start: Any, saved: Saved | None, mark: str, at: float) -> None:
        number = self.driver.submitted
        self._kinds[number] = self.expectations.kind(program), program.converges
        if saved is not None and saved.over:
            self.eta.over += 1
        else:
            self.eta.add(number, program.iterations, program.spec.critical * program.spec.work)
        self.driver.submit(program, start, arrived=at, saved=saved, fingerprint=mark)

    def _take(self, delivery: Delivery) -> None:
        self.record.deliver(delivery)
        self._last = delivery
        kind, converges = self._kinds.pop(delivery.job, (None, False))
        if converges and delivery.error is None and not delivery.converged:
            name = delivery.name or f"job {delivery.job}"
            self._not_converged += 1
            warnings.warn(f"{name} did not converge: {delivery.ended}", NotConverged, stacklevel=3)
        if delivery.error is None and kind is not None:
            self._kind_of.append(kind)
        self.deliveries.append(delivery if self._keep_states else replace(delivery, state=None))

    def wait(self) -> Run:
        """Work until all is done; a second thread waits for the first."""
        with self._waiting:
            for _ in self:
                pass
        return self

    def close(self) -> None:
        """End the workers, if they were started for this run."""
        self.closed = True
        self._end()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def state(self) -> Any:
        """The last state of the last job, when all are done. Raises JobFailed where it could not be finished."""
        self.wait()
        assert self._last is not None
        if self._last.error is not None:
            raise JobFailed(self._last)
        return self._last.state

    @property
    def trace(self) -> Trace:
        """Arrivals, starts, ends and every task, in seconds since the run began."""
        self.wait()
        arrival, start, end = (np.array(column) - self.origin for column in self.record.times)
        about = {
            "jobs": len(arrival), "engine": type(self.driver.engine).__name__, "workers": self.cluster.names,
            "emulated": bool(self.options.emulation),
        }  # fmt: skip
        return Trace(arrival, start, end, self.record.timeline(self.origin), about)

    @property
    def workers(self) -> Cluster:
        return self.driver.master.estimates.cluster(range(len(self.cluster)))

    @property
    def reports(self) -> tuple[WorkerReport, ...]:
        master, record, tally = self.driver.master, self.record, self.driver.tally
        numbers = sorted({*range(len(self.options.declared)), *master.alive})
        scores, measured = master.estimates.scores(numbers), master.estimates.cluster(numbers)
        return tuple(
            WorkerReport(
                name=worker.name, load=record.loads.get(w, 0), done=record.done.get(w, 0),
                purged=record.purged.get(w, 0), late=record.late.get(w, 0.0), relative=scores[w].relative,
                individual=scores[w].individual, slower=scores[w].slower, state=master.state(w), mean=worker.mean,
                std=worker.std, comm=worker.comm, checks=tally.passed[w] + tally.failed[w],
                failed_checks=tally.failed[w],
            )
            for w, worker in zip(numbers, measured, strict=True)
        )  # fmt: skip

    @cached_property
    def outcome(self) -> Outcome:
        """Forecast beside measurement, when all is over."""
        record = self.wait().record
        overhead, at_master = overhead_of(record, self.cluster.comm)
        compared, exact = self._compared(overhead)
        return Outcome(
            jobs=len(record.delivered), failed=record.failed, iterations=len(record.iterations),
            seconds=(record.last or self.origin) - self.origin, compared=compared, overhead=overhead,
            at_master=at_master, intervals=self.eta.stated, held=self.eta.held, workers=self.reports, exact=exact,
            emulation=self.options.emulation, checked=self.driver.tally.cost(len(record.iterations)),
            remarks=(*self.driver.remarks, *self._unchecked()), not_converged=self._not_converged,
        )  # fmt: skip

    def _unchecked(self) -> list[str]:
        """A remark on workers of whose results not one was checked, where results should have been."""
        tally, name = self.driver.tally, self.driver.master.estimates.name
        checked = tally.passed | tally.failed
        due = {
            worker for worker, results in self.record.done.items() if results * self.options.check_rate >= FEW_CHECKS
        }
        missed = [name(worker) for worker in sorted(due & tally.unchecked.keys()) if not checked[worker]]
        return [f"no result of {', '.join(missed)} was checked"] if missed else []

    def _compared(self, overhead: float) -> tuple[tuple[Compared, ...], bool]:
        """Iteration, service and delay of the jobs that were worked on in this run; whether the forecast is exact."""
        record = self.record
        jobs = np.array(record.delivered, np.int64)
        iterated = np.array(record.job, np.int64)
        counts = np.bincount(iterated, minlength=int(jobs.max(initial=-1)) + 1)[jobs] if jobs.size else jobs
        worked = counts > 0  # some were over at their checkpoint
        if not worked.any():
            return (), True
        arrival, start, end = (np.array(column)[worked] for column in record.times)
        expected = [self.expectations.of(self._kind_of[place]) for place in np.flatnonzero(worked)]
        plain, full = (
            intervals_of_a_run(expected, counts[worked].astype(float), arrival - self.origin, extra)
            for extra in (0.0, overhead)
        )
        each: Array = (np.array(record.iterations) + np.array(record.at_master))[np.isin(iterated, jobs[worked])]
        measured = mean_of(each), mean_of(end - start), mean_of(end - arrival)
        names = "iteration", "service", "delay"
        rows = zip(names, plain, full, measured, strict=True)
        return tuple(Compared(*row) for row in rows), all(expectation.exact for expectation in expected)


def _end(options: Options, driver: Driver, log: EventLog | None) -> None:
    """End the workers of a run, if they were started for it."""
    try:
        options.close(driver)
    finally:
        if log is not None:
            log.close()


def _ascending(arrivals: Iterable[float]) -> Iterator[float]:
    """The times, checked as they come."""
    before = 0.0
    for at in arrivals:
        if finite("arrivals", at, "give seconds after the start", least=0.0) < before:
            raise BadInput("arrivals", at, f"comes after {before:g}", "give the jobs in the order of their arrival")
        before = at
        yield at


def _matching(field: str, values: Iterable[Any], jobs: Iterable[Any]) -> Iterable[Any]:
    """Values of which there must be one for each job, as far as their number is known."""
    if isinstance(values, Sized) and isinstance(jobs, Sized) and len(values) != len(jobs):
        raise BadInput(field, len(values), f"for {len(jobs)} jobs", "give one for each")
    return values
