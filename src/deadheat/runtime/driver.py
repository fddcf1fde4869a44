"""The driver: carries the master's words out on an engine, holds states and results, and puts iterations together."""

from __future__ import annotations

import heapq
import math
import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deadheat.coding import Code, IllConditioned, Overflowed, Undecodable
from deadheat.errors import DeadheatError
from deadheat.runtime.briefs import Brief
from deadheat.runtime.checkpoints import Checkpoints, Saved
from deadheat.runtime.engine import Engine
from deadheat.runtime.master import Master
from deadheat.runtime.messages import (
    Abandon,
    Arrived,
    Assign,
    Command,
    Deliver,
    Dismiss,
    Event,
    Finished,
    Joined,
    Lost,
    Open,
    Order,
    Purge,
    Refused,
    Resolve,
    Resolved,
    Shut,
    Supply,
    Tick,
    Ticket,
    Void,
)
from deadheat.runtime.work import Work
from deadheat.runtime.worker_loop import told

Step = Callable[[Any, Any, int], Any]


class NobodyCame(DeadheatError):
    """No worker was ready in time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"no worker came within {seconds:g} s: is there room for them (CPUs, GPUs, memory), and can they start?"
        )


class JobFailed(DeadheatError):
    """A job that could not be finished; `delivery` has its last state."""

    def __init__(self, delivery: Delivery) -> None:
        super().__init__(f"job {delivery.name or delivery.job}: {delivery.error}")
        self.delivery = delivery


class NoWorkers(DeadheatError):
    """Every worker has died, again and again, and none is replaced any more."""

    def __init__(self, jobs: int) -> None:
        super().__init__(f"all workers are gone, after they were replaced several times; {jobs} jobs are not done")
        self.jobs = jobs


@dataclass(frozen=True)
class Converged:
    """Returned by a step function to end its job early, with the last state."""

    state: Any


@dataclass(eq=False)
class Task:
    """A job on its way: how it is split and coded, what workers do, its state and how that goes on."""

    brief: Brief
    work: Work
    state: Any
    step: Step
    iteration: int = 0
    name: str = ""
    over: bool = False  # it was done before: a checkpoint says so
    blind: bool = False  # on sampled time, without results
    share: Callable[[Any], Any] | None = None  # what workers see of the state; all of it by default

    @property
    def signature(self) -> str:
        """What tells it from other jobs, for checkpoints: its name, its code and its length."""
        code = self.brief.code
        return f"{self.name} ({code.family}, {code.critical} of {code.total}, {self.brief.iterations} iterations)"


@dataclass(frozen=True, eq=False)
class Delivery:
    """A job that is done, or was given up (then `error` says why): its last state and its times."""

    job: int
    name: str
    state: Any
    iterations: int
    arrived: float
    started: float
    delivered: float
    error: str | None = None

    @property
    def delay(self) -> float:
        """From arrival to delivery."""
        return self.delivered - self.arrived

    @property
    def service(self) -> float:
        """From its first order to delivery."""
        return self.delivered - self.started


Listener = Callable[[Event | Command, float], None]


@dataclass(eq=False)
class Driver:
    """Runs a master on an engine. listeners hear every event and every command, with the time."""

    master: Master
    engine: Engine
    listeners: list[Listener] = field(default_factory=list)
    checkpoints: Checkpoints | None = None
    _tasks: dict[int, Task] = field(default_factory=dict)
    _arrivals: list[tuple[float, int]] = field(default_factory=list)
    _arrived: dict[int, float] = field(default_factory=dict)
    _started: dict[int, float] = field(default_factory=dict)
    _results: dict[int, Any] = field(default_factory=dict)
    _ticket: Ticket | None = None
    _opened: dict[int, dict[int, set[int]]] = field(default_factory=dict)  # of each worker, the pieces of each job
    _delivered: list[Delivery] = field(default_factory=list)
    _next: int = 0

    def submit(self, task: Task, at: float | None = None) -> int:
        """Take a job; at: when it arrives, by default now."""
        job = self.take(task)
        self.arrive(job, self.engine.now() if at is None else at)
        return job

    def take(self, task: Task) -> int:
        """Get to know a job before it arrives; its number."""
        job, self._next = self._next, self._next + 1
        self._tasks[job] = task
        self.master.introduce(job, task.brief, task.iteration)
        return job

    def arrive(self, job: int, at: float) -> None:
        """A job that is known arrives at that time."""
        heapq.heappush(self._arrivals, (at, job))

    def gather(self, workers: int, patience: float = 30.0) -> int:
        """Wait until so many workers are there, at most so long; how many are. Raises NobodyCame where none is."""
        until = self.engine.now() + patience
        while len(self.master.alive) < workers and (left := until - self.engine.now()) > 0:
            for event in self.engine.wait(left):
                self.act(event)
        if not self.master.alive:
            raise NobodyCame(patience)
        return len(self.master.alive)

    @property
    def busy(self) -> bool:
        """Whether there is anything left to do."""
        return bool(self._tasks)

    def brief(self, job: int) -> Brief:
        """How a job is split and coded."""
        return self._tasks[job].brief

    def order(self, worker: int, ticket: Ticket, tasks: tuple[int, ...]) -> None:
        """Send tasks to a worker, before that what they are and the data they need, as far as it has not got it yet."""
        job = ticket.job
        task, known = self._tasks[job], self._opened.setdefault(worker, {})
        if job not in known:
            self.engine.send(worker, Open(job, task.work, task.brief.spec.work, task.brief.spec.shared_chunks))
            known[job] = set()
        missing = {piece for one in tasks for piece in task.work.needs(one)} - known[job]
        if missing:
            self.engine.send(worker, Supply(job, {piece: task.work.stock[piece] for piece in sorted(missing)}))
            known[job] |= missing
        self.engine.send(worker, Order(ticket, tasks, task.state if task.share is None else task.share(task.state)))

    def deliveries(self) -> Iterator[Delivery]:
        """Run until every job is delivered; each as it is."""
        while self.busy:
            yield from self.turn(None)

    def turn(self, timeout: float | None) -> list[Delivery]:
        """Wait for news, at most so long, and act on it."""
        if getattr(self.engine, "gone", False):
            raise NoWorkers(len(self._tasks))
        now = self.engine.now()
        while self._arrivals and self._arrivals[0][0] <= now:
            at, job = heapq.heappop(self._arrivals)
            self._arrived[job] = at
            if self._tasks[job].over or self._tasks[job].iteration >= self._tasks[job].brief.iterations:
                self._deliver(job, None)
            else:
                self.act(Arrived(job, now))
        if self._delivered:
            timeout = 0.0  # somebody waits for these
        for event in self.engine.wait(self._patience(now, timeout)):
            self.act(event)
        deadline = self.master.deadline
        if deadline is not None and (now := self.engine.now()) >= deadline:
            self.act(Tick(now))
        done, self._delivered = self._delivered, []
        return done

    def _patience(self, now: float, timeout: float | None) -> float | None:
        ends = [end - now for end in (self._arrivals[0][0] if self._arrivals else None, self.master.deadline) if end]
        ends += [timeout] if timeout is not None else []
        return max(min(ends), 0.0) if ends else None

    def act(self, event: Event) -> None:
        """Hand an event to the master, and do what it says, until it has nothing more to say."""
        events = [event]
        while events:
            one = events.pop(0)
            match one:
                case Finished(ticket=ticket, task=task, value=value) if ticket == self.master.ticket:
                    self._results[task] = value
                case Joined(worker=worker):
                    self._opened[worker] = {}
                case Lost(worker=worker):
                    self._opened.pop(worker, None)
            for listener in self.listeners:
                listener(one, one.at)
            for command in self.master.handle(one):
                for listener in self.listeners:
                    listener(command, one.at)
                answer = self._perform(command)
                if answer is not None:
                    events.append(answer)

    def _perform(self, command: Command) -> Event | None:
        match command:
            case Assign(worker=worker, ticket=ticket, tasks=tasks):
                return self._assign(worker, ticket, tasks)
            case Resolve(ticket=ticket, tasks=tasks):
                return self._resolve(ticket, tasks)
            case Purge(ticket=ticket, workers=workers):
                for worker in workers:
                    self.engine.send(worker, Void(ticket))
            case Deliver(job=job):
                self._deliver(job, None)
            case Abandon(job=job, reason=reason):
                self._deliver(job, reason)
            case Dismiss(worker=worker):
                dismiss = getattr(self.engine, "dismiss", None)
                if dismiss is not None:
                    dismiss(worker)
        return None

    def _assign(self, worker: int, ticket: Ticket, tasks: tuple[int, ...]) -> Event | None:
        if ticket != self._ticket:
            self._ticket, self._results = ticket, {}
            self._started.setdefault(ticket.job, self.engine.now())
        try:
            self.order(worker, ticket, tasks)
        except Exception as error:  # a lock in a closure, say
            return Refused(ticket, self.engine.now(), hopeless=f"it cannot be sent to workers: {told(error)}")
        return None

    def _resolve(self, ticket: Ticket, tasks: frozenset[int]) -> Event:
        """Decode and step on; what cannot be decoded is refused, and what is not finite is thrown away."""
        task = self._tasks[ticket.job]
        code: Code = task.brief.code
        results = {t: self._results[t] for t in tasks}
        odd = frozenset() if task.blind else odd_ones(results)
        if odd:
            shapes = sorted({str(np.shape(results[t])) for t in odd})
            why = f"of shape {' and '.join(shapes)}, unlike most, or no numbers"
            return Refused(ticket, self.engine.now(), odd, why)
        try:
            answer = None if task.blind else code.decode(results)
            state = task.step(task.state, answer, ticket.iteration)
        except Overflowed as error:
            why = f"{error}; the numbers grow beyond all bounds: take a smaller rate"
            return Refused(ticket, self.engine.now(), hopeless=f"iteration {ticket.iteration}: {why}")
        except IllConditioned as error:
            return Refused(ticket, self.engine.now(), why=str(error))
        except Undecodable as error:
            needed = sorted({piece for one in error.rejected for piece in task.work.needs(one)})
            why = f"numbers that are not finite, from chunks {needed}"
            return Refused(ticket, self.engine.now(), frozenset(error.rejected), why)
        except Exception as error:  # of the user's step, or results that are no arrays of one shape
            return Refused(ticket, self.engine.now(), hopeless=f"iteration {ticket.iteration}: {told(error)}")
        over = isinstance(state, Converged)
        task.state = state.state if isinstance(state, Converged) else state
        task.iteration = ticket.iteration + 1
        task.over = over or task.iteration >= task.brief.iterations
        if self.checkpoints is not None and (task.over or self.checkpoints.due(task.iteration)):
            try:
                self.checkpoints.save(ticket.job, Saved(task.signature, task.iteration, task.state, task.over))
            except (pickle.PicklingError, TypeError, AttributeError) as error:
                return Refused(ticket, self.engine.now(), hopeless=f"its state cannot be saved: {told(error)}")
        return Resolved(ticket, self.engine.now(), over)

    def _deliver(self, job: int, error: str | None) -> None:
        task = self._tasks.pop(job)
        now = self.engine.now()
        started = self._started.pop(job, math.nan)
        self._delivered.append(
            Delivery(job, task.name, task.state, task.iteration, self._arrived.pop(job), started, now, error)
        )
        for worker, known in self._opened.items():
            if job in known:
                del known[job]
                self.engine.send(worker, Shut(job))


def odd_ones(results: Mapping[int, Any]) -> frozenset[int]:
    """Tasks whose results are no arrays of numbers, or of another shape than most: garbage."""
    kinds = {task: _kind(value) for task, value in results.items()}
    common, _ = Counter(kinds.values()).most_common(1)[0]
    if common is None:
        return frozenset(results)
    return frozenset(task for task, kind in kinds.items() if kind != common)


def _kind(value: Any) -> tuple[int, ...] | None:
    """The shape of an array of numbers; None for anything else."""
    try:
        found = np.asarray(value)
    except ValueError:  # a ragged list
        return None
    return found.shape if found.dtype.kind in "iubfc" else None
