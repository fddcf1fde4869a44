"""The virtual engine: task times are drawn, and the clock jumps from event to event. No process, no waiting.

It draws from the simulator's own batches, so that both agree to rounding on the same seed.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import count

import numpy as np
from numpy.typing import NDArray

from deadheat.model import Cluster, Split
from deadheat.runtime.messages import Event, Finished, Joined, Letter, Lost, Open, Order, Shut, Ticket, Void
from deadheat.runtime.work import Token, Work
from deadheat.simulation.batch import Batch
from deadheat.simulation.conditions import Condition
from deadheat.simulation.lengths import batches
from deadheat.simulation.randomness import root

Array = NDArray[np.float64]
ALWAYS = Token(lambda: False)  # a result that is asked for is wanted


class VirtualEngine:
    """Workers of a cluster, on sampled time. split: of the tasks, whose sizes and number the draws follow.

    compute: also run each task's work, so that results are real; else they are None.
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
    ) -> None:
        split.must_fit(len(cluster))
        self._tasks = cluster.tasks(split.spec)
        source = batches(cluster, split, condition, root(seed), iterations, total)
        self._columns = _columns(source, split.spec.total + split.spec.lead)
        self._compute = compute
        self._now, self._order = 0.0, count()
        self._events: list[tuple[float, int, Event]] = []
        self._works: dict[int, dict[int, Work]] = {p: {} for p in range(len(cluster))}
        self._ticket: Ticket | None = None
        self._times: list[Array] = []
        self._used = [0] * len(cluster)
        self._free = [0.0] * len(cluster)
        self._valid = [Ticket(-1, -1, -1)] * len(cluster)
        self._gone: set[int] = set()
        for worker in range(len(cluster)):
            self._push(0.0, Joined(worker, 0.0))

    def now(self) -> float:
        """The time of the last event."""
        return self._now

    def send(self, worker: int, letter: Letter) -> None:
        """Orders are drawn at once: every result has its time."""
        if worker in self._gone:
            return
        match letter:
            case Open(job=job, work=work):
                self._works[worker][job] = work
            case Shut(job=job):
                self._works[worker].pop(job, None)
            case Void(ticket=ticket):
                self._valid[worker] = ticket._replace(attempt=ticket.attempt + 1)
            case Order():
                self._take(worker, letter)

    def wait(self, timeout: float | None) -> list[Event]:
        """Jump to the next event that counts, or so many seconds on."""
        until = None if timeout is None else self._now + timeout
        while self._events and (until is None or self._events[0][0] <= until):
            at, _, event = heapq.heappop(self._events)
            self._now = max(self._now, at)
            match event:
                case Finished(worker=worker, ticket=ticket):
                    if worker in self._gone or ticket < self._valid[worker]:
                        continue  # purged
                    return [replace(event, value=event.value()) if callable(event.value) else event]
                case Lost(worker=worker):
                    self._gone.add(worker)
                case Joined(worker=worker):
                    self._gone.discard(worker)
            return [event]
        if until is not None:
            self._now = max(self._now, until)
        return []

    def close(self) -> None:
        """Nothing to give back."""

    def kill(self, worker: int, at: float | None = None) -> None:
        """Lose a worker, now or later."""
        time = self._now if at is None else at
        self._push(time, Lost(worker, time))

    def join(self, worker: int, at: float | None = None) -> None:
        """Have a lost worker back, now or later."""
        time = self._now if at is None else at
        self._push(time, Joined(worker, time))

    def _take(self, worker: int, order: Order) -> None:
        """Draw the times of the order's tasks: the next ones of this worker's row in this iteration."""
        ticket = order.ticket
        if ticket != self._ticket:
            self._ticket, self._times = ticket, next(self._columns)
            self._used = [0] * len(self._used)
        first = self._used[worker] == 0
        if ticket > self._valid[worker]:
            self._valid[worker] = ticket
        begin = self._now + float(self._tasks.comm[worker]) if first else max(self._now, self._free[worker])
        work = self._works[worker].get(ticket.job)
        if first and work is not None and self._compute:
            work.begin(order.state)
        for task in order.tasks:
            units = 1 + self._tasks.lead if self._used[worker] == 0 else 1
            times = self._times[worker][self._used[worker] : self._used[worker] + units]
            self._used[worker] += units
            began = begin
            for time in times.tolist():  # one by one, as the simulator adds them
                begin += time
            value = partial(work.run, task, ALWAYS) if work is not None and self._compute else None
            self._push(begin, Finished(worker, ticket, task, begin, begin - began, value))
        self._free[worker] = begin

    def _push(self, at: float, event: Event) -> None:
        heapq.heappush(self._events, (at, next(self._order), event))


def _columns(source: Iterator[Batch], most: int) -> Iterator[list[Array]]:
    """One iteration after another: the times of each worker's first tasks."""
    for batch in source:
        every = [batch.durations(p, most) for p in range(len(batch.tasks))]
        for place in range(batch.size):
            yield [times[:, place] for times in every]
