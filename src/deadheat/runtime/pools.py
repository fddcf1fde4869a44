"""A pool: a master in the background that takes jobs at any time, in the manner of concurrent.futures."""

from __future__ import annotations

import queue
import threading
from concurrent.futures import Future
from types import TracebackType
from typing import Any

from deadheat.errors import DeadheatError
from deadheat.runtime.driver import Delivery, Driver, Task
from deadheat.runtime.job import Job
from deadheat.runtime.runs import Setup

TURN = 0.02  # seconds after which the background looks for new jobs


class JobFailed(DeadheatError):
    """A job that could not be finished; `delivery` has its last state."""

    def __init__(self, delivery: Delivery) -> None:
        super().__init__(f"job {delivery.name or delivery.job}: {delivery.error}")
        self.delivery = delivery


class Pool:
    """Workers that stay up; `submit` returns a Future of the job's delivery.

        with dh.Pool(workers=4) as pool:
            delivery = pool.submit(job).result()

    Takes the arguments of `run` besides the job.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self._setup = Setup.of(*arguments, **named)
        self._driver: Driver = self._setup.driver()
        self._coming: queue.SimpleQueue[tuple[Task, Future[Delivery]]] = queue.SimpleQueue()
        self._futures: dict[int, Future[Delivery]] = {}
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._work, name="deadheat-pool", daemon=True)
        self._thread.start()

    def submit(self, job: Job) -> Future[Delivery]:
        """Take a job; jobs are worked on in this order. The Future raises JobFailed where one cannot be finished."""
        if self._ending.is_set():
            raise RuntimeError("the pool is closed")
        future: Future[Delivery] = Future()
        self._coming.put((self._setup.task(job), future))
        return future

    def close(self) -> None:
        """Finish what was submitted, then end the workers."""
        self._ending.set()
        self._thread.join()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _work(self) -> None:
        try:
            while not (self._ending.is_set() and self._coming.empty() and not self._driver.open):
                while not self._coming.empty():
                    task, future = self._coming.get()
                    if future.set_running_or_notify_cancel():
                        self._futures[self._driver.submit(task)] = future
                for delivery in self._driver.turn(TURN):
                    future = self._futures.pop(delivery.job)
                    if delivery.error is None:
                        future.set_result(delivery)
                    else:
                        future.set_exception(JobFailed(delivery))
        except BaseException as error:
            for future in self._futures.values():
                future.set_exception(error)
            raise
        finally:
            self._driver.engine.close()
