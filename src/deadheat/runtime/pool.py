"""A pool: a master in the background that takes jobs at any time, in the manner of concurrent.futures."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from math import inf
from types import TracebackType

from deadheat.coding import Code
from deadheat.model import Cluster
from deadheat.planning import Policy
from deadheat.runtime.driver import Delivery, Driver, JobFailed
from deadheat.runtime.job import Workable
from deadheat.runtime.options import Options, must_be_job
from deadheat.scheduling import Engine, Schedule

TURN = 0.02  # seconds after which the background looks for new jobs
NEAR = 2  # jobs that are prepared: the one at work, and the next
Submitted = tuple[Workable, Code | None, Future[Delivery], float]


class Pool:
    """Workers that stay up; `submit` returns a Future of the job's delivery. The arguments are those of `run`.

    with dh.Pool(workers=4) as pool:
        delivery = pool.submit(job).result()
    """

    def __init__(
        self, cluster: Cluster | None = None, code: Code | None = None, engine: str | Engine = "local", *,
        workers: int | None = None, policy: str | Policy = "optimal", schedule: str | Schedule = "static",
        gamma: float = 1.0, work: float | None = None, adapt: bool = True, emulate: bool = False, seed: int = 0,
        quotas: Sequence[float | None] | None = None, address: str | None = None, memory: float = inf,
    ) -> None:  # fmt: skip
        self._options = Options(
            cluster=cluster, code=code, engine=engine, workers=workers, policy=policy, schedule=schedule, gamma=gamma,
            work=work, adapt=adapt, emulate=emulate, seed=seed, quotas=quotas, address=address, memory=memory,
        )  # fmt: skip
        self._driver: Driver = self._options.start()
        self._waiting: deque[Submitted] = deque()
        self._futures: dict[int, Future[Delivery]] = {}
        self._ending = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._work, name="deadheat-pool", daemon=True)
        self._thread.start()

    def submit(self, job: Workable, code: Code | None = None) -> Future[Delivery]:
        """Take a job; jobs are worked on in this order. code: of this job, instead of the pool's.

        The Future raises JobFailed where a job cannot be finished, and BadInput where it cannot be prepared.
        """
        must_be_job(job)
        future: Future[Delivery] = Future()
        with self._lock:
            if self._ending.is_set():
                raise RuntimeError("the pool is closed")
            self._waiting.append((job, code, future, self._driver.engine.now()))
        return future

    @property
    def closed(self) -> bool:
        return self._ending.is_set()

    def close(self) -> None:
        """Finish what was submitted, then end the workers."""
        with self._lock:
            self._ending.set()
        self._thread.join()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _begin(self, job: Workable, code: Code | None, future: Future[Delivery], arrived: float) -> None:
        """Prepare and submit a job; before the first one, workers of whom nothing is known are probed."""
        if not future.set_running_or_notify_cancel():
            return
        try:
            program = self._options.program(job, code)
        except Exception as error:
            future.set_exception(error)
            return
        self._futures[self._driver.submitted] = future
        if not self._driver.submitted:
            self._driver.gather(len(self._options.declared))
            if self._options.guessed and self._driver.master.probe is None:
                self._driver.probe(program, job.start)
        self._driver.submit(program, job.start, arrived=arrived)

    def _work(self) -> None:
        try:
            while not (self._ending.is_set() and not self._waiting and not len(self._driver)):
                while self._waiting and len(self._driver) < NEAR:
                    self._begin(*self._waiting.popleft())
                for delivery in self._driver.turn(TURN):
                    future = self._futures.pop(delivery.job)
                    if delivery.error is None:
                        future.set_result(delivery)
                    else:
                        future.set_exception(JobFailed(delivery))
        except BaseException as error:
            with self._lock:
                self._ending.set()
            for future in [*self._futures.values(), *(submitted[2] for submitted in self._waiting)]:
                if not future.done():
                    future.set_exception(error)
            self._waiting.clear()
        finally:
            self._options.close(self._driver)
