"""A pool: a master in the background that takes jobs at any time, in the manner of concurrent.futures."""

from __future__ import annotations

import queue
import threading
from concurrent.futures import Future
from types import TracebackType
from typing import Unpack

from deadheat.coding import Code
from deadheat.model import Cluster
from deadheat.runtime.driver import Delivery, Driver, JobFailed, Task
from deadheat.runtime.engine import Engine
from deadheat.runtime.job import Workable
from deadheat.runtime.probing import PROBED, probe
from deadheat.runtime.setups import Setup, Ways

TURN = 0.02  # seconds after which the background looks for new jobs


class Pool:
    """Workers that stay up; `submit` returns a Future of the job's delivery.

        with dh.Pool(workers=4) as pool:
            delivery = pool.submit(job).result()

    Takes the arguments of `run` besides the job.
    """

    def __init__(
        self,
        cluster: Cluster | None = None,
        code: Code | None = None,
        engine: str | Engine = "local",
        **ways: Unpack[Ways],
    ) -> None:
        self._setup = Setup(cluster, code, engine, **ways)
        self._driver: Driver = self._setup.driver()
        self._coming: queue.SimpleQueue[tuple[Task, Future[Delivery]]] = queue.SimpleQueue()
        self._futures: dict[int, Future[Delivery]] = {}
        self._ending = threading.Event()
        self._gate = threading.Lock()
        self._thread = threading.Thread(target=self._work, name="deadheat-pool", daemon=True)
        self._thread.start()

    def submit(self, job: Workable, code: Code | None = None) -> Future[Delivery]:
        """Take a job; jobs are worked on in this order. The Future raises JobFailed where one cannot be finished.

        code: of this job, instead of the pool's.
        """
        future: Future[Delivery] = Future()
        task = self._setup.task(job, code)
        with self._gate:
            if self._ending.is_set():
                raise RuntimeError("the pool is closed")
            self._coming.put((task, future))
        return future

    @property
    def closed(self) -> bool:
        """Whether it takes no more jobs."""
        return self._ending.is_set()

    def close(self) -> None:
        """Finish what was submitted, then end the workers."""
        with self._gate:
            self._ending.set()
        self._thread.join()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _begin(self, task: Task, future: Future[Delivery]) -> None:
        """Take a job; before the first one, workers of whom nothing is known are probed."""
        job = self._driver.take(task)
        self._futures[job] = future
        if job == 0:
            self._driver.gather(len(self._setup.known))
            if self._setup.guessed:
                probe(self._driver, job, PROBED)
        self._driver.arrive(job, self._driver.engine.now())

    def _work(self) -> None:
        try:
            while not (self._ending.is_set() and self._coming.empty() and not self._driver.busy):
                while not self._coming.empty():
                    task, future = self._coming.get()
                    if future.set_running_or_notify_cancel():
                        self._begin(task, future)
                for delivery in self._driver.turn(TURN):
                    future = self._futures.pop(delivery.job)
                    if delivery.error is None:
                        future.set_result(delivery)
                    else:
                        future.set_exception(JobFailed(delivery))
        except BaseException as error:
            with self._gate:
                self._ending.set()
            waiting = list(self._futures.values())
            while not self._coming.empty():
                waiting.append(self._coming.get()[1])
            for future in waiting:
                if not future.done():
                    future.set_exception(error)
        finally:
            if isinstance(self._setup.engine, str):
                self._driver.engine.close()
