"""The local engine: a process for each worker on this machine, pipes for control, shared memory for what is large.

A worker computes with one thread of linear algebra, hears newer tickets while it computes, and ends with the master's
process. A worker that dies is replaced, and joins again. Workers do not run the user's script again, as processes of
multiprocessing do: it needs no `if __name__ == "__main__"`.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import selectors
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Any

from deadheat.runtime.emulation import Emulation
from deadheat.runtime.engines.crew import Crew
from deadheat.runtime.engines.lines import Line
from deadheat.runtime.engines.parcels import Parcel, Reader, Shelf, pack, unpack
from deadheat.runtime.engines.quotas import made, shares
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
from deadheat.runtime.worker_loop import WorkerLoop, told

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_starting = threading.Lock()  # two pools may start workers at the same moment
GRACE = 2.0  # seconds that workers have to end by themselves


@dataclass(eq=False)
class _Post:
    """One worker as the master sees it."""

    process: BaseProcess
    line: Line
    reader: Reader = field(default_factory=Reader)
    ready: bool = False


class LocalEngine:
    """Processes on this machine. workers: how many, or one emulation (or None for real speed) each.

    quotas: for each worker the share of a core that it gets, or None (as root, on Linux).
    """

    def __init__(
        self,
        workers: int | Sequence[Emulation | None],
        *,
        replace: bool = True,
        quotas: Sequence[float | None] | None = None,
    ) -> None:
        self._crew: Crew[_Post] = Crew(workers, replace)
        limits = shares(quotas, len(self._crew.emulations))
        self._quotas = made({worker: share for worker, share in enumerate(limits) if share is not None})
        self._context = get_context("spawn")
        self._selector = selectors.DefaultSelector()
        self._states = [Shelf(), Shelf()]  # in turns: a purged task may still look at the last one
        self._opens: dict[int, tuple[Shelf, Parcel]] = {}  # of each job, its work, packed once
        self._pieces: dict[tuple[int, int], Parcel] = {}  # of a job's data, each packed once
        self._packed: tuple[Ticket, int, Parcel] | None = None
        self._closed = False
        for worker in range(len(self._crew.emulations)):
            self._start(worker)

    def now(self) -> float:
        """Seconds of a clock that never goes back."""
        return time.perf_counter()

    def send(self, worker: int, letter: Letter) -> None:
        """Through the pipe, if it takes it at once; else as soon as it does."""
        post = self._crew.posts.get(worker)
        if post is None or not post.ready:
            return
        post.line.send(self._written(letter))
        if post.line.waiting:
            self._selector.modify(post.line, selectors.EVENT_READ | selectors.EVENT_WRITE, (worker, post, True))

    def wait(self, timeout: float | None) -> list[Event]:
        """News of any worker."""
        events: list[Event] = []
        for key, ready in self._selector.select(timeout):
            worker, post, is_line = key.data
            if worker not in self._crew.posts or self._crew.posts[worker] is not post:
                continue  # it was buried a moment ago
            if ready & selectors.EVENT_WRITE:
                post.line.flush()
                if not post.line.waiting:
                    self._selector.modify(post.line, selectors.EVENT_READ, key.data)
            if ready & selectors.EVENT_READ:
                events += self._read(worker, post) if is_line else self._buried(worker, post)
        return events

    def close(self) -> None:
        """Tell all to end, wait a little, end them."""
        if self._closed:
            return
        self._closed = True
        for post in self._crew.posts.values():
            with contextlib.suppress(OSError):
                post.line.close()  # they hear that, and end
        until = time.monotonic() + GRACE
        for post in self._crew.posts.values():
            post.process.join(max(until - time.monotonic(), 0.05))
            if post.process.is_alive():
                post.process.kill()
                post.process.join()
            post.reader.close(unlink=True)
        self._crew.posts.clear()
        self._selector.close()
        for quota in self._quotas.values():
            quota.remove()
        for shelf in (*self._states, *(shelf for shelf, _ in self._opens.values())):
            shelf.close()

    def __enter__(self) -> LocalEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def kill(self, worker: int) -> None:
        """End a worker as the system would: for tests and demonstrations."""
        post = self._crew.posts.get(worker)
        if post is not None and post.process.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(post.process.pid, signal.SIGKILL)

    def dismiss(self, worker: int) -> None:
        """End a worker that has been silent for too long; it is replaced."""
        self._crew.excuse(worker)
        self.kill(worker)

    def add(self, emulation: Emulation | None = None) -> int:
        """One more worker, which joins when it is ready; its number."""
        worker = self._crew.add(emulation)
        self._start(worker)
        return worker

    def leave(self, worker: int) -> None:
        """Let a worker go; what it has is given to others."""
        self._crew.leave(worker)
        self.kill(worker)

    def __len__(self) -> int:
        return len(self._crew.emulations)

    @property
    def gone(self) -> bool:
        """Whether nobody is left, and nobody will come."""
        return not self._crew.posts

    def pid(self, worker: int) -> int | None:
        """The worker's process."""
        post = self._crew.posts.get(worker)
        return None if post is None else post.process.pid

    # Letters out

    def _written(self, letter: Letter) -> bytes:
        match letter:
            case Order(ticket=ticket, tasks=tasks, state=state):
                if self._packed is None or self._packed[0] != ticket:
                    turn = 0 if self._packed is None else 1 - self._packed[1]
                    self._states[turn].clear()
                    self._packed = ticket, turn, pack(state, self._states[turn])
                return pickle.dumps(("order", tuple(ticket), tasks, self._packed[2]), 5)
            case Open(job=job, work=work, units=units, shared_chunks=shared_chunks):
                if job not in self._opens:
                    shelf = Shelf()
                    self._opens[job] = shelf, pack(work, shelf)
                return pickle.dumps(("open", job, units, shared_chunks, self._opens[job][1]), 5)
            case Supply(job=job, pieces=pieces):
                shelf, _ = self._opens[job]
                for number, piece in pieces.items():
                    if (job, number) not in self._pieces:
                        self._pieces[job, number] = pack(piece, shelf)
                return pickle.dumps(("supply", job, [(n, self._pieces[job, n]) for n in pieces]), 5)
            case Void(ticket=ticket):
                return pickle.dumps(("void", tuple(ticket)), 5)
            case Shut(job=job):
                if job in self._opens:
                    self._opens.pop(job)[0].close()  # who has it open keeps it until it lets go
                    self._pieces = {key: parcel for key, parcel in self._pieces.items() if key[0] != job}
                return pickle.dumps(("shut", job), 5)

    # News in

    def _read(self, worker: int, post: _Post) -> list[Event]:
        frames, there = post.line.read()
        if not there:
            self._selector.unregister(post.line)
        return [self._event(worker, post, frame) for frame in frames]

    def _event(self, worker: int, post: _Post, frame: bytes) -> Event:
        kind, ticket, *rest = pickle.loads(frame)
        now = time.perf_counter()
        match kind:
            case "finished":
                task, seconds, parcel = rest
                self._crew.proved(worker)
                try:
                    value = unpack(parcel, post.reader)
                except FileNotFoundError:  # late, of an iteration that is over: its shelf is gone
                    value = None
                return Finished(worker, Ticket(*ticket), task, now, seconds, value)
            case "stopped":
                return Stopped(worker, Ticket(*ticket), now, *rest)
            case "failed":
                return Failed(worker, Ticket(*ticket), rest[0], now, rest[1])
            case _:
                post.ready = True
                return Joined(worker, now)

    # Births and deaths

    def _start(self, worker: int) -> None:
        here, there = self._context.Pipe()
        process = self._context.Process(
            target=_serve, args=(there, self._crew.emulations[worker]), name=f"deadheat-{worker}", daemon=True
        )
        with _for_a_worker():
            process.start()
        there.close()
        if worker in self._quotas and process.pid is not None:
            self._quotas[worker].take(process.pid)
        post = self._crew.posts[worker] = _Post(process, Line(here))
        self._selector.register(post.line, selectors.EVENT_READ, (worker, post, True))
        self._selector.register(process.sentinel, selectors.EVENT_READ, (worker, post, False))

    def _buried(self, worker: int, post: _Post) -> list[Event]:
        """A process has ended: read what it said last, and replace it."""
        events = self._read(worker, post) if post.line.fileno() in self._selector.get_map() else []
        self._selector.unregister(post.process.sentinel)
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(post.line)
        post.line.close()
        post.process.join()
        post.reader.close(unlink=True)
        if self._crew.bury(worker):
            self._start(worker)
        return [*events, Lost(worker, time.perf_counter())]


