"""The driver: performs the master's commands on an engine, holds states and results, and decodes iterations."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deadheat.coding import IllConditioned, Overflowed, Undecodable
from deadheat.errors import DeadheatError
from deadheat.runtime.checkpoint import Checkpoints, Saved
from deadheat.runtime.chunk_library import ChunkLibrary
from deadheat.runtime.job import Converged

from deadheat.scheduling import (  # isort: skip
    PATIENCE, ROUNDS, Command, Engine, Event, Master, Program, Sample, Ticket, describe_error, messages,
)  # fmt: skip

PROBE = -1  # the number of the job that is a probe


class NobodyCame(DeadheatError):
    """No worker was ready in time."""


class JobFailed(DeadheatError):
    """A job that could not be finished; `delivery` has its last state."""

    def __init__(self, delivery: Delivery) -> None:
        super().__init__(f"job {delivery.name or delivery.job}: {delivery.error}")
        self.delivery = delivery


class NoWorkers(DeadheatError):
    """Every worker has died, again and again, and none is replaced any more."""


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
        return self.delivered - self.arrived

    @property
    def service(self) -> float:
        """Seconds from its first tasks to delivery."""
        return self.delivered - self.started


@dataclass(eq=False)
class ActiveJob:
    """A job that was submitted and is not delivered. iteration: how many are done. chunks: their numbers."""

    program: Program
    state: Any
    iteration: int
    arrived: float
    chunks: tuple[int, ...]
    started: float = math.nan
    over: bool = False
    shared: tuple[int, Any] | None = None  # what workers see of the state, and in which iteration


Listener = Callable[[Event | Command, float], None]


@dataclass(eq=False)
class Driver:
    """Runs a master on an engine. listeners are called with every event and every command, and the time."""

    master: Master
    engine: Engine
    listeners: list[Listener] = field(default_factory=list)
    checkpoints: Checkpoints | None = None
    _jobs: dict[int, ActiveJob] = field(default_factory=dict)
    _library: ChunkLibrary = field(default_factory=ChunkLibrary)
    _held: tuple[int, ...] = ()  # chunks that a probe has sent, for the first job
    _installed: dict[int, set[int]] = field(default_factory=dict)  # of each worker, the jobs whose program it has
    _stored: dict[int, set[int]] = field(default_factory=dict)  # of each worker, the chunks that it has
    _results: dict[int, Any] = field(default_factory=dict)
    _ticket: Ticket | None = None
    _delivered: list[Delivery] = field(default_factory=list)
    _next: int = 0

    def submit(
        self, program: Program, state: Any, *, arrived: float | None = None, iteration: int = 0, over: bool = False
    ) -> int:
        """Take a job, which arrived now or before; its number. iteration, over: where a checkpoint left it."""
        chunks, now = self._library.take(program.chunks), self.engine.now()
        job, self._next = self._next, self._next + 1
        arrived = now if arrived is None else arrived
        self._jobs[job] = ActiveJob(program, state, iteration, arrived, chunks, over=over)
        self._library.release(self._held)
        self._held = ()
        if over or iteration >= program.iterations:
            self._deliver(job, None)
        else:
            self.act(messages.Arrived(job, now, program.code, program.spec, program.iterations, first=iteration))
        return job

    @property
    def submitted(self) -> int:
        """How many jobs were submitted: the number of the next one."""
        return self._next

    def skip(self) -> int:
        """A number for a job that could not be prepared."""
        self._next += 1
        return self._next - 1

    def probe(self, program: Program, state: Any, rounds: int = ROUNDS, seconds: float = PATIENCE) -> dict[int, Sample]:
        """Have every worker do a few of the job's tasks; what each did, by worker. No other job may be under way."""
        now = self.engine.now()
        self._held = self._library.take(program.chunks)
        self._jobs[PROBE] = ActiveJob(program, state, 0, now, self._library.take(program.chunks))
        self.act(messages.Arrived(PROBE, now, program.code, program.spec, iterations=0, rounds=rounds, seconds=seconds))
        while self._jobs:
            self.turn(None)
        return {} if self.master.probe is None else self.master.probe.samples

    def gather(self, workers: int, patience: float = 30.0) -> int:
        """Wait until so many workers are there, at most so long; how many are. Raises NobodyCame where none is."""
        until = self.engine.now() + patience
        while len(self.master.alive) < workers and (left := until - self.engine.now()) > 0:
            for event in self.engine.wait(left):
                self.act(event)
        if not self.master.alive:
            raise NobodyCame(f"no worker came within {patience:g} s: is there room (CPUs, GPUs), and can they start?")
        return len(self.master.alive)

    def __len__(self) -> int:
        return len(self._jobs)

    def turn(self, timeout: float | None) -> list[Delivery]:
        """Wait for events, at most so long, and act on them; the jobs that are delivered."""
        if self.engine.exhausted:
            raise NoWorkers(f"all workers are gone, though replaced several times; {len(self._jobs)} jobs are not done")
        if self._delivered:
            timeout = 0.0  # somebody waits for these
        deadline = self.master.deadline
        ends = [end for end in (timeout, None if deadline is None else deadline - self.engine.now()) if end is not None]
        for event in self.engine.wait(max(min(ends), 0.0) if ends else None):
            self.act(event)
        deadline = self.master.deadline
        if deadline is not None and (now := self.engine.now()) >= deadline:
            self.act(messages.Tick(now))
        delivered, self._delivered = self._delivered, []
        return delivered

    def act(self, event: Event) -> None:
        """Hand an event to the master, and perform its commands, until there are no more."""
        events = [event]
        while events:
            current = events.pop(0)
            match current:
                case messages.Finished(ticket=ticket, task=task, value=value) if ticket == self.master.ticket:
                    self._results[task] = value
                case messages.Joined(worker=worker) | messages.Lost(worker=worker):
                    self._installed[worker], self._stored[worker] = set(), set()
            self._tell(current, current.at)
            for command in self.master.handle(current):
                self._tell(command, current.at)
                answer = self._perform(command)
                if answer is not None:
                    events.append(answer)

    def _tell(self, message: Event | Command, at: float) -> None:
        for listener in self.listeners:
            listener(message, at)

    def _perform(self, command: Command) -> Event | None:
        match command:
            case messages.Assign(worker=worker, ticket=ticket, tasks=tasks):
                return self._assign(worker, ticket, tasks)
            case messages.Resolve(ticket=ticket, tasks=tasks):
                return self._resolve(ticket, tasks)
            case messages.Purge(ticket=ticket, workers=workers):
                for worker in workers:
                    self.engine.send(worker, messages.Cancel(ticket))
            case messages.Deliver(job=job):
                self._deliver(job, None)
            case messages.Abandon(job=job, reason=reason):
                self._deliver(job, reason)
            case messages.Dismiss(worker=worker):
                self.engine.dismiss(worker)
        return None

    def _assign(self, worker: int, ticket: Ticket, tasks: tuple[int, ...]) -> Event | None:
        job = self._jobs[ticket.job]
        if ticket != self._ticket:
            self._ticket, self._results = ticket, {}
            if math.isnan(job.started):
                job.started = self.engine.now()
        try:
            self._send(worker, ticket, tasks, job)
        except Exception as error:  # a lock in a closure, say
            return messages.Refused(
                ticket, self.engine.now(), hopeless=f"it cannot be sent to workers: {describe_error(error)}"
            )
        return None

    def _send(self, worker: int, ticket: Ticket, tasks: tuple[int, ...], job: ActiveJob) -> None:
        """Send tasks, before them the program and the chunks that they need, as far as the worker has not got them."""
        installed = self._installed.setdefault(worker, set())
        stored = self._stored.setdefault(worker, set())
        if ticket.job not in installed:
            self.engine.send(worker, messages.Install(ticket.job, job.program, job.chunks))
            installed.add(ticket.job)
        needed = {job.chunks[place] for task in tasks for place in job.program.needs(task)} - stored
        if needed:
            self.engine.send(
                worker, messages.Store(ticket.job, {number: self._library[number] for number in sorted(needed)})
            )
            stored |= needed
        if job.shared is None or job.shared[0] != ticket.iteration:
            job.shared = ticket.iteration, job.program.share(job.state)
        self.engine.send(worker, messages.Compute(ticket, tasks, job.shared[1]))

    def _resolve(self, ticket: Ticket, tasks: frozenset[int]) -> Event:
        """Decode and step on; what cannot be decoded is refused, and what is not finite is discarded."""
        job, program = self._jobs[ticket.job], self._jobs[ticket.job].program
        results = {task: self._results[task] for task in tasks}
        odd = program.rejected(results)
        if odd:
            shapes = sorted({str(np.shape(results[task])) for task in odd})
            why = f"of shape {' and '.join(shapes)}, unlike most, or no numbers"
            return messages.Refused(ticket, self.engine.now(), odd, why)
        try:
            answer = program.decode(results)
            state = program.step(job.state, answer, ticket.iteration)
        except Overflowed as error:
            why = f"{error}; the numbers grow beyond all bounds: take a smaller rate"
            return messages.Refused(ticket, self.engine.now(), hopeless=f"iteration {ticket.iteration}: {why}")
        except IllConditioned as error:
            return messages.Refused(ticket, self.engine.now(), why=str(error))
        except Undecodable as error:
            needed = sorted({place for task in error.rejected for place in program.needs(task)})
            why = f"numbers that are not finite, from chunks {needed}"
            return messages.Refused(ticket, self.engine.now(), frozenset(error.rejected), why)
        except Exception as error:  # of the user's step, or results that are no arrays of one shape
            return messages.Refused(
                ticket, self.engine.now(), hopeless=f"iteration {ticket.iteration}: {describe_error(error)}"
            )
        converged = isinstance(state, Converged)
        job.state, job.iteration = state.state if isinstance(state, Converged) else state, ticket.iteration + 1
        job.over = converged or job.iteration >= program.iterations
        if self.checkpoints is not None and (job.over or self.checkpoints.due(job.iteration)):
            try:
                self.checkpoints.save(ticket.job, Saved(signature(program), job.iteration, job.state, job.over))
            except (pickle.PicklingError, TypeError, AttributeError, ValueError, RecursionError, OSError) as error:
                why = f"its state cannot be saved: {describe_error(error)}"
                return messages.Refused(ticket, self.engine.now(), hopeless=why)
        return messages.Resolved(ticket, self.engine.now(), converged)

    def _deliver(self, number: int, error: str | None) -> None:
        job = self._jobs.pop(number)
        unused = self._library.release(job.chunks)
        for worker, installed in self._installed.items():
            gone = unused & self._stored[worker]
            if gone or number in installed:
                installed.discard(number)
                self._stored[worker] -= gone
                self.engine.send(worker, messages.Forget(number, tuple(sorted(gone))))
        self.engine.release(number, unused)
        if number != PROBE:
            self._delivered.append(
                Delivery(
                    job=number, name=job.program.name, state=job.state, iterations=job.iteration,
                    arrived=job.arrived, started=job.started, delivered=self.engine.now(), error=error,
                )
            )  # fmt: skip


def signature(program: Program) -> str:
    """What tells a job from others, for checkpoints: its name, its code and its length."""
    code = program.code
    return f"{program.name} ({code.family}, {code.critical} of {code.total}, {program.iterations} iterations)"
