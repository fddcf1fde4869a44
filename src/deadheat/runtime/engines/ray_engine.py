"""The Ray engine: an actor for each worker, on this machine or on the nodes of a cluster. Needs the extra `ray`.

Messages are calls of the actor; events come back by a call that is always under way and returns as soon as there are
any, with all that there are: half the cost of a streaming generator, which pays for each result
(benchmarks/bench_engines). The state is put into the object store once per iteration. `ray.cancel` does not stop calls
that run, and calls queued on an actor ran on after it: purging is our own flag, set by another thread of the actor.
"""

import contextlib
import heapq
import os
import queue
import signal
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from math import inf
from typing import Any

import numpy as np

from deadheat.errors import DeadheatError
from deadheat.runtime.emulation import Emulation
from deadheat.runtime.engines.codec import Encoded, by_value, decode, is_plain, readable
from deadheat.runtime.engines.roster import LOOK, EngineClosed, RosterEngine
from deadheat.runtime.worker_loop import TaskEvent, WorkerLoop, reason
from deadheat.scheduling import Event, Message, Ticket, messages

INLINE = 2**14  # bytes up to which a state travels with the call: the object store costs a few milliseconds
ROOM = 8  # more workers that may be added to a Ray that is started here
CALLS = 8  # of one actor at a time: one waits for events, the others bring messages


class RayMissing(DeadheatError):
    """Ray is not installed."""


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise RayMissing("engine 'ray' needs Ray, which is not installed: pip install 'deadheat[ray]'") from None
    return ray


class RayWorker:
    """What runs in the actor: one thread computes, the calls bring messages and take events."""

    def __init__(self, worker: int, emulation: Encoded) -> None:
        self._loop = WorkerLoop(worker, decode(emulation))
        self._messages: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._events: queue.SimpleQueue[TaskEvent] = queue.SimpleQueue()
        self._early: list[tuple[int, Message]] = []  # calls of a threaded actor may overtake each other
        self._next = 0
        self._lock = threading.Lock()
        threading.Thread(target=self._compute, daemon=True).start()

    def ready(self) -> int:
        return os.getpid()

    def receive(self, turn: int, message: Message, *contents: Any) -> None:
        """Note a message at once, and follow it in its turn. contents: what Ray has fetched for it."""
        read = [readable(partial(_decoded, content)) for content in contents]
        match message:
            case messages.Compute():
                message = replace(message, state=read[0])
            case messages.Install():
                message = replace(message, program=read[0])
            case messages.Store(chunks=chunks):
                message = replace(message, chunks=dict(zip(chunks, read, strict=True)))
        self._loop.note(message)
        with self._lock:
            heapq.heappush(self._early, (turn, message))
            while self._early and self._early[0][0] == self._next:
                self._messages.put(heapq.heappop(self._early)[1])
                self._next += 1

    def events(self) -> list[TaskEvent]:
        """All events there are, as soon as there are any."""
        events = [self._events.get()]
        while not self._events.empty():
            events.append(self._events.get())
        return events

    def _compute(self) -> None:
        while True:
            for event in self._loop.follow(self._messages.get()):
                if isinstance(event, messages.Finished) and not is_plain(event.value):
                    try:
                        event = replace(event, value=Encoded(by_value(event.value), ()))
                    except BaseException as error:  # a generator, a lock: it cannot travel
                        why = f"the result cannot be sent: {reason(error)}"
                        event = messages.Failed(event.worker, event.ticket, event.task, 0.0, why)
                self._events.put(event)


def _decoded(content: Any) -> Any:
    return decode(content) if isinstance(content, Encoded) else content


@dataclass(eq=False)
class _Handle:
    """One worker as the master sees it: its actor and the call that waits for it to be ready, then for its events."""

    actor: Any
    call: Any
    pid: int | None = None
    turns: Iterator[int] = field(default_factory=count)


