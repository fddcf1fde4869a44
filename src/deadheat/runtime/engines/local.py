"""The local engine: a process for each worker on this machine, pipes for control, shared memory for what is large.

A worker computes with one thread of linear algebra, hears newer tickets while it computes, and ends with the master's
process. A worker that dies is replaced, and joins again.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import select
import selectors
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from deadheat.errors import BadInput, whole
from deadheat.runtime.emulation import Emulation
from deadheat.runtime.engines.parcels import Reader, Shelf, pack, unpack
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
from deadheat.runtime.worker_loop import WorkerLoop

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
MOST_DEATHS = 5  # of one worker in a row before it is not replaced any more
GRACE = 2.0  # seconds that workers have to end by themselves


@dataclass(eq=False)
class _Post:
    """One worker as the master sees it."""

    process: BaseProcess
    pipe: Connection
    reader: Reader = field(default_factory=Reader)
    waiting: deque[bytes] = field(default_factory=deque)
    ready: bool = False


class LocalEngine:
    """Processes on this machine. workers: how many, or one emulation (or None for real speed) each."""

    def __init__(self, workers: int | Sequence[Emulation | None], *, replace: bool = True) -> None:
        if isinstance(workers, int):
            workers = [None] * whole("workers", workers, "give the number of worker processes")
        if not workers:
            raise BadInput("workers", workers, "nobody to work", "give at least one worker")
        self._emulations = list(workers)
        self._replace = replace
        self._deaths = [0] * len(self._emulations)
        self._context = get_context("spawn")
        self._selector = selectors.DefaultSelector()
        self._posts: dict[int, _Post] = {}
        self._states = [Shelf(), Shelf()]  # in turns: a purged task may still look at the last one
        self._opens: dict[int, tuple[Shelf, tuple[bytes, Any]]] = {}  # of each job, its work, packed once
        self._packed: tuple[Ticket, int, tuple[bytes, Any]] | None = None
        self._closed = False
        for worker in range(len(self._emulations)):
            self._start(worker)

    def __len__(self) -> int:
        return len(self._emulations)

    def now(self) -> float:
        """Seconds of a clock that never goes back."""
        return time.perf_counter()

    def send(self, worker: int, letter: Letter) -> None:
        """Through the pipe, if it takes it at once; else as soon as it does."""
        post = self._posts.get(worker)
        if post is None or not post.ready:
            return
        post.waiting.append(self._written(letter))
        self._flush(worker, post)

    def wait(self, timeout: float | None) -> list[Event]:
        """News of any worker."""
        if any(post.waiting for post in self._posts.values()):
            timeout = 0.001 if timeout is None else min(timeout, 0.001)
        events: list[Event] = []
        for key, _ in self._selector.select(timeout):
            number, whose, is_pipe = key.data
            if whose is not self._posts.get(number):
                continue  # it was buried a moment ago
            events += self._read(number, key.data[1]) if is_pipe else self._buried(number, key.data[1])
        for worker, post in list(self._posts.items()):
            if post.waiting:
                self._flush(worker, post)
        return events

    def close(self) -> None:
        """Tell all to end, wait a little, end them."""
        if self._closed:
            return
        self._closed = True
        for post in self._posts.values():
            with contextlib.suppress(OSError):
                post.pipe.close()  # they hear that, and end
        until = time.monotonic() + GRACE
        for post in self._posts.values():
            post.process.join(max(until - time.monotonic(), 0.05))
            if post.process.is_alive():
                post.process.kill()
                post.process.join()
            post.reader.close(unlink=True)
        self._posts.clear()
        self._selector.close()
        for shelf in (*self._states, *(shelf for shelf, _ in self._opens.values())):
            shelf.close()

    def __enter__(self) -> LocalEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def kill(self, worker: int) -> None:
        """End a worker as the system would: for tests and demonstrations."""
        post = self._posts.get(worker)
        if post is not None and post.process.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(post.process.pid, signal.SIGKILL)

    def dismiss(self, worker: int) -> None:
        """End a worker that has been silent for too long; it is replaced as one that died."""
        self.kill(worker)

    @property
    def gone(self) -> bool:
        """Whether nobody is left, and nobody will come."""
        return not self._posts

    def pid(self, worker: int) -> int | None:
        """The worker's process."""
        post = self._posts.get(worker)
        return None if post is None else post.process.pid

    # Letters out

    def _written(self, letter: Letter) -> bytes:
        match letter:
            case Order(ticket=ticket, tasks=tasks, state=state):
                if self._packed is None or self._packed[0] != ticket:
                    turn = 0 if self._packed is None else 1 - self._packed[1]
                    self._states[turn].clear()
                    self._packed = ticket, turn, pack(state, self._states[turn])
                return pickle.dumps(("order", ticket, tasks, *self._packed[2]), 5)
            case Open(job=job, work=work, units=units, lead=lead):
                if job not in self._opens:
                    shelf = Shelf()
                    self._opens[job] = shelf, pack(work, shelf)
                return pickle.dumps(("open", job, units, lead, *self._opens[job][1]), 5)
            case Void(ticket=ticket):
                return pickle.dumps(("void", ticket), 5)
            case Shut(job=job):
                if job in self._opens:
                    self._opens.pop(job)[0].close()  # who has it open keeps it until it lets go
                return pickle.dumps(("shut", job), 5)

    def _flush(self, worker: int, post: _Post) -> None:
        """Send what the pipe takes without blocking: small letters to one that is writable."""
        while post.waiting:
            if not select.select((), (post.pipe,), (), 0)[1]:
                return
            try:
                post.pipe.send_bytes(post.waiting[0])
            except OSError:
                post.waiting.clear()  # it is gone; the news of it is on its way
                return
            post.waiting.popleft()

    # News in

    def _read(self, worker: int, post: _Post) -> list[Event]:
        events: list[Event] = []
        try:
            while True:
                events.append(self._event(worker, post, post.pipe.recv_bytes()))
                if not post.pipe.poll():
                    return events
        except (EOFError, OSError):
            self._selector.unregister(post.pipe)
            return events

    def _event(self, worker: int, post: _Post, letter: bytes) -> Event:
        kind, ticket, *rest = pickle.loads(letter)
        now = time.perf_counter()
        match kind:
            case "finished":
                task, seconds, head, place = rest
                self._deaths[worker] = 0
                return Finished(worker, ticket, task, now, seconds, unpack(head, place, post.reader))
            case "stopped":
                seconds, complete, late = rest
                return Stopped(worker, ticket, now, seconds, complete, late)
            case "failed":
                task, error = rest
                return Failed(worker, ticket, task, now, error)
            case _:
                post.ready = True
                return Joined(worker, now)

    # Births and deaths

    def _start(self, worker: int) -> None:
        here, there = self._context.Pipe()
        process = self._context.Process(
            target=_serve, args=(there, self._emulations[worker]), name=f"deadheat-{worker}", daemon=True
        )
        with _single_threaded():
            process.start()
        there.close()
        post = self._posts[worker] = _Post(process, here)
        self._selector.register(here, selectors.EVENT_READ, (worker, post, True))
        self._selector.register(process.sentinel, selectors.EVENT_READ, (worker, post, False))

    def _buried(self, worker: int, post: _Post) -> list[Event]:
        """A process has ended: read what it said last, and replace it."""
        events = self._read(worker, post) if post.pipe.fileno() in self._selector.get_map() else []
        self._selector.unregister(post.process.sentinel)
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(post.pipe)
        post.pipe.close()
        post.process.join()
        post.reader.close(unlink=True)
        del self._posts[worker]
        self._deaths[worker] += 1
        if self._replace and self._deaths[worker] <= MOST_DEATHS:
            self._start(worker)
        return [*events, Lost(worker, time.perf_counter())]


