"""The local engine: a process for each worker on this machine, pipes for control, shared memory for what is large.

A worker computes with one thread of linear algebra, hears newer tickets while it computes, and ends with the master's
process. A worker that dies is replaced, and joins again. Workers do not run the user's script again, as processes of
multiprocessing do: it needs no `if __name__ == "__main__"`.
"""

import contextlib
import os
import pickle
import queue
import selectors
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Any

from deadheat.runtime.emulation import Emulation
from deadheat.runtime.engines.codec import by_value, event_bytes, event_from, readable
from deadheat.runtime.engines.pipe import MasterPipe
from deadheat.runtime.engines.quota import quota_groups, shares
from deadheat.runtime.engines.roster import RosterEngine
from deadheat.runtime.engines.shared_memory import Arena, ArenaReader, Packed, pack, unpack
from deadheat.runtime.worker_loop import WorkerLoop
from deadheat.scheduling import Event, Message, Ticket, describe_error, messages

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_starting = threading.Lock()  # two pools may start workers at the same moment
READY = b"ready"  # what a worker sends first
GRACE = 2.0  # seconds that workers have to end by themselves


@dataclass(eq=False)
class _Handle:
    """One worker as the master sees it."""

    process: BaseProcess
    pipe: MasterPipe
    reader: ArenaReader = field(default_factory=ArenaReader)
    ready: bool = False


class LocalEngine(RosterEngine[_Handle]):
    """Processes on this machine. workers: how many, or one emulation (or None for real speed) each.

    quotas: for each worker the share of a core that it gets, or None (as root, on Linux).
    """

    def __init__(
        self,
        workers: int | Sequence[Emulation | None],
        *,
        replace_dead: bool = True,
        quotas: Sequence[float | None] | None = None,
    ) -> None:
        super().__init__(workers, replace_dead)
        limits = shares(quotas, len(self.emulations))
        self._quotas = quota_groups({worker: share for worker, share in enumerate(limits) if share is not None})
        self._context = get_context("spawn")
        self._selector = selectors.DefaultSelector()
        self._states = [Arena(), Arena()]  # in turns: a purged task may still look at the last one
        self._state: tuple[Ticket, int, Packed] | None = None
        self._arenas: dict[int, Arena] = {}  # of each job, for its program and the chunks that were sent for it
        self._programs: dict[int, Packed] = {}
        self._chunks: dict[int, tuple[int, Packed]] = {}  # the job for which a chunk was sent, and the chunk
        for worker in range(len(self.emulations)):
            self._start(worker)

    def send(self, worker: int, message: Message) -> None:
        """Through the pipe, if it takes it at once; else as soon as it does."""
        handle = self.handles.get(worker)
        packed = self._packed(message)
        if handle is None or not handle.ready:
            return
        handle.pipe.send(pickle.dumps(packed, 5))
        if handle.pipe.waiting:
            self._selector.modify(handle.pipe, selectors.EVENT_READ | selectors.EVENT_WRITE, (worker, handle, True))

    def wait(self, timeout: float | None) -> list[Event]:
        events: list[Event] = []
        for key, ready in self._selector.select(timeout):
            worker, handle, is_pipe = key.data  # as they were registered
            if worker not in self.handles or self.handles[worker] is not handle:
                continue  # it was replaced a moment ago
            if ready & selectors.EVENT_WRITE:
                handle.pipe.flush()
                if not handle.pipe.waiting:
                    self._selector.modify(handle.pipe, selectors.EVENT_READ, key.data)
            if ready & selectors.EVENT_READ:
                events += self._read(worker, handle) if is_pipe else self._ended(worker, handle)
        return events

    def close(self) -> None:
        """Tell all to end, wait a little, end them."""
        if self._closed:
            return
        self._closed = True
        for handle in self.handles.values():
            with contextlib.suppress(OSError):
                handle.pipe.close()  # they notice that, and end
        until = time.monotonic() + GRACE
        for handle in self.handles.values():
            handle.process.join(max(until - time.monotonic(), 0.05))
            if handle.process.is_alive():
                handle.process.kill()
                handle.process.join()
            handle.reader.close(unlink=True)
        self.handles.clear()
        self._selector.close()
        for quota in self._quotas.values():
            quota.remove()
        for arena in (*self._states, *self._arenas.values()):
            arena.close()

    def kill(self, worker: int) -> None:
        """End a worker as the system would: for tests and demonstrations."""
        pid = self.pid(worker)
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    _end = kill

    def pid(self, worker: int) -> int | None:
        handle = self.handles.get(worker)
        return None if handle is None else handle.process.pid

    # Messages out

    def _packed(self, message: Message) -> Message:
        """The message with its contents packed, each once for all workers."""
        match message:
            case messages.Compute(ticket=ticket, state=state):
                if self._state is None or self._state[0] != ticket:
                    turn = 0 if self._state is None else 1 - self._state[1]
                    self._states[turn].clear()
                    self._state = ticket, turn, pack(state, self._states[turn])
                return replace(message, state=self._state[2])
            case messages.Install(job=job, program=program):
                if job not in self._programs:
                    self._programs[job] = pack(program, self._arenas.setdefault(job, Arena()))
                return replace(message, program=self._programs[job])
            case messages.Store(job=job, chunks=chunks):
                for number, chunk in chunks.items():
                    if number not in self._chunks:
                        self._chunks[number] = job, pack(chunk, self._arenas.setdefault(job, Arena()))
                return replace(message, chunks={number: self._chunks[number] for number in chunks})
        return message

    def release(self, job: int, chunks: Iterable[int]) -> None:
        """Close the shared memory that nobody needs any more; who has it open keeps it until it lets go."""
        self._programs.pop(job, None)
        for number in chunks:
            self._chunks.pop(number, None)
        needed = {sent_for for sent_for, _ in self._chunks.values()} | set(self._programs)
        for old in self._arenas.keys() - needed:
            self._arenas.pop(old).close()

    # Events in

    def _read(self, worker: int, handle: _Handle) -> list[Event]:
        frames, open_ = handle.pipe.read()
        if not open_:
            self._selector.unregister(handle.pipe)
        return [self._event(worker, handle, frame) for frame in frames]

    def _event(self, worker: int, handle: _Handle, frame: bytes) -> Event:
        if frame == READY:
            handle.ready = True
            return messages.Joined(worker, self.now())
        event = event_from(frame, self.now())
        if isinstance(event, messages.Finished):
            try:
                value = unpack(event.value, handle.reader)
            except Exception:  # a late result of an iteration that is over: its memory is gone, or holds other data
                value = None
            event = messages.Finished(worker, event.ticket, event.task, event.at, event.seconds, value)
        return self._received(event)

    # Processes

    def _start(self, worker: int) -> None:
        here, there = self._context.Pipe()
        emulation = by_value(self.emulations[worker])
        process = self._context.Process(
            target=_serve, args=(there, worker, emulation), name=f"deadheat-{worker}", daemon=True
        )
        with _for_a_worker():
            process.start()
        there.close()
        if worker in self._quotas and process.pid is not None:
            self._quotas[worker].take(process.pid)
        handle = self.handles[worker] = _Handle(process, MasterPipe(here))
        self._selector.register(handle.pipe, selectors.EVENT_READ, (worker, handle, True))
        self._selector.register(process.sentinel, selectors.EVENT_READ, (worker, handle, False))

    def _ended(self, worker: int, handle: _Handle) -> list[Event]:
        """A process has ended: read what it sent last, and replace it."""
        events = self._read(worker, handle) if handle.pipe.fileno() in self._selector.get_map() else []
        self._selector.unregister(handle.process.sentinel)
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(handle.pipe)
        handle.pipe.close()
        handle.process.join()
        handle.reader.close(unlink=True)
        self._died(worker)
        return [*events, messages.Lost(worker, self.now())]