class RayEngine(RosterEngine[_Handle]):
    """Actors on Ray. workers: how many, or one emulation (or None for real speed) each; None for one on every node.

    address: of a cluster that is there ("auto", "ray://host:10001", "host:6379"); None uses one that this process is
    connected to or that runs on this machine (`ray start`), or starts one. resources: of each actor, such as
    {"num_cpus": 1}. spread: one actor after the other on different nodes.
    """

    def __init__(
        self,
        workers: int | Sequence[Emulation | None] | None,
        *,
        address: str | None = None,
        resources: Mapping[str, Any] | None = None,
        spread: bool = True,
        replace_dead: bool = True,
    ) -> None:
        self._ray = ray = _ray()
        self._closed, self._lock = False, threading.RLock()
        if workers is not None:
            super().__init__(workers, replace_dead)  # checks them before Ray is started
        self._started_ray = not ray.is_initialized()
        if self._started_ray and address is None:
            cpus = None if workers is None else ROOM + len(self.emulations)
            try:
                ray.init(num_cpus=cpus, include_dashboard=False, log_to_driver=False)
            except ValueError:  # a cluster runs here (`ray start`), of which the number of CPUs cannot be said
                ray.init(log_to_driver=False)
        elif self._started_ray:
            ray.init(address=address, log_to_driver=False)
        self._nodes = [node["NodeID"] for node in ray.nodes() if node["Alive"]] if workers is None else []
        if workers is None:
            super().__init__(len(self._nodes), replace_dead)
        self._actor_options = {"max_concurrency": CALLS, "max_restarts": 0, "num_cpus": 1} | dict(resources or {})
        self._actor_options.setdefault("scheduling_strategy", "SPREAD" if spread else "DEFAULT")
        self._state: tuple[Ticket, Any] | None = None
        self._programs: dict[int, Any] = {}
        self._chunks: dict[int, Any] = {}
        for worker in range(len(self.emulations)):
            self._start(worker)

    def send(self, worker: int, message: Message) -> None:
        """Call the actor; contents are put into the object store once for all workers."""
        handle = self.handles.get(worker)
        if handle is None or handle.pid is None:
            return
        contents: list[Any] = []
        match message:
            case messages.Compute(ticket=ticket, state=state):
                if self._state is None or self._state[0] != ticket:
                    small = isinstance(state, np.ndarray) and is_plain(state) and state.nbytes <= INLINE
                    self._state = ticket, state if small else self._put(state)
                contents, message = [self._state[1]], replace(message, state=None)
            case messages.Install(job=job, program=program):
                if job not in self._programs:
                    self._programs[job] = self._put(program)
                contents, message = [self._programs[job]], replace(message, program=None)
            case messages.Store(chunks=chunks):
                for number, chunk in chunks.items():
                    if number not in self._chunks:
                        self._chunks[number] = self._put(chunk)
                contents = [self._chunks[number] for number in chunks]
                message = replace(message, chunks=dict.fromkeys(chunks))
        handle.actor.receive.remote(next(handle.turns), message, *contents)

    def release(self, job: int, chunks: Iterable[int]) -> None:
        """Let the object store have its memory back."""
        self._programs.pop(job, None)
        for number in chunks:
            self._chunks.pop(number, None)

    def _put(self, value: Any) -> Any:
        """Put an object into the object store; Ray's own pickle would name modules that workers do not have."""
        return self._ray.put(value if is_plain(value) else Encoded(by_value(value), ()))

    def wait(self, timeout: float | None) -> list[Event]:
        """Events of any worker, and of actors that come and go."""
        end = inf if timeout is None else self.now() + timeout
        while True:
            with self._lock:
                if self._closed:
                    raise EngineClosed
                self._start_due()
                events = self._heard_within(max(min(end - self.now(), self._until_due(), LOOK), 0.0))
            if events or self.now() >= end:
                return events

    def _heard_within(self, seconds: float) -> list[Event]:
        calls = {handle.call: worker for worker, handle in self.handles.items()}
        if not calls:
            time.sleep(seconds)
            return []
        ready, _ = self._ray.wait(list(calls), num_returns=1, timeout=seconds, fetch_local=False)
        return [event for call in ready for event in self._heard(calls[call])]

    def close(self) -> None:
        """End the actors, and Ray where it was started here."""
        if self._closed:
            return
        self._closed = True
        with self._lock:
            for handle in self.handles.values():
                with contextlib.suppress(Exception):  # it is gone already, or Ray is
                    self._ray.kill(handle.actor)
            self.handles.clear()
            self._due.clear()
            self._programs.clear()
            self._chunks.clear()
            self._state = None
            if self._started_ray:
                self._ray.shutdown()

    def kill(self, worker: int) -> None:
        """End a worker's process as the system would, where it is on this machine: for tests and demonstrations."""
        pid = self.pid(worker)
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):  # it is dead, and nobody has noticed yet
                os.kill(pid, signal.SIGKILL)

    def _end(self, worker: int) -> None:
        self._ray.kill(self.handles[worker].actor)

    def pid(self, worker: int) -> int | None:
        handle = self.handles.get(worker)
        return None if handle is None else handle.pid

    def _start(self, worker: int) -> None:
        options = dict(self._actor_options)
        if worker < len(self._nodes):  # there if it can be, elsewhere if its node is gone
            strategy = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
            options["scheduling_strategy"] = strategy(self._nodes[worker], soft=True)
        emulation = Encoded(by_value(self.emulations[worker]), ())
        actor = self._ray.remote(RayWorker).options(**options).remote(worker, emulation)
        self.handles[worker] = _Handle(actor, actor.ready.remote())

    def _heard(self, worker: int) -> list[Event]:
        handle = self.handles[worker]
        try:
            answer = self._ray.get(handle.call)
        except self._ray.exceptions.RayError as error:
            return [self._lose(worker, f"its actor is gone ({type(error).__name__})")]
        handle.call = handle.actor.events.remote()
        if handle.pid is None:
            handle.pid = answer
            return [self._join(worker)]
        return [self._completed(event) for event in answer]

    def _completed(self, event: TaskEvent) -> TaskEvent:
        """The event with our clock's time and its value decoded."""
        if isinstance(event, messages.Finished) and isinstance(event.value, Encoded):
            return replace(event, at=self.now(), value=readable(partial(_decoded, event.value)))
        return replace(event, at=self.now())
