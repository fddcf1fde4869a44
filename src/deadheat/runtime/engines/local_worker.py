"""The worker's side of the local engine: one thread receives messages, the main thread computes.

A worker ends with its master, however the master ends, and then removes what a master that was killed has left.
"""

import os
import pickle
import queue
import signal
import sys
import threading
import traceback
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn

from deadheat.runtime.engines.codec import event_bytes, readable
from deadheat.runtime.engines.memory_folders import MemoryFolders
from deadheat.runtime.engines.pipe import WorkerPipe
from deadheat.runtime.engines.quota import leave_group
from deadheat.runtime.engines.shared_memory import Arena, ArenaReader, Packed, pack, unpack
from deadheat.runtime.engines.worker_process import LOST_PIPE
from deadheat.runtime.worker_loop import WorkerLoop, reason
from deadheat.scheduling import Message, Ticket, messages

READY = b"ready"  # what a worker sends first


class Setup(NamedTuple):
    """What a worker is told first. emulation: a pickle. group: the control group that limits it."""

    worker: int
    emulation: bytes
    folders: tuple[str, ...]
    group: str | None
    arguments: list[str]


def main(descriptor: int, master: int) -> NoReturn:
    """Serve the master at the other end of the pipe."""
    pipe = WorkerPipe(descriptor, master)
    try:
        first, *early = pipe.receive()
    except (EOFError, OSError):
        os._exit(0)  # it was closed before we were ready
    setup = Setup(*pickle.loads(first))
    sys.argv[:] = setup.arguments
    loop, arena = WorkerLoop(setup.worker, pickle.loads(setup.emulation)), Arena(MemoryFolders(setup.folders))
    inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, setup, loop, inbox, early), daemon=True).start()
    try:
        pipe.send(READY)
        _serve(pipe, setup.worker, loop, inbox, arena)
    except OSError:
        os._exit(LOST_PIPE)
    except BaseException:
        traceback.print_exc()
    os._exit(1)


def _serve(
    pipe: WorkerPipe, worker: int, loop: WorkerLoop, inbox: "queue.SimpleQueue[Message]", arena: Arena
) -> NoReturn:
    """Follow messages, and send what comes of them. Raises OSError when the pipe is closed."""
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
                except BaseException as error:  # a generator, a lock: it cannot travel
                    why = f"the result cannot be sent: {reason(error)}"
                    event = messages.Failed(worker, event.ticket, event.task, 0.0, why)
            pipe.send(event_bytes(event, value=packed))


def _receive(
    pipe: WorkerPipe, setup: Setup, loop: WorkerLoop, inbox: "queue.SimpleQueue[Message]", early: list[bytes]
) -> None:
    """Unpack and note every message as it comes, and hand it on; end the process when no more can come."""
    unpacking = _Unpacking()
    frames = early
    try:
        while True:
            for frame in frames:
                message = unpacking.of(pickle.loads(frame))
                loop.note(message)
                inbox.put(message)
            frames = pipe.receive()
    except (EOFError, OSError):
        if pipe.master_gone():
            MemoryFolders(setup.folders).remove()
            if setup.group is not None:
                leave_group(setup.group)
    except BaseException:
        traceback.print_exc()
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)  # with what the tasks have started, and in the middle of a task
    os._exit(1)


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
