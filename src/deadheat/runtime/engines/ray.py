"""The Ray engine: an actor for each worker, on this machine or on the nodes of a cluster. Needs the extra `ray`.

Letters are calls of the actor; news come back by a call that is always under way and returns as soon as there are any,
with all that there are: half the cost of a streaming generator, which pays for each result (benchmarks/bench_engines).
The state is put into the object store once per iteration. `ray.cancel` does not stop calls that run, and calls queued
on an actor ran on after it: purging is our own flag, set by another thread of the actor.
"""

from __future__ import annotations

import contextlib
import heapq
import os
import pickle
import queue
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np

from deadheat.errors import DeadheatError
from deadheat.runtime.emulation import Emulation
from deadheat.runtime.engines.crew import Crew
from deadheat.runtime.engines.parcels import by_value, is_plain
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
    Supply,
    Ticket,
    Void,
)
from deadheat.runtime.work import Broken, Unread
from deadheat.runtime.worker_loop import News, WorkerLoop, told

INLINE = 2**14  # bytes up to which a state travels with the call: the object store costs a few milliseconds
ROOM = 8  # more workers that may be added to a Ray that is started here
CALLS = 8  # of one actor at a time: one waits for news, the others bring letters


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
    """What runs in the actor: one thread works, the calls bring letters and take news."""

    def __init__(self, emulation: Emulation | None) -> None:
        self._loop = WorkerLoop(emulation)
        self._letters: queue.SimpleQueue[Letter] = queue.SimpleQueue()
        self._news: queue.SimpleQueue[News] = queue.SimpleQueue()
        self._early: list[tuple[int, Letter]] = []  # calls of a threaded actor may overtake each other
        self._next = 0
        self._lock = threading.Lock()
        threading.Thread(target=self._work, daemon=True).start()

    def ready(self) -> int:
        """The process of this worker."""
        return os.getpid()

    def open(self, turn: int, job: int, packed: bytes, units: float, shared_chunks: int) -> None:
        """Take a job's work; what cannot be read here says so when it is asked to work."""
        work = _read(Pickled(packed))
        self._take(turn, Open(job, Broken(work.error) if isinstance(work, Unread) else work, units, shared_chunks))

    def supply(self, turn: int, job: int, numbers: tuple[int, ...], *pieces: Any) -> None:
        """Take pieces of a job's data."""
        self._take(turn, Supply(job, dict(zip(numbers, map(_read, pieces), strict=True))))

    def order(self, turn: int, ticket: Ticket, tasks: tuple[int, ...], state: Any) -> None:
        """Work on tasks; what is older is put down at once."""
        self._take(turn, Order(Ticket(*ticket), tasks, _read(state)))

    def tell(self, turn: int, letter: Letter) -> None:
        """Any other letter."""
        self._take(turn, letter)

    def news(self) -> list[News]:
        """All news there are, as soon as there are any."""
        found = [self._news.get()]
        while not self._news.empty():
            found.append(self._news.get())
        return found

    def _take(self, turn: int, letter: Letter) -> None:
        """Note a letter at once, and follow it in its turn."""
        self._loop.note(letter)
        with self._lock:
            heapq.heappush(self._early, (turn, letter))
            while self._early and self._early[0][0] == self._next:
                self._letters.put(heapq.heappop(self._early)[1])
                self._next += 1

    def _work(self) -> None:
        while True:
            for kind, ticket, rest in self._loop.follow(self._letters.get()):
                if kind == "finished" and not is_plain(rest[2]):
                    try:
                        rest = (rest[0], rest[1], Pickled(by_value(rest[2])))
                    except Exception as error:  # a generator, a lock: it cannot travel
                        kind, rest = "failed", (rest[0], f"the result cannot be sent: {told(error)}")
                self._news.put((kind, ticket, rest))


@dataclass(frozen=True)
class Pickled:
    """What is not plain data: our pickle, since Ray's own would name modules that are not there."""

    data: bytes


def _read(value: Any) -> Any:
    """What was sent; what cannot be read here says so when it is needed."""
    try:
        return pickle.loads(value.data) if isinstance(value, Pickled) else value
    except Exception as error:
        return Unread(error)


@dataclass(eq=False)
class _Post:
    """One worker as the master sees it: its actor and the call that waits for its first sign of life, then for news."""

    actor: Any
    call: Any
    pid: int | None = None
    turns: Iterator[int] = field(default_factory=count)