@contextlib.contextmanager
def _for_a_worker() -> Iterator[None]:
    """Children that start meanwhile use one thread of linear algebra, and do not run the user's script."""
    with _starting:
        before = {name: os.environ.get(name) for name in ONE_THREAD}
        script = sys.modules["__main__"]
        os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = script
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
    with contextlib.suppress(OSError):  # it was closed before we were ready
        pipe.send_bytes(pickle.dumps(("ready", None), 5))
    last: Ticket | None = None
    while True:
        for kind, ticket, rest in loop.follow(letters.get()):
            if ticket != last:
                last = ticket
                shelf.clear()  # the master is done with the results of the iteration before
            if kind == "finished":
                task, seconds, value = rest
                try:
                    rest = (task, seconds, pack(value, shelf))
                except Exception as error:  # a generator, a lock: it cannot travel
                    kind, rest = "failed", (task, f"the result cannot be sent: {told(error)}")
            with contextlib.suppress(OSError):
                pipe.send_bytes(pickle.dumps((kind, tuple(ticket), *rest), 5))


def _listen(pipe: Connection, loop: WorkerLoop, letters: queue.SimpleQueue[Letter], shelf: Shelf) -> None:
    """Note every letter as it comes, and hand it on."""
    states, readers = Reader(), dict[int, Reader]()  # of orders, and of the data of each job
    try:
        while True:
            kind, *rest = pickle.loads(pipe.recv_bytes())
            letter: Letter
            match kind:
                case "order":
                    ticket, tasks, parcel = rest
                    letter = Order(Ticket(*ticket), tasks, _unpacked(parcel, states))
                case "open":
                    job, units, shared_chunks, parcel = rest
                    work = _unpacked(parcel, readers.setdefault(job, Reader()))
                    letter = Open(job, Broken(work.error) if isinstance(work, Unread) else work, units, shared_chunks)
                case "supply":
                    job, parcels = rest
                    letter = Supply(job, {number: _unpacked(parcel, readers[job]) for number, parcel in parcels})
                case "void":
                    letter = Void(Ticket(*rest[0]))
                case _:
                    letter = Shut(*rest)
                    readers.pop(rest[0], Reader()).close()  # memory goes with the last array that looks into it
            loop.note(letter)
            letters.put(letter)
    except (EOFError, OSError):
        shelf.unlink()
        os._exit(0)  # the master is gone, or wants us to end: also in the middle of a task


def _unpacked(parcel: Parcel, reader: Reader) -> Any:
    """What was sent; what cannot be read here says so when it is needed."""
    try:
        return unpack(parcel, reader)
    except Exception as error:  # a module that is not here; or memory that holds another state by now
        return Unread(error)
