"""The local engine: a process for each worker on this machine, pipes for control, shared memory for what is large.

A worker computes with one thread of linear algebra, hears newer tickets while it computes, and ends with the master's
process. A worker that dies is replaced, and joins again. Workers do not run the user's script: it needs no
`if __name__ == "__main__"`. An engine that is dropped ends its workers.
"""

import contextlib
import os
import pickle
import selectors
import signal
import socket
import sys
import threading
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from deadheat.errors import DeadheatError
from deadheat.runtime.emulation import Emulation
from deadheat.runtime.engines.codec import by_value, event_from
from deadheat.runtime.engines.local_worker import READY, Setup
from deadheat.runtime.engines.memory_folders import MemoryFolders, new_folders
from deadheat.runtime.engines.pipe import MasterPipe
from deadheat.runtime.engines.quota import Quota, quota_groups, shares, sweep_groups
from deadheat.runtime.engines.roster import LOOK, EngineClosed, RosterEngine
from deadheat.runtime.engines.shared_memory import Arena, ArenaReader, Packed, pack, unpack
from deadheat.runtime.engines.worker_process import WorkerProcess
from deadheat.runtime.worker_loop import reason
from deadheat.scheduling import Event, Message, Ticket, messages

START = 15.0  # seconds that a worker has to start, and twice as long each time; it takes half a second on a free core
ENDING = 0.2  # seconds between the end of a pipe and the end of its process, which says better what happened


class NotOurs(DeadheatError):
    """Workers of the process that this one was forked from are asked for work."""

    def __init__(self) -> None:
        super().__init__("these workers belong to the process that this one was forked from: begin a run of your own")


@dataclass(eq=False)
class _Handle:
    """One worker as the master sees it. At `deadline` it is ended, for the reason that `fault` gives."""

    process: WorkerProcess
    pipe: MasterPipe
    deadline: float
    fault: str = "it did not start in time"
    reader: ArenaReader = field(default_factory=ArenaReader)
    ready: bool = False
    cut_off: bool = False


