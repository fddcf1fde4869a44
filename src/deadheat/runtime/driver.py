"""The driver: performs the master's commands on an engine, holds states and results, and decodes iterations."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deadheat.coding import IllConditioned, Overflowed, Undecodable
from deadheat.errors import DeadheatError
from deadheat.runtime.active_job import ActiveJob
from deadheat.runtime.checkpoint import Checkpoints, Saved
from deadheat.runtime.chunk_library import ChunkLibrary
from deadheat.runtime.delivery import Delivery
from deadheat.runtime.result_checks import CheckTally, ResultChecks, Verdict, usable

from deadheat.scheduling import (  # isort: skip
    PATIENCE, ROUNDS, Command, Engine, Event, Master, Program, Sample, Ticket, describe_error, messages,
)  # fmt: skip

PROBE = -1  # the number of the job that is a probe
MOST_REMARKS = 100
LOOK = 0.1  # seconds between two questions whether a probe shall go on
logger = logging.getLogger("deadheat")


class NobodyCame(DeadheatError):
    """No worker was ready in time."""


class NoWorkers(DeadheatError):
    """Every worker has died, again and again, and none is replaced any more."""


Listener = Callable[[Event | Command, float], None]


@dataclass(eq=False)
class Driver:
    """Runs a master on an engine. listeners are called with every event and every command, and the time.

    checks: the part of tasks that are checked, 0 for none; thrifty: not at the cost of much time.
    tally: what the checks have shown so far.
    remarks: what went wrong on the way without ending anything, each once.
    """

    master: Master
    engine: Engine
    listeners: list[Listener] = field(default_factory=list)
    checkpoints: Checkpoints | None = None
    checks: float = 0.0
    thrifty: bool = True
    tally: CheckTally = field(default_factory=CheckTally)
    remarks: list[str] = field(default_factory=list)
    _jobs: dict[int, ActiveJob] = field(default_factory=dict)
    _library: ChunkLibrary = field(default_factory=ChunkLibrary)
    _held: tuple[int, ...] = ()  # chunks that a probe has sent, for the first job
    _installed: dict[int, set[int]] = field(default_factory=dict)  # of each worker, the jobs whose program it has
    _stored: dict[int, set[int]] = field(default_factory=dict)  # of each worker, the chunks that it has
    _results: dict[int, list[tuple[int, Any]]] = field(default_factory=dict)  # of a task, each worker with its result
    _ticket: Ticket | None = None
    _delivered: list[Delivery] = field(default_factory=list)
    _next: int = 0

    def submit(
        self, program: Program, state: Any, *, arrived: float | None = None, saved: Saved | None = None,
        fingerprint: str = "",
    ) -> int:  # fmt: skip
        """Take a job, which arrived now or before; its number. saved: where a checkpoint left it."""
        chunks, now = self._library.take(program.chunks), self.engine.now()
        number, self._next = self._next, self._next + 1
        job = self._jobs[number] = ActiveJob(
            program, state, 0, now if arrived is None else arrived, chunks, self._checks_of(program), fingerprint
        )
        if saved is not None:
            job.start, job.first, job.over = saved.state, saved.iteration, saved.over
            job.converged, job.ended = saved.converged, saved.ended
            job.begin()
        self._library.release(self._held)
        self._held = ()
        if job.over or job.first >= program.iterations:
            self._deliver(number, None)
        else:
            checked = job.checks is not None and not job.checks.off and not program.verifies  # which needs no copies
            parity = job.checks is not None and job.checks.by_parity
            self.act(
                messages.Arrived(
                    number, now, program.code, program.spec, program.iterations, first=job.first,
                    patience=program.patience, checks=self.checks if checked else 0.0, parity=parity,
                    thrifty=self.thrifty,
                )
            )  # fmt: skip
        return number

    def _checks_of(self, program: Program) -> ResultChecks | None:
        return ResultChecks(program, self.checks) if self.checks else None

    @property
    def submitted(self) -> int:
        """How many jobs were submitted: the number of the next one."""
        return self._next

    def skip(self) -> int:
        """A number for a job that could not be prepared."""
        self._next += 1
        return self._next - 1

    def probe(
        self, program: Program, state: Any, rounds: int = ROUNDS, seconds: float = PATIENCE,
        go_on: Callable[[], bool] = lambda: True,
    ) -> dict[int, Sample]:  # fmt: skip
        """Have every worker do a few of the job's tasks; what each did, by worker. No other job may be under way.

        go_on: asked now and then, whether to.
        """
        if program.patience is not None:
            seconds = min(seconds, rounds * program.patience)  # a task that never ends shall not hold up a probe either
        now = self.engine.now()
        self._held = self._library.take(program.chunks)
        self._jobs[PROBE] = ActiveJob(program, state, 0, now, self._library.take(program.chunks))
        self.act(messages.Arrived(PROBE, now, program.code, program.spec, iterations=0, rounds=rounds, seconds=seconds))
        while self._jobs and go_on():
            self.turn(LOOK)
        return {} if self.master.probe is None else self.master.probe.samples

    def gather(self, workers: int, patience: float = 30.0) -> int:
        """Wait until so many workers are there, at most so long; how many are. Raises NobodyCame where none is."""
        until = self.engine.now() + patience
        while len(self.master.alive) < workers and (left := until - self.engine.now()) > 0:
            if self.engine.exhausted:
                break
            for event in self.engine.wait(left):
                self.act(event)
        if not self.master.alive:
            why = f"no worker came within {patience:g} s: is there room (CPUs, GPUs), and can they start?"
            raise NobodyCame(why + self._ends())
        return len(self.master.alive)

    def __len__(self) -> int:
        return len(self._jobs)

    def turn(self, timeout: float | None) -> list[Delivery]:
        """Wait for events, at most so long, and act on them; the jobs that are delivered."""
        if self.engine.exhausted:
            why = f"all workers are gone, though replaced several times; {len(self._jobs)} jobs are not done"
            raise NoWorkers(why + self._ends())
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

    def _ends(self) -> str:
        """How workers ended, as far as the engine knows, to be added to an error."""
        name = self.master.estimates.name
        return "".join(f"; {name(worker)} {reason}" for worker, reason in sorted(self.engine.reasons.items())[:3])

    def act(self, event: Event) -> None:
        """Hand an event to the master, and perform its commands, until there are no more."""
        events = [event]
        while events:
            current = events.pop(0)
            match current:
                case messages.Finished(worker=worker) if worker not in self.master.banned:
                    self._take(current)
                case messages.Joined(worker=worker) | messages.Lost(worker=worker):
                    self._installed[worker], self._stored[worker] = set(), set()
            self._tell(current, current.at)
            for command in self.master.handle(current):
                self._tell(command, current.at)
                answer = self._perform(command)
                if answer is not None:
                    events.append(answer)

    def _take(self, event: messages.Finished) -> None:
        """Keep a result of the iteration at work."""
        if event.ticket == self.master.ticket:
            results = self._results.setdefault(event.task, [])
            self.tally.count(event.seconds, copy=bool(results))
            results.append((event.worker, event.value))

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
            case messages.Dismiss(worker=worker, for_good=True):
                self.engine.expel(worker)
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
        if job.shared is None or job.shared[0] != ticket:
            job.shared = ticket, job.program.share(job.state)
        self.engine.send(worker, messages.Compute(ticket, tasks, job.shared[1]))

    def _resolve(self, ticket: Ticket, tasks: frozenset[int]) -> Event:
        """Check, decode and step on; what cannot be decoded is refused, and what is not finite is discarded."""
        job, program = self._jobs[ticket.job], self._jobs[ticket.job].program
        banned = self.master.banned
        received = {task: [pair for pair in self._results[task] if pair[0] not in banned] for task in tasks}
        results = {task: self._chosen(program, pairs) for task, pairs in received.items()}
        odd = program.rejected(results)
        if odd:
            shapes = sorted({str(np.shape(results[task])) for task in odd})
            why = f"of shape {' and '.join(shapes)}, unlike most, or no numbers"
            self._forget_results(odd)
            return messages.Refused(ticket, self.engine.now(), odd, why)
        verdict = self._judged(job, received)
        doubt = self._doubt(ticket, job, verdict)
        if doubt is not None:
            return doubt
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
            self._forget_results(error.rejected)
            return messages.Refused(ticket, self.engine.now(), frozenset(error.rejected), why)
        except Exception as error:  # of the user's step, or results that are no arrays of one shape
            return messages.Refused(
                ticket, self.engine.now(), hopeless=f"iteration {ticket.iteration}: {describe_error(error)}"
            )
        job.unchecked |= {worker for task in tasks - verdict.verified for worker, _ in received[task]}
        job.step(state)
        if self.checkpoints is not None and (job.over or self.checkpoints.due(job.iteration)):
            failure = self._save(self.checkpoints, ticket.job)
            if failure is not None:
                return messages.Refused(ticket, self.engine.now(), hopeless=failure)
        return messages.Resolved(ticket, self.engine.now(), job.converged)

    def _chosen(self, program: Program, pairs: Sequence[tuple[int, Any]]) -> Any:
        """The result of a task; of several, the first that is finite numbers."""
        several = pairs[1:] and (value for _, value in pairs if usable(program, value))
        return next(iter(several), pairs[0][1])

    def _forget_results(self, tasks: Iterable[int]) -> None:
        """Drop results that cannot be used, so that others can take their place."""
        for task in tasks:
            self._results.pop(task, None)

    def _judged(self, job: ActiveJob, received: dict[int, list[tuple[int, Any]]]) -> Verdict:
        """What the checks of its results say of an iteration."""
        if job.checks is None:
            return Verdict()
        began = time.perf_counter()
        verdict = job.checks.judge(received, None if job.shared is None else job.shared[1])
        self.tally.add(verdict, time.perf_counter() - began)
        if job.checks.by_parity and len(received) > job.program.code.critical:
            self.tally.count_spare(len(received) - job.program.code.critical)
        if job.checks.off:
            self._remark(f"job {job.program.name or '(without a name)'} is not checked: {job.checks.off}")
        return verdict

    def _doubt(self, ticket: Ticket, job: ActiveJob, verdict: Verdict) -> Event | None:
        """What to do where results may be wrong; None where there is nothing against them."""
        now = self.engine.now()
        if verdict.wrong:
            back = bool(verdict.wrong & job.unchecked)
            names = ", ".join(map(self.master.estimates.name, sorted(verdict.wrong)))
            if back:
                job.begin()
                job.checks = self._checks_of(job.program)
                self._remark(f"{names} gave wrong results: job {job.program.name or ticket.job} was begun anew")
                if self.checkpoints is not None:
                    self._save(self.checkpoints, ticket.job)
            for worker in sorted(verdict.wrong):
                if self.tally.unchecked[worker]:
                    name, jobs = self.master.estimates.name(worker), self.tally.unchecked[worker]
                    self._remark(f"{name} worked on {jobs} jobs that were delivered before, unchecked in part")
            return messages.Convicted(ticket, now, verdict.wrong, back)
        if verdict.undecided:
            return messages.Refused(ticket, now, hopeless=f"iteration {ticket.iteration}: {verdict.undecided}")
        if verdict.doubted:
            return messages.Doubted(ticket, now, verdict.doubted)
        if verdict.more:
            return messages.Refused(ticket, now, why="the results do not fit together")
        return None

    def _save(self, checkpoints: Checkpoints, number: int) -> str | None:
        """Write a job's checkpoint; why it can never be written, in words. A disk that is full ends nothing."""
        try:
            checkpoints.save(number, self._jobs[number].saved())
        except OSError as error:
            name = self._jobs[number].program.name or number
            self._remark(f"the checkpoint of job {name} cannot be written: {error.strerror or error}")
        except Exception as error:  # pickle raises nearly anything
            return f"its state cannot be saved: {describe_error(error)}"
        return None

    def _remark(self, text: str) -> None:
        if text not in self.remarks and len(self.remarks) < MOST_REMARKS:
            self.remarks.append(text)
            logger.warning(text)

    def _deliver(self, number: int, error: str | None) -> None:
        job = self._jobs.pop(number)
        self.tally.unchecked.update(job.unchecked)
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
                    converged=job.converged, ended=job.ended if error is None else f"given up: {error}",
                )
            )  # fmt: skip
