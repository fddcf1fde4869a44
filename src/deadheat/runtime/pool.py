"""A pool: a master in the background that takes jobs at any time, in the manner of concurrent.futures."""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from math import inf
from types import TracebackType

from deadheat.coding import Code
from deadheat.model import Cluster
from deadheat.planning import Policy
from deadheat.runtime.delivery import Delivery, JobFailed
from deadheat.runtime.driver import Driver
from deadheat.runtime.job import Workable
from deadheat.runtime.options import Options, must_be_job
from deadheat.runtime.run import EndedEarly
from deadheat.scheduling import Engine, Schedule

TURN = 0.02  # seconds after which the background looks for new jobs
NEAR = 2  # jobs that are prepared: the one at work, and the next
GATHER = 30.0  # seconds for which the first job waits for workers that are not there yet
GRACE = 2.0  # seconds for which an interrupted pool waits for its background, which may be in a user's step
Submitted = tuple[Workable, Code | None, Future[Delivery], float]


class Pool:
    """Workers that stay up; `submit` returns a Future of the job's delivery. The arguments are those of `run`.

    with dh.Pool(workers=4) as pool:
        delivery = pool.submit(job).result()

    The end of the `with` waits for what was submitted; an exception inside (Control-C, too) ends the workers at once. A
    pool that is dropped, or whose script ends, finishes what was submitted, and ends its workers; a script that ends by
    an exception does not wait for it.
    """

    def __init__(
        self, cluster: Cluster | None = None, code: Code | None = None, engine: str | Engine = "local", *,
        workers: int | None = None, policy: str | Policy = "optimal", schedule: str | Schedule = "static",
        gamma: float = 1.0, work: float | None = None, adapt: bool = True, emulate: bool = False, seed: int = 0,
        quotas: Sequence[float | None] | None = None, address: str | None = None, memory: float = inf,
        checks: str | float = "auto", patience: float | None = None,
    ) -> None:  # fmt: skip
        options = Options(
            cluster=cluster, code=code, engine=engine, workers=workers, policy=policy, schedule=schedule, gamma=gamma,
            work=work, adapt=adapt, emulate=emulate, seed=seed, quotas=quotas, address=address, memory=memory,
            checks=checks, patience=patience,
        )  # fmt: skip
        self._owner = os.getpid()
        self._driver = options.start()
        try:
            self._backlog = Backlog(options, self._driver)
            self._thread = threading.Thread(target=self._backlog.work, name="deadheat-pool", daemon=False)
            weakref.finalize(self, self._backlog.end).atexit = False
            self._thread.start()
        except BaseException:
            options.close(self._driver)
            raise

    def submit(self, job: Workable, code: Code | None = None) -> Future[Delivery]:
        """Take a job; jobs are worked on in this order. code: of this job, instead of the pool's.

        The Future raises JobFailed where a job cannot be finished, BadInput where it cannot be prepared, and EndedEarly
        where the pool was ended by an exception.
        """
        must_be_job(job)
        if os.getpid() != self._owner:
            raise RuntimeError("the pool belongs to the process that this one was forked from: make another")
        future: Future[Delivery] = Future()
        self._backlog.add((job, code, future, self._driver.engine.now()))
        return future

    @property
    def closed(self) -> bool:
        return self._backlog.ending

    def close(self) -> None:
        """Finish what was submitted, then end the workers; an exception meanwhile (Control-C) ends them at once."""
        self._backlog.end()
        try:
            if threading.current_thread() is not self._thread:
                self._thread.join()
        except BaseException:
            self._abort()
            raise

    def _abort(self) -> None:
        self._backlog.abort()
        self._thread.join(GRACE)

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is None:
            self.close()
        else:
            self._abort()


@dataclass(eq=False)
class Backlog:
    """The jobs of a pool and what the background does with them. It does not know the pool, which may be dropped."""

    options: Options
    driver: Driver
    ending: bool = False  # no more jobs are taken
    aborted: bool = False  # and those that were taken are not finished
    _waiting: deque[Submitted] = field(default_factory=deque)
    _futures: dict[int, Future[Delivery]] = field(default_factory=dict)  # of the jobs that the driver has
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, submitted: Submitted) -> None:
        with self._lock:
            if self.ending:
                raise RuntimeError("the pool is closed")
            self._waiting.append(submitted)

    def end(self) -> None:
        """Take no more jobs. Without the lock: a pool may be dropped at any moment, in any thread."""
        self.ending = True

    def abort(self) -> None:
        """Cancel what waits, and end the workers at once; the background hears of it from its engine."""
        self.aborted = True
        with self._lock:
            self.ending = True
            for _, _, future, _ in self._waiting:
                future.cancel()
        self.options.close(self.driver)

    def work(self) -> None:
        """Work on jobs until the pool is ended and all are done."""
        failure: BaseException = EndedEarly("the pool was ended before the job was done")
        try:
            while self._goes_on() and not self._finished():
                while self._waiting and len(self.driver) < NEAR:
                    self._begin(*self._waiting.popleft())
                for delivery in self.driver.turn(TURN):
                    future = self._futures.pop(delivery.job)
                    if delivery.error is None:
                        future.set_result(delivery)
                    else:
                        future.set_exception(JobFailed(delivery))
        except BaseException as error:
            if not self.aborted:
                failure = error
        finally:
            with self._lock:
                self.ending = True
            for future in [*self._futures.values(), *(submitted[2] for submitted in self._waiting)]:
                if not future.done():
                    future.set_exception(failure)
            self._waiting.clear()
            self._futures.clear()
            self.options.close(self.driver)

    def _goes_on(self) -> bool:
        """Whether there is any reason to go on; not where the script has ended by an exception."""
        if not threading.main_thread().is_alive():  # the interpreter waits for us
            self.ending = True
            self.aborted |= getattr(sys, "last_type", None) is not None
        return not self.aborted

    def _finished(self) -> bool:
        with self._lock:
            return self.ending and not self._waiting and not len(self.driver)

    def _begin(self, job: Workable, code: Code | None, future: Future[Delivery], arrived: float) -> None:
        """Prepare and submit a job; before the first one, workers of whom nothing is known are probed."""
        if not future.set_running_or_notify_cancel():
            return
        try:
            program = self.options.program(job, code)
        except BaseException as error:
            future.set_exception(error)
            if isinstance(error, Exception):
                return
            raise
        self._futures[self.driver.submitted] = future
        if not self.driver.submitted:
            self._gather()
            if self.options.guessed and self.driver.master.probe is None:
                self.driver.probe(program, job.start, go_on=self._goes_on)
                if self.aborted:
                    return
        self.driver.submit(program, job.start, arrived=arrived)

    def _gather(self) -> None:
        """Wait for the workers in short turns, so that an end of the pool is noticed."""
        wanted, until = len(self.options.declared), self.driver.engine.now() + GATHER
        while len(self.driver.master.alive) < wanted and self.driver.engine.now() < until and not self.aborted:
            self.driver.turn(TURN)
        self.driver.gather(wanted, patience=0.0)  # raises NobodyCame where none is there
