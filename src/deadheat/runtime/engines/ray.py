"""The Ray engine: an actor for each worker, on this machine or on the nodes of a cluster. Needs the extra `ray`.

An order is a streaming call, so that results come one by one; the state is put into the object store once per
iteration. `ray.cancel` does not stop calls that run, and calls queued on an actor ran on after it: purging is our own
flag, set by another thread of the actor. One call at a time works, in turn: a new order waits for the task in hand.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from deadheat.errors import BadInput, DeadheatError, whole
from deadheat.runtime.emulation import Emulation
from deadheat.runtime.messages import (
    Event,
    Failed,
    Finished,
    Joined,
    Letter,
    Lost,
    Open,
    Order,
    Shut,
    Stopped,
    Ticket,
    Void,
)
from deadheat.runtime.work import Broken
from deadheat.runtime.worker_loop import News, WorkerLoop

THREADS = 16  # calls that may wait for their turn in an actor, besides the one that works
MOST_DEATHS = 5  # of one worker in a row before it is not replaced any more


class RayMissing(DeadheatError):
    """Ray is not installed."""

    def __init__(self) -> None:
        super().__init__("engine 'ray' needs Ray, which is not installed: pip install 'deadheat[ray]'")


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise RayMissing from None
    return ray


class RayWorker:
    """What runs in the actor. Calls of a threaded actor may overtake each other: each waits for its turn."""

    def __init__(self, emulation: Emulation | None) -> None:
        self._loop = WorkerLoop(emulation)
        self._turn = 0
        self._turns = threading.Condition()

    def ready(self) -> int:
        """The process of this worker."""
        return os.getpid()

    def open(self, turn: int, job: int, packed: bytes, units: float, lead: int) -> None:
        """Take a job's work; what cannot be read here says so when it is asked to work."""
        try:
            work = pickle.loads(packed)
        except Exception as error:  # a module that is not here, say
            work = Broken(error)
        list(self._in_turn(turn, Open(job, work, units, lead)))

    def shut(self, turn: int, job: int) -> None:
        """Forget it."""
        list(self._in_turn(turn, Shut(job)))

    def void(self, ticket: Ticket) -> None:
        """Put down what is older, at once."""
        self._loop.note(Void(Ticket(*ticket)))

    def order(self, turn: int, ticket: Ticket, tasks: tuple[int, ...], state: Any) -> Iterator[News]:
        """Work on tasks, a piece of news after the other; what is older is put down at once."""
        letter = Order(Ticket(*ticket), tasks, state)
        self._loop.note(letter)
        yield from self._in_turn(turn, letter)

    def _in_turn(self, turn: int, letter: Letter) -> Iterator[News]:
        with self._turns:
            self._turns.wait_for(lambda: self._turn == turn)
        try:
            yield from self._loop.follow(letter)
        finally:
            with self._turns:
                self._turn += 1
                self._turns.notify_all()


@dataclass(eq=False)
class _Post:
    """One worker as the master sees it."""

    actor: Any
    pid: int | None = None
    turns: Iterator[int] = field(default_factory=count)


