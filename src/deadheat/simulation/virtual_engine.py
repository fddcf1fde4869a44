"""The virtual engine: task times are drawn, and the clock jumps from event to event. No process, no waiting.

It draws from the simulator's own batches, so that both agree to rounding on the same seed.
"""

import heapq
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from deadheat.model import Array, Cluster, Split, checked
from deadheat.scheduling import ChunkView, Engine, Event, Message, Program, Ticket, Token, describe_error, messages
from deadheat.simulation.batch import Batch
from deadheat.simulation.condition import Condition
from deadheat.simulation.iteration_times import batches
from deadheat.simulation.seeds import root

NO_TICKET = Ticket(-2, 0)


@dataclass(eq=False)
class _Worker:
    """One worker: its programs and chunks, the ticket from which on it works, and its queue.

    queue: the ticket, begin and end of each task, and whether it is the first of its iteration.
    """

    programs: dict[int, Program] = field(default_factory=dict)
    chunks: dict[int, Any] = field(default_factory=dict)
    valid: Ticket = NO_TICKET
    queue: list[tuple[Ticket, float, float, bool]] = field(default_factory=list)
    drawn: int = 0  # draws used in this iteration
    life: int = 0  # a worker that comes back has another one, and none of the old one's tasks
    alive: bool = False


class VirtualEngine(Engine):
    """Workers of a cluster, on sampled time. split: of the tasks, whose sizes and number the draws follow.

    compute: also run each task's program, so that results are real; else they are None.
    absence: seconds after which a killed worker is replaced.
    """

    @checked
    def __init__(
        self, cluster: Cluster, split: Split, seed: int | None = None, iterations: int = 1, total: int | None = None, *,
        condition: Condition | None = None, compute: bool = True, absence: float = 1.0,
    ) -> None:  # fmt: skip
        split.must_fit(len(cluster))
        self._tasks = cluster.tasks(split.spec)
        source = batches(cluster, split, condition, root(seed), multiple=iterations, total=total)
        self._columns = _columns(source, split.spec.total + split.spec.shared_chunks)
        self._compute, self._absence = compute, absence
        self._now, self._order = 0.0, count()
        self._events: list[tuple[float, int, int, Event]] = []  # with the life of the worker that each is about
        self._workers = [_Worker() for _ in range(len(cluster))]
        self._ticket: Ticket | None = None
        self._times: list[Array] = []
        for worker in range(len(cluster)):
            self._push(0.0, messages.Joined(worker, 0.0))

    @property
    def workers(self) -> int:
        return len(self._workers)

    def now(self) -> float:
        return self._now

    def send(self, worker: int, message: Message) -> None:
        """Tasks are drawn at once: every result has its time."""
        state = self._workers[worker]
        if not state.alive:
            return
        match message:
            case messages.Install(job=job, program=program, chunks=numbers):
                state.programs[job] = copy(program)
                if self._compute:
                    state.programs[job].chunks = ChunkView(numbers, state.chunks)
            case messages.Store(chunks=chunks):
                state.chunks |= chunks
            case messages.Forget(job=job, chunks=numbers):
                state.programs.pop(job, None)
                for number in numbers:
                    state.chunks.pop(number, None)
            case messages.Cancel(ticket=ticket):
                self._purge(worker, ticket.next)
            case messages.Compute(ticket=ticket):
                self._purge(worker, ticket)
                self._take(worker, message)

    def wait(self, timeout: float | None) -> list[Event]:
        """Jump to the next event that counts, or so many seconds on."""
        until = None if timeout is None else self._now + timeout
        while self._events and (until is None or self._events[0][0] <= until):
            at, _, life, event = heapq.heappop(self._events)
            self._now = max(self._now, at)
            if (happened := self._happens(life, event)) is not None:
                return [happened]
        self._now = self._now if until is None else max(self._now, until)
        return []

    def close(self) -> None:
        """Nothing to release."""

    def kill(self, worker: int, at: float | None = None) -> None:
        """Lose a worker, now or later; another takes its place after a while."""
        time = self._now if at is None else at
        self._push(time, messages.Lost(worker, time))
        self._push(time + self._absence, messages.Joined(worker, time + self._absence))

    def _happens(self, life: int, event: Event) -> Event | None:
        """What an event has come to by the time that it is due; None for what was purged or died."""
        match event:
            case messages.Lost(worker=worker):
                self._workers[worker] = _Worker(life=self._workers[worker].life + 1)
            case messages.Joined(worker=worker):
                self._workers[worker].alive = True
            case messages.Finished(worker=worker, ticket=ticket, task=task, value=program):
                state = self._workers[worker]
                if life != state.life or ticket < state.valid:
                    return None
                state.queue.pop(0)
                if program is None:
                    return event
                try:
                    return replace(event, value=program.run(task, Token(lambda: False, max(ticket.iteration, 0))))
                except Exception as error:
                    return messages.Failed(worker, ticket, task, event.at, describe_error(error))
        return event

    def _purge(self, worker: int, valid: Ticket) -> None:
        """Older tasks are void from now on; the one in hand is stopped."""
        state = self._workers[worker]
        if valid <= state.valid:
            return
        state.valid, state.drawn = valid, 0
        now, queue, state.queue = self._now, state.queue, []
        for ticket, begin, end, first in queue:
            if begin <= now < end:
                self._push(now, messages.Stopped(worker, ticket, now, now - begin, complete=False, first=first))

    def _take(self, worker: int, message: messages.Compute) -> None:
        """Draw the times of the tasks: the next ones of this worker in this iteration."""
        ticket, state = message.ticket, self._workers[worker]
        if ticket < state.valid:
            return
        if ticket != self._ticket:
            self._ticket, self._times = ticket, next(self._columns)
        program = state.programs.get(ticket.job) if self._compute else None
        begin = self._now
        if state.drawn == 0:
            begin += float(self._tasks.comm[worker])
            if program is not None:
                program.begin(message.state, max(ticket.iteration, 0))
        elif state.queue:
            begin = state.queue[-1][2]
        for task in message.tasks:
            first, end = state.drawn == 0, begin
            units = 1 + self._tasks.shared_chunks if first else 1
            times = self._times[worker]
            place = (
                state.drawn if state.drawn + units <= len(times) else 0
            )  # more copies than tasks: the first draws again
            *shared, last = times[place : place + units].tolist()
            for time in (*shared, last + self._tasks.seconds_per_task):  # one by one, as the simulator adds them
                end += time
            state.queue.append((ticket, begin, end, first))
            state.drawn += units
            self._push(end, messages.Finished(worker, ticket, task, end, end - begin, program))
            begin = end

    def _push(self, at: float, event: Event) -> None:
        worker = getattr(event, "worker", 0)
        heapq.heappush(self._events, (at, next(self._order), self._workers[worker].life, event))


def _columns(source: Iterator[Batch], most: int) -> Iterator[list[Array]]:
    """One iteration after another: the times of each worker's first tasks."""
    for batch in source:
        every = [batch.durations(worker, most).T for worker in range(len(batch.tasks))]
        yield from map(list, zip(*every, strict=True))