@dataclass(eq=False)
class _Resources:
    """What an engine has taken from the system, apart from it: so that it can be given back when the engine is gone."""

    handles: dict[int, _Handle]
    owner: int = field(default_factory=os.getpid)
    lock: threading.RLock = field(default_factory=threading.RLock)
    closed: bool = False
    selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    quotas: dict[int, Quota] = field(default_factory=dict)
    folders: MemoryFolders = field(default_factory=lambda: MemoryFolders(()))
    arenas: dict[int, Arena] = field(default_factory=dict)  # of each job, for its program and the chunks sent for it
    states: list[Arena] = field(default_factory=list)  # in turns: a purged task may still look at the last one

    def check_owner(self) -> None:
        """Refuse to work in a fork of the owner's process: pipes and memory are shared with it."""
        if os.getpid() != self.owner:
            raise NotOurs

    def release(self) -> None:
        """End all workers and give everything back; in a fork of the owner's process, nothing happens."""
        if os.getpid() != self.owner:
            return
        self.closed = True  # whoever waits sees it and lets go of the lock
        with self.lock:
            for handle in self.handles.values():
                handle.process.kill()
            for handle in self.handles.values():
                handle.pipe.close()
                handle.process.reap()
            self.handles.clear()
            self.selector.close()
            for arena in (*self.states, *self.arenas.values()):
                arena.close()
            self.folders.remove()
            for quota in self.quotas.values():
                quota.remove()


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
        self._resources = _Resources(self.handles)
        self._release = weakref.finalize(self, self._resources.release)
        self._lock, self._selector = self._resources.lock, self._resources.selector
        self._arenas, self._quotas = self._resources.arenas, self._resources.quotas
        self._state: tuple[Ticket, int, Packed] | None = None
        self._programs: dict[int, Packed] = {}
        self._chunks: dict[int, tuple[int, Packed]] = {}  # the job for which a chunk was sent, and the chunk
        self._next_look = 0.0
        try:
            sweep_groups()
            self._quotas |= quota_groups({worker: share for worker, share in enumerate(limits) if share is not None})
            self._folders = self._resources.folders = new_folders()
            self._resources.states += [Arena(self._folders), Arena(self._folders)]
            for worker in range(len(self.emulations)):
                self._start(worker)
        except BaseException:
            self.close()
            raise

    def send(self, worker: int, message: Message) -> None:
        """Through the pipe, if it takes it at once; else as soon as it does."""
        self._resources.check_owner()
        with self._lock:
            handle = self.handles.get(worker)
            packed = self._packed(message)
            if handle is not None and handle.ready and not handle.cut_off:
                self._post(worker, handle, pickle.dumps(packed, 5))

    def wait(self, timeout: float | None) -> list[Event]:
        self._resources.check_owner()
        end = inf if timeout is None else self.now() + timeout
        while True:
            with self._lock:
                if self._resources.closed:
                    raise EngineClosed
                pause = max(min(end - self.now(), self._until_due(), LOOK), 0.0)
                events = [event for key, ready in self._selector.select(pause) for event in self._heard(key, ready)]
                if self.now() >= self._next_look:
                    self._next_look = self.now() + LOOK
                    events += self._look()
                self._start_due()
            if events or self.now() >= end:
                return events

    def close(self) -> None:
        """End all workers, from any thread, and give back what was taken."""
        if self._release.alive:
            self._resources.release()
            self._release.detach()  # not before: what an interrupt leaves is given back at exit

    def kill(self, worker: int) -> None:
        """End a worker as the system would: for tests and demonstrations."""
        pid = self.pid(worker)
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _end(self, worker: int) -> None:
        self.handles[worker].process.kill()

    def pid(self, worker: int) -> int | None:
        handle = self.handles.get(worker)
        return None if handle is None else handle.process.pid

    # Messages out

    def _post(self, worker: int, handle: _Handle, content: bytes) -> None:
        handle.pipe.send(content)
        if handle.pipe.waiting:
            self._selector.modify(handle.pipe, selectors.EVENT_READ | selectors.EVENT_WRITE, (worker, handle, True))

    def _packed(self, message: Message) -> Message:
        """The message with its contents packed, each once for all workers."""
        match message:
            case messages.Compute(ticket=ticket, state=state):
                if self._state is None or self._state[0] != ticket:
                    turn = 0 if self._state is None else 1 - self._state[1]
                    arena = self._resources.states[turn]
                    arena.clear()
                    self._state = ticket, turn, pack(state, arena)
                return replace(message, state=self._state[2])
            case messages.Install(job=job, program=program):
                if job not in self._programs:
                    self._programs[job] = pack(program, self._arena(job))
                return replace(message, program=self._programs[job])
            case messages.Store(job=job, chunks=chunks):
                for number, chunk in chunks.items():
                    if number not in self._chunks:
                        self._chunks[number] = job, pack(chunk, self._arena(job))
                return replace(message, chunks={number: self._chunks[number] for number in chunks})
        return message

    def _arena(self, job: int) -> Arena:
        return self._arenas.setdefault(job, Arena(self._folders))

    def release(self, job: int, chunks: Iterable[int]) -> None:
        """Close the shared memory that nobody needs any more; who has it open keeps it until it lets go."""
        self._programs.pop(job, None)
        for number in chunks:
            self._chunks.pop(number, None)
        needed = {sent_for for sent_for, _ in self._chunks.values()} | set(self._programs)
        for old in self._arenas.keys() - needed:
            self._arenas.pop(old).close()

    # Events in

    def _heard(self, key: selectors.SelectorKey, ready: int) -> list[Event]:
        worker: int
        handle: _Handle
        worker, handle, is_pipe = key.data  # as they were registered
        if worker not in self.handles or self.handles[worker] is not handle:
            return []  # it was removed a moment ago
        if not is_pipe:
            return self._ended(worker, handle)
        if ready & selectors.EVENT_WRITE:
            handle.pipe.flush()
            if not handle.pipe.waiting:
                self._selector.modify(handle.pipe, selectors.EVENT_READ, key.data)
        return self._read(worker, handle) if ready & selectors.EVENT_READ else []

    def _read(self, worker: int, handle: _Handle) -> list[Event]:
        """Events that a worker has sent. One that sends no more, or what nobody can read, is ended."""
        frames, more = handle.pipe.read()
        events: list[Event] = []
        try:
            for frame in frames:
                events.append(self._event(worker, handle, frame))
        except Exception as error:
            self._cut_off(handle, f"it sent what nobody can read ({reason(error)})")
        if handle.pipe.broken:
            self._cut_off(handle, "it sent bytes that are no message")
        elif not more:
            self._unregister(handle.pipe)
            handle.deadline, handle.fault = self.now() + ENDING, "it closed its pipe"
        return events

    def _event(self, worker: int, handle: _Handle, frame: bytes) -> Event:
        if frame == READY:
            handle.ready, handle.deadline = True, inf
            return self._join(worker)
        event = event_from(frame, self.now())
        if not isinstance(event, messages.Finished):
            return event
        try:
            return replace(event, value=unpack(event.value, handle.reader))
        except Exception as error:
            if self._state is not None and event.ticket < self._state[0]:
                return replace(event, value=None)  # late: its memory is gone, or holds other data
            why = f"its result cannot be read: {reason(error)}"
            return messages.Failed(worker, event.ticket, event.task, event.at, why)

    # Processes

    def _start(self, worker: int) -> None:
        here, there = socket.socketpair()
        quota = self._quotas.get(worker)
        with there, contextlib.ExitStack() as undo:
            undo.callback(here.close)
            process = WorkerProcess(there.fileno())
            undo.callback(process.reap)
            if quota is not None:
                quota.take(process.pid)
            setup = Setup(
                worker=worker,
                emulation=by_value(self.emulations[worker]),
                folders=tuple(self._folders.paths),
                group=None if quota is None else str(quota.group),
                arguments=sys.argv,
            )
            deadline = self.now() + START * 2 ** self._failed_starts.get(worker, 0)
            handle = self.handles[worker] = _Handle(process, MasterPipe(here), deadline)
            undo.pop_all()
        self._selector.register(handle.pipe, selectors.EVENT_READ, (worker, handle, True))
        if process.pidfd is not None:
            self._selector.register(process.pidfd, selectors.EVENT_READ, (worker, handle, False))
        self._post(worker, handle, pickle.dumps(tuple(setup), 5))

    def _cut_off(self, handle: _Handle, fault: str) -> None:
        """End a worker that cannot be talked to; that it has ended is noticed as for any other."""
        self._unregister(handle.pipe)
        handle.cut_off, handle.fault, handle.deadline = True, fault, inf
        handle.process.kill()

    def _unregister(self, source: MasterPipe | int) -> None:
        with contextlib.suppress(KeyError):
            self._selector.unregister(source)

    def _look(self) -> list[Event]:
        """End workers that are beyond their deadline, and find those that have ended where there is no pidfd."""
        events: list[Event] = []
        for worker, handle in list(self.handles.items()):
            if self.now() > handle.deadline:
                self._cut_off(handle, handle.fault)
            if handle.process.pidfd is None and handle.process.ended:
                events += self._ended(worker, handle)
        return events

    def _ended(self, worker: int, handle: _Handle) -> list[Event]:
        """A process has ended: read what it sent last, and plan its replacement."""
        events = [] if handle.cut_off else self._read(worker, handle)
        self._unregister(handle.pipe)
        if handle.process.pidfd is not None:
            self._unregister(handle.process.pidfd)
        handle.pipe.close()
        ending = handle.process.reap()
        handle.reader.close()
        self._folders.discard(handle.process.pid)
        return [*events, self._lose(worker, handle.fault if handle.cut_off else ending)]