@contextlib.contextmanager
def _single_threaded() -> Iterator[None]:
    """Children that start meanwhile use one thread of linear algebra."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _serve(pipe: Connection, emulation: Emulation | None) -> None:
    """The worker process: one thread hears, this one works."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the master ends us
    loop, shelf = WorkerLoop(emulation), Shelf()
    letters: queue.SimpleQueue[Letter] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(pipe, loop, letters, shelf), daemon=True).start()
    pipe.send_bytes(pickle.dumps(("ready", None), 5))
    last: Ticket | None = None
    while True:
        for kind, ticket, rest in loop.follow(letters.get()):
            if ticket != last:
                last = ticket
                shelf.clear()  # the master is done with the results of the iteration before
            if kind == "finished":
                task, seconds, value = rest
                rest = (task, seconds, *pack(value, shelf))
            with contextlib.suppress(OSError):
                pipe.send_bytes(pickle.dumps((kind, ticket, *rest), 5))


def _listen(pipe: Connection, loop: WorkerLoop, letters: queue.SimpleQueue[Letter], shelf: Shelf) -> None:
    """Note every letter as it comes, and hand it on."""
    reader = Reader()
    try:
        while True:
            kind, *rest = pickle.loads(pipe.recv_bytes())
            letter: Letter
            match kind:
                case "order":
                    ticket, tasks, head, place = rest
                    letter = Order(ticket, tasks, unpack(head, place, reader))
                case "open":
                    job, units, lead, head, place = rest
                    try:
                        work = unpack(head, place, reader)
                    except Exception as error:  # a module that is not here, say
                        work = Broken(error)
                    letter = Open(job, work, units, lead)
                case "void":
                    letter = Void(*rest)
                case _:
                    letter = Shut(*rest)
            loop.note(letter)
            letters.put(letter)
    except (EOFError, OSError):
        shelf.unlink()
        os._exit(0)  # the master is gone, or wants us to end: also in the middle of a task