class RayEngine:
    """Actors on Ray. workers: how many, or one emulation (or None for real speed) each.

    address: of a cluster that is there ("auto", "ray://host:10001", "host:6379"); None uses one that this process is
    connected to, or starts one on this machine. resources: of each actor, such as {"num_cpus": 1}. spread: one actor
    after the other on different nodes.
    """

    def __init__(
        self,
        workers: int | Sequence[Emulation | None],
        *,
        address: str | None = None,
        resources: Mapping[str, Any] | None = None,
        spread: bool = True,
        replace: bool = True,
    ) -> None:
        self._ray = ray = _ray()
        if isinstance(workers, int):
            workers = [None] * whole("workers", workers, "give the number of actors")
        if not workers:
            raise BadInput("workers", workers, "nobody to work", "give at least one worker")
        self._emulations = list(workers)
        self._mine = not ray.is_initialized()
        if self._mine:
            if address is None:
                ray.init(num_cpus=max(len(workers), 1), include_dashboard=False, log_to_driver=False)
            else:
                ray.init(address=address, log_to_driver=False)
        strategy = "SPREAD" if spread else "DEFAULT"
        options = {"num_cpus": 1} | dict(resources or {})
        self._make = ray.remote(RayWorker).options(
            max_concurrency=THREADS, max_restarts=0, scheduling_strategy=strategy, **options
        )
        self._replace = replace
        self._deaths = [0] * len(self._emulations)
        self._posts: dict[int, _Post] = {}
        self._streams: dict[Any, int] = {}  # a streaming call, and whose it is
        self._coming: dict[Any, int] = {}  # a new actor's first sign of life
        self._state: tuple[Ticket, Any] | None = None
        self._works: dict[int, Any] = {}
        self._closed = False
        for worker in range(len(self._emulations)):
            self._start(worker)

    def __len__(self) -> int:
        return len(self._emulations)

    def now(self) -> float:
        """Seconds of a clock that never goes back."""
        return time.perf_counter()

    def send(self, worker: int, letter: Letter) -> None:
        """Call the actor; an order begins a stream of news."""
        post = self._posts.get(worker)
        if post is None or post.pid is None:
            return
        match letter:
            case Order(ticket=ticket, tasks=tasks, state=state):
                if self._state is None or self._state[0] != ticket:
                    self._state = ticket, self._ray.put(state)
                stream = post.actor.order.options(num_returns="streaming").remote(
                    next(post.turns), ticket, tasks, self._state[1]
                )
                self._streams[stream] = worker
            case Open(job=job, work=work, units=units, lead=lead):
                if job not in self._works:
                    self._works[job] = self._ray.put(self._ray.cloudpickle.dumps(work))
                post.actor.open.remote(next(post.turns), job, self._works[job], units, lead)
            case Void(ticket=ticket):
                post.actor.void.remote(ticket)
            case Shut(job=job):
                self._works.pop(job, None)
                post.actor.shut.remote(next(post.turns), job)

    def wait(self, timeout: float | None) -> list[Event]:
        """News of any stream, and of actors that come and go."""
        waiting = [*self._streams, *self._coming]
        if not waiting:
            time.sleep(min(timeout, 0.05) if timeout is not None else 0.05)
            return []
        ready, _ = self._ray.wait(waiting, num_returns=1, timeout=timeout, fetch_local=False)
        return [event for one in ready for event in (self._joined(one) if one in self._coming else self._news(one))]

    def close(self) -> None:
        """End the actors, and Ray where it was started here."""
        if self._closed:
            return
        self._closed = True
        for post in self._posts.values():
            with contextlib.suppress(Exception):
                self._ray.kill(post.actor)
        self._posts.clear()
        self._streams.clear()
        self._coming.clear()
        self._works.clear()
        self._state = None
        if self._mine:
            self._ray.shutdown()

    def __enter__(self) -> RayEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def kill(self, worker: int) -> None:
        """End a worker's process as the system would, where it is on this machine: for tests and demonstrations."""
        post = self._posts.get(worker)
        if post is not None and post.pid is not None:
            with contextlib.suppress(ProcessLookupError):  # it is dead, and nobody has noticed yet
                os.kill(post.pid, 9)

    def dismiss(self, worker: int) -> None:
        """End an actor that has been silent for too long; it is replaced as one that died."""
        post = self._posts.get(worker)
        if post is not None:
            self._ray.kill(post.actor)

    @property
    def gone(self) -> bool:
        """Whether nobody is left, and nobody will come."""
        return not self._posts

    def _start(self, worker: int) -> None:
        post = self._posts[worker] = _Post(self._make.remote(self._emulations[worker]))
        self._coming[post.actor.ready.remote()] = worker

    def _joined(self, sign: Any) -> list[Event]:
        worker = self._coming.pop(sign)
        try:
            self._posts[worker].pid = self._ray.get(sign)
        except self._ray.exceptions.RayError:
            return self._lost(worker)
        return [Joined(worker, time.perf_counter())]

    def _news(self, stream: Any) -> list[Event]:
        """One piece of news of a stream; the end of a stream is none."""
        worker = self._streams.get(stream)
        if worker is None:
            return []  # its worker was lost with another stream
        try:
            kind, ticket, rest = self._ray.get(next(stream))
        except StopIteration:
            self._streams.pop(stream, None)
            return []
        except self._ray.exceptions.RayError:
            return self._lost(worker)
        now, ticket = time.perf_counter(), Ticket(*ticket)
        match kind:
            case "finished":
                self._deaths[worker] = 0
                return [Finished(worker, ticket, rest[0], now, rest[1], rest[2])]
            case "stopped":
                return [Stopped(worker, ticket, now, *rest)]
            case _:
                return [Failed(worker, ticket, rest[0], now, rest[1])]

    def _lost(self, worker: int) -> list[Event]:
        self._streams = {stream: w for stream, w in self._streams.items() if w != worker}
        self._posts.pop(worker, None)
        self._deaths[worker] += 1
        if self._replace and self._deaths[worker] <= MOST_DEATHS:
            self._start(worker)
        return [Lost(worker, time.perf_counter())]
