"""The virtual engine: task times are drawn, and the clock jumps from event to event. No process, no waiting.

It draws from the simulator's own batches, so that both agree to rounding on the same seed.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import count

from deadheat.model import Array, Cluster, Split
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
from deadheat.runtime.work import Token, Work
from deadheat.runtime.worker_loop import told
from deadheat.simulation.batch import Batch
from deadheat.simulation.iteration_times import batches
from deadheat.simulation.replay import Condition
from deadheat.simulation.seeds import root

NO_TICKET = Ticket(-1, -1, -1)
ALWAYS = Token(lambda: False)  # a result that is asked for is wanted


@dataclass(eq=False)
class _Post:
    """One worker: its jobs, the ticket from which on its orders are valid, and its tasks: ticket, begin, end, first."""

    works: dict[int, Work] = field(default_factory=dict)
    valid: Ticket = NO_TICKET
    row: list[tuple[Ticket, float, float, bool]] = field(default_factory=list)
    used: int = 0  # draws of the iteration
    life: int = 0  # a worker that comes back has another one, and none of the old one's tasks
    there: bool = False


class VirtualEngine:
    """Workers of a cluster, on sampled time. split: of the tasks, whose sizes and number the draws follow.

    compute: also run each task's work, so that results are real; else they are None.
    absence: seconds after which a killed worker is replaced.
    """

    def __init__(
        self,
        cluster: Cluster,
        split: Split,
        seed: int | None = None,
        iterations: int = 1,
        total: int | None = None,
        *,
        condition: Condition | None = None,
        compute: bool = True,
        absence: float = 1.0,
    ) -> None:
        split.must_fit(len(cluster))
        self._tasks = cluster.tasks(split.spec)
        source = batches(cluster, split, condition, root(seed), iterations, total)
        self._columns = _columns(source, split.spec.total + split.spec.shared_chunks)
        self._compute, self._absence = compute, absence
        self._now, self._order = 0.0, count()
        self._events: list[tuple[float, int, int, Event]] = []  # with the life of the worker that it is about
        self._posts = [_Post() for _ in range(len(cluster))]
        self._ticket: Ticket | None = None
        self._times: list[Array] = []
        for worker in range(len(cluster)):
            self._push(0.0, Joined(worker, 0.0))

    def now(self) -> float:
        """The time of the last event."""
        return self._now

    def send(self, worker: int, letter: Letter) -> None:
        """Orders are drawn at once: every result has its time."""
        post = self._posts[worker]
        if not post.there:
            return
        match letter:
            case Open(job=job, work=work):
                post.works[job] = copy(work)
            case Supply(job=job, pieces=pieces) if job in post.works and self._compute:
                for number, piece in pieces.items():
                    post.works[job].store(number, piece)
            case Shut(job=job):
                post.works.pop(job, None)
            case Void(ticket=ticket):
                self._purge(worker, ticket._replace(attempt=ticket.attempt + 1))
            case Order(ticket=ticket):
                self._purge(worker, ticket)
                self._take(worker, letter)

    def wait(self, timeout: float | None) -> list[Event]:
        """Jump to the next event that counts, or so many seconds on."""
        until = None if timeout is None else self._now + timeout
        while self._events and (until is None or self._events[0][0] <= until):
            at, _, life, event = heapq.heappop(self._events)
            self._now = max(self._now, at)
            happened = self._happens(life, event)
            if happened is not None:
                return [happened]
        if until is not None:
            self._now = max(self._now, until)
        return []

    def close(self) -> None:
        """Nothing to give back."""

    def kill(self, worker: int, at: float | None = None) -> None:
        """Lose a worker, now or later; another takes its place after a while."""
        time = self._now if at is None else at
        self._push(time, Lost(worker, time))
        self._push(time + self._absence, Joined(worker, time + self._absence))

    def _happens(self, life: int, event: Event) -> Event | None:
        """What an event has come to by the time that it is due; None for what was purged or died."""
        match event:
            case Lost(worker=worker):
                self._posts[worker] = _Post(life=self._posts[worker].life + 1)
            case Joined(worker=worker):
                self._posts[worker].there = True
            case Finished(worker=worker, ticket=ticket, task=task, value=work):
                post = self._posts[worker]
                if life != post.life or ticket < post.valid:
                    return None
                post.row.pop(0)
                if work is None:
                    return event
                try:
                    return replace(event, value=work.run(task, ALWAYS))
                except Exception as error:
                    return Failed(worker, ticket, task, event.at, told(error))
        return event

    def _purge(self, worker: int, valid: Ticket) -> None:
        """Older tasks are void from now on; the one in hand is put down."""
        post = self._posts[worker]
        if valid <= post.valid:
            return
        post.valid, post.used = valid, 0
        for ticket, begin, end, first in post.row:
            if begin <= self._now < end:
                age = self._now - begin
                self._push(self._now, Stopped(worker, ticket, self._now, age, complete=False, first=first))
        post.row = []

    def _take(self, worker: int, order: Order) -> None:
        """Draw the times of the order's tasks: the next ones of this worker's row in this iteration."""
        ticket, post = order.ticket, self._posts[worker]
        if ticket < post.valid:
            return
        if ticket != self._ticket:
            self._ticket, self._times = ticket, next(self._columns)
        work = post.works.get(ticket.job) if self._compute else None
        begin = self._now
        if post.used == 0:
            begin += float(self._tasks.comm[worker])
            if work is not None:
                work.begin(order.state)
        elif post.row:
            begin = post.row[-1][2]
        for task in order.tasks:
            units = 1 + self._tasks.shared_chunks if post.used == 0 else 1
            end = begin
            *shared_chunks, last = self._times[worker][post.used : post.used + units].tolist()
            for time in (*shared_chunks, last + self._tasks.seconds_per_task):  # one by one, as the simulator adds them
                end += time
            post.row.append((ticket, begin, end, post.used == 0))
            post.used += units
            self._push(end, Finished(worker, ticket, task, end, end - begin, work))
            begin = end

    def _push(self, at: float, event: Event) -> None:
        worker = getattr(event, "worker", 0)
        heapq.heappush(self._events, (at, next(self._order), self._posts[worker].life, event))


def _columns(source: Iterator[Batch], most: int) -> Iterator[list[Array]]:
    """One iteration after another: the times of each worker's first tasks."""
    for batch in source:
        every = [batch.durations(p, most) for p in range(len(batch.tasks))]
        for place in range(batch.size):
            yield [times[:, place] for times in every]