@contextlib.contextmanager
def _for_a_worker() -> Iterator[None]:
    """Processes that start meanwhile use one thread of linear algebra, and do not run the user's script."""
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


def _serve(pipe: Connection, worker: int, emulation: bytes) -> None:
    """The worker process: one thread receives, this one computes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the master ends us
    loop, arena = WorkerLoop(worker, pickle.loads(emulation)), Arena()
    inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, loop, inbox, arena), daemon=True).start()
    with contextlib.suppress(OSError):  # it was closed before we were ready
        pipe.send_bytes(READY)
    last: Ticket | None = None
    while True:
        for event in loop.follow(inbox.get()):
            if event.ticket != last:
                last = event.ticket
                arena.clear()  # the master is done with the results of the iteration before
            packed: Packed | None = None
            if isinstance(event, messages.Finished):
                try:
                    packed = pack(event.value, arena)
                except Exception as error:  # a generator, a lock: it cannot travel
                    reason = f"the result cannot be sent: {describe_error(error)}"
                    event = messages.Failed(worker, event.ticket, event.task, 0.0, reason)
            with contextlib.suppress(OSError):
                pipe.send_bytes(event_bytes(event, value=packed))


def _receive(pipe: Connection, loop: WorkerLoop, inbox: queue.SimpleQueue[Message], arena: Arena) -> None:
    """Unpack and note every message as it comes, and hand it on."""
    unpacking = _Unpacking()
    try:
        while True:
            message = unpacking.of(pickle.loads(pipe.recv_bytes()))
            loop.note(message)
            inbox.put(message)
    except (EOFError, OSError):
        arena.unlink()
        os._exit(0)  # the master is gone, or wants us to end: also in the middle of a task


class _Unpacking:
    """A worker's view of the master's arenas: one for states, and one for each job's program and chunks."""

    def __init__(self) -> None:
        self._states = ArenaReader()
        self._readers: dict[int, ArenaReader] = {}
        self._programs: set[int] = set()
        self._sent_for: dict[int, int] = {}  # of each chunk, the job for which it was sent

    def of(self, message: Message) -> Message:
        match message:
            case messages.Compute(state=state):
                return replace(message, state=readable(lambda: unpack(state, self._states)))
            case messages.Install(job=job, program=program):
                self._programs.add(job)
                return replace(message, program=self._unpack(job, program))
            case messages.Store(chunks=chunks):
                self._sent_for |= {number: job for number, (job, _) in chunks.items()}
                return replace(message, chunks={n: self._unpack(job, chunk) for n, (job, chunk) in chunks.items()})
            case messages.Forget(job=job, chunks=numbers):
                self._programs.discard(job)
                for number in numbers:
                    self._sent_for.pop(number, None)
                for old in self._readers.keys() - self._programs - set(self._sent_for.values()):
                    self._readers.pop(old).close()  # memory goes with the last array that looks into it
        return message

    def _unpack(self, job: int, packed: Packed) -> Any:
        reader = self._readers.setdefault(job, ArenaReader())
        return readable(lambda: unpack(packed, reader))