class RayEngine:
    """Actors on Ray. workers: how many, or one emulation (or None for real speed) each; None for one on every node.

    address: of a cluster that is there ("auto", "ray://host:10001", "host:6379"); None uses one that this process is
    connected to, or starts one on this machine. resources: of each actor, such as {"num_cpus": 1}. spread: one actor
    after the other on different nodes.
    """

    def __init__(
        self,
        workers: int | Sequence[Emulation | None] | None,
        *,
        address: str | None = None,
        resources: Mapping[str, Any] | None = None,
        spread: bool = True,
        replace: bool = True,
    ) -> None:
        self._ray = ray = _ray()
        wanted = None if workers is None else Crew[_Post](workers, replace)  # checks them before Ray is started
        self._mine = not ray.is_initialized()
        if self._mine:
            if address is None:
                ray.init(
                    num_cpus=ROOM + len(wanted.emulations) if wanted else None,
                    include_dashboard=False,
                    log_to_driver=False,
                )
            else:
                ray.init(address=address, log_to_driver=False)
        self._nodes = [node["NodeID"] for node in ray.nodes() if node["Alive"]] if wanted is None else []
        self._crew = wanted or Crew[_Post](len(self._nodes), replace)
        self._options = {"max_concurrency": CALLS, "max_restarts": 0, "num_cpus": 1} | dict(resources or {})
        self._options.setdefault("scheduling_strategy", "SPREAD" if spread else "DEFAULT")
        self._state: tuple[Ticket, Any] | None = None
        self._works: dict[int, Any] = {}
        self._pieces: dict[tuple[int, int], Any] = {}
        self._closed = False
        for worker in range(len(self._crew.emulations)):
            self._start(worker)

    def now(self) -> float:
        """Seconds of a clock that never goes back."""
        return time.perf_counter()

    def send(self, worker: int, letter: Letter) -> None:
        """Call the actor."""
        post = self._crew.posts.get(worker)
        if post is None or post.pid is None:
            return
        turn = next(post.turns)
        match letter:
            case Order(ticket=ticket, tasks=tasks, state=state):
                if self._state is None or self._state[0] != ticket:
                    self._state = ticket, self._packed(state)
                post.actor.order.remote(turn, ticket, tasks, self._state[1])
            case Open(job=job, work=work, units=units, shared_chunks=shared_chunks):
                if job not in self._works:
                    self._works[job] = self._ray.put(by_value(work))
                post.actor.open.remote(turn, job, self._works[job], units, shared_chunks)
            case Supply(job=job, pieces=pieces):
                for number, piece in pieces.items():
                    if (job, number) not in self._pieces:
                        self._pieces[job, number] = self._ray.put(
                            piece if is_plain(piece) else Pickled(by_value(piece))
                        )
                post.actor.supply.remote(turn, job, tuple(pieces), *(self._pieces[job, n] for n in pieces))
            case Void():
                post.actor.tell.remote(turn, letter)
            case Shut(job=job):
                self._works.pop(job, None)
                self._pieces = {key: piece for key, piece in self._pieces.items() if key[0] != job}
                post.actor.tell.remote(turn, letter)

    def _packed(self, state: Any) -> Any:
        """A state ready to be sent to everybody: with the call, or once into the object store."""
        if not is_plain(state):
            return self._ray.put(Pickled(by_value(state)))
        return state if isinstance(state, np.ndarray) and state.nbytes <= INLINE else self._ray.put(state)

    def wait(self, timeout: float | None) -> list[Event]:
        """News of any worker, and of actors that come and go."""
        calls = {post.call: worker for worker, post in self._crew.posts.items()}
        if not calls:
            time.sleep(min(timeout, 0.05) if timeout is not None else 0.05)
            return []
        ready, _ = self._ray.wait(list(calls), num_returns=1, timeout=timeout, fetch_local=False)
        return [event for call in ready for event in self._heard(calls[call])]

    def close(self) -> None:
        """End the actors, and Ray where it was started here."""
        if self._closed:
            return
        self._closed = True
        for post in self._crew.posts.values():
            with contextlib.suppress(Exception):
                self._ray.kill(post.actor)
        self._crew.posts.clear()
        self._works.clear()
        self._pieces.clear()
        self._state = None
        if self._mine:
            self._ray.shutdown()

    def __enter__(self) -> RayEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def kill(self, worker: int) -> None:
        """End a worker's process as the system would, where it is on this machine: for tests and demonstrations."""
        post = self._crew.posts.get(worker)
        if post is not None and post.pid is not None:
            with contextlib.suppress(ProcessLookupError):  # it is dead, and nobody has noticed yet
                os.kill(post.pid, 9)

    def dismiss(self, worker: int) -> None:
        """End an actor that has been silent for too long; it is replaced."""
        self._crew.excuse(worker)
        post = self._crew.posts.get(worker)
        if post is not None:
            self._ray.kill(post.actor)

    def add(self, emulation: Emulation | None = None) -> int:
        """One more worker, which joins as soon as the cluster has room for it; its number."""
        worker = self._crew.add(emulation)
        self._start(worker)
        return worker

    def leave(self, worker: int) -> None:
        """Let a worker go; what it has is given to others."""
        self._crew.leave(worker)
        self.dismiss(worker)

    def pid(self, worker: int) -> int | None:
        """The worker's process."""
        post = self._crew.posts.get(worker)
        return None if post is None else post.pid

    def __len__(self) -> int:
        return len(self._crew.emulations)

    @property
    def gone(self) -> bool:
        """Whether nobody is left, and nobody will come."""
        return not self._crew.posts

    def _start(self, worker: int) -> None:
        options = dict(self._options)
        if worker < len(self._nodes):  # there if it can be, elsewhere if its node is gone
            place = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
            options["scheduling_strategy"] = place(self._nodes[worker], soft=True)
        actor = self._ray.remote(RayWorker).options(**options).remote(self._crew.emulations[worker])
        self._crew.posts[worker] = _Post(actor, actor.ready.remote())

    def _heard(self, worker: int) -> list[Event]:
        """What a worker's call has brought."""
        post = self._crew.posts[worker]
        try:
            answer = self._ray.get(post.call)
        except self._ray.exceptions.RayError:
            if self._crew.bury(worker):
                self._start(worker)
            return [Lost(worker, time.perf_counter())]
        post.call, now = post.actor.news.remote(), time.perf_counter()
        if post.pid is None:
            post.pid = answer
            return [Joined(worker, now)]
        return [self._event(worker, news, now) for news in answer]

    def _event(self, worker: int, news: News, now: float) -> Event:
        kind, ticket, rest = news[0], Ticket(*news[1]), news[2]
        match kind:
            case "finished":
                self._crew.proved(worker)
                return Finished(worker, ticket, rest[0], now, rest[1], _read(rest[2]))
            case "stopped":
                return Stopped(worker, ticket, now, *rest)
            case _:
                return Failed(worker, ticket, rest[0], now, rest[1])
