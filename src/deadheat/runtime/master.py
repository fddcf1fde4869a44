"""The master: hears events, says commands. No clock, no input or output, no chance: the same events, the same words.

It works on one iteration at a time, of one job at a time, in the order of arrival. An iteration has a ticket; news of
any other ticket only serves the estimates. When the results at hand determine the iteration it asks for them to be
resolved, and goes on when it hears that they were.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from deadheat.runtime.briefs import Brief
from deadheat.runtime.estimates import Estimates
from deadheat.runtime.loads import Loads
from deadheat.runtime.messages import (
    Abandon,
    Arrived,
    Assign,
    Command,
    Deliver,
    Dismiss,
    Event,
    Failed,
    Finished,
    Joined,
    Lost,
    Purge,
    Refused,
    Resolve,
    Resolved,
    Stopped,
    Tick,
    Ticket,
)
from deadheat.runtime.schedules import View

EXPLORED = 10  # iterations after which workers without a share get a task, to see whether they have become faster
KEPT = 8  # jobs that are over and still known, for late news
OPENING = 20.0  # seconds that a worker has for the first result of a job at least: it may have to import much
MOST_ERRORS = 2  # times that a task may fail, or give no number, before its job is given up


class Master:
    """One stream of jobs over workers that come and go."""

    def __init__(self, estimates: Estimates, workers: Iterable[int] = ()) -> None:
        self.estimates = estimates
        self.alive: set[int] = set(workers)
        self.ticket: Ticket | None = None
        self._briefs: dict[int, Brief] = {}
        self._first: dict[int, int] = {}  # the iteration at which a job begins
        self._queue: deque[int] = deque()
        self._loads = Loads(estimates)
        self._resolving = False
        self._done: set[int] = set()
        self._given: set[int] = set()
        self._left: dict[int, list[int]] = {}  # of each worker, in order
        self._asked: dict[int, float] = {}  # when a worker got its first order of the ticket
        self._heard: dict[int, float] = {}  # when a worker with tasks was last heard of
        self._errors: dict[int, set[int]] = {}  # of a task, the workers on which it failed
        self._thrown: dict[int, int] = {}  # of a task, how often its result was thrown away
        self._by: dict[int, int] = {}  # of a task, who brought its result
        self._silent: set[int] = set()  # taken for lost because of their silence
        self._opened: set[tuple[int, int]] = set()  # workers that have brought a result of a job
        self._longer: dict[int, float] = {}  # how many times the usual patience a worker has, after that
        self._enough = 0  # results below which resolving is not tried again
        self._why = ""  # it was refused

    def introduce(self, job: int, brief: Brief, iteration: int = 0) -> None:
        """Make a job known before it arrives; iteration: where it goes on, for one that was begun before."""
        self._briefs[job] = brief
        self._first[job] = iteration

    def handle(self, event: Event) -> list[Command]:
        """What to do about an event."""
        match event:
            case Finished():
                return self._finished(event)
            case Stopped(worker=worker):
                return self._stopped(event) + self._back(worker, event.at)
            case Resolved(ticket=ticket) if ticket == self.ticket:
                return self._resolved(event)
            case Refused(ticket=ticket) if ticket == self.ticket:
                return self._refused(event)
            case Arrived():
                self._queue.append(event.job)
                return self._next_job(event.at) if self.ticket is None else []
            case Joined(worker=worker):
                self._forget(worker)  # one that was there has begun anew, and what it had is gone
                return self._welcome(worker, event.at)
            case Lost(worker=worker):
                return self._lost(worker, event.at)
            case Failed():
                return self._failed(event)
            case Tick(at=at):
                return self._tick(at)
            case _:
                return []  # late news of a purged iteration

    @property
    def deadline(self) -> float | None:
        """When somebody will have been silent for too long; None while nobody is waited for."""
        if self.ticket is None or self._resolving:
            return None
        return min((self._patience(w) for w, tasks in self._left.items() if tasks and w in self.alive), default=None)

    def state(self, worker: int) -> str:
        """What a worker is doing, in a word."""
        if worker not in self.alive:
            return "silent" if worker in self._silent else "lost"
        return "working" if self._left.get(worker) else "idle"

    # Jobs and iterations

    def _next_job(self, at: float) -> list[Command]:
        old, self.ticket = self.ticket, None
        if not self._queue:
            return self._purge(old)
        job = self._queue.popleft()
        return self._begin(Ticket(job, self._first[job]), at, old)

    def _begin(self, ticket: Ticket, at: float, old: Ticket | None) -> list[Command]:
        """Open an iteration: everybody's share, and the purge of those who get none."""
        brief = self._briefs[ticket.job]
        busy = {w for w, tasks in self._left.items() if tasks}
        self.ticket, self._resolving, self._enough, self._why = ticket, False, brief.code.fewest, ""
        self._done, self._given, self._errors, self._thrown = set(), set(), {}, {}
        self._left, self._asked, self._heard = {}, {}, {}
        workers = sorted(self.alive)
        opening = brief.schedule.opening(workers, self._loads.of(ticket.job, brief, workers)) if workers else {}
        if brief.adapt and ticket.iteration % EXPLORED == EXPLORED - 1:
            opening |= _copies(workers, opening)
        commands = [self._assign(worker, tasks, at) for worker, tasks in opening.items()]
        idle = tuple(sorted((busy & self.alive) - set(opening)))
        return ([Purge(old, idle)] if old is not None and idle else []) + commands

    def _assign(self, worker: int, tasks: tuple[int, ...], at: float) -> Command:
        assert self.ticket is not None
        self._left.setdefault(worker, []).extend(tasks)
        self._given.update(tasks)
        self._asked.setdefault(worker, at)
        self._heard[worker] = at
        return Assign(worker, self.ticket, tasks)

    def _purge(self, ticket: Ticket | None) -> list[Command]:
        """Tell those who are still at work that there is nothing more to do."""
        late = tuple(sorted(w for w, tasks in self._left.items() if tasks and w in self.alive))
        self._left = {}
        return [Purge(ticket, late)] if ticket is not None and late else []

    def _resolved(self, event: Resolved) -> list[Command]:
        ticket = event.ticket
        brief = self._briefs[ticket.job]
        if event.over or ticket.iteration + 1 >= brief.iterations:
            self._drop(ticket.job)
            return [Deliver(ticket.job), *self._next_job(event.at)]
        return self._begin(Ticket(ticket.job, ticket.iteration + 1), event.at, ticket)

    def _give_up(self, reason: str, at: float) -> list[Command]:
        assert self.ticket is not None
        job = self.ticket.job
        self._drop(job)
        return [Abandon(job, reason), *self._next_job(at)]

    def _drop(self, job: int) -> None:
        """A job that is over is forgotten; its size is kept while late news of it may come."""
        self._opened = {(worker, known) for worker, known in self._opened if known > job - KEPT}
        for old in [known for known in self._briefs if known < job - KEPT]:
            del self._briefs[old], self._first[old]

    # News of workers

    def _finished(self, event: Finished) -> list[Command]:
        worker, at = event.worker, event.at
        commands = self._back(worker, at)
        if event.ticket != self.ticket:
            return commands  # late news of a purged iteration
        brief = self._briefs[event.ticket.job]
        first = worker in self._asked
        units = brief.spec.work * (1 + brief.spec.shared_chunks if first else 1)
        self.estimates[worker].finished(event.seconds, units)
        if first:
            comm = max(at - self._asked.pop(worker) - event.seconds, 0.0)
            self.estimates[worker].comm.add(comm, comm * comm)
        left = self._left.get(worker, [])
        if event.task in left:
            left.remove(event.task)
        self._heard[worker] = at
        self._done.add(event.task)
        self._by[event.task] = worker
        self._longer.pop(worker, None)
        self._opened.add((worker, event.ticket.job))
        if self._resolving:
            return commands
        if len(self._done) >= self._enough and brief.code.decodable(self._done):
            self._resolving = True
            return [*commands, Resolve(event.ticket, frozenset(self._done))]
        return commands + (self._idle(worker, brief, at) if not left else [])

    def _idle(self, worker: int, brief: Brief, at: float) -> list[Command]:
        """What the schedule has for a worker that is done; and where nobody has anything left, what is missing."""
        mean = {w: self.estimates[w].work.mean for w in self._left}
        view = View(brief.code.total, frozenset(self._given), self._left, mean)
        tasks = tuple(task for task in brief.schedule.idle(worker, view) if task not in self._done)
        if tasks:
            return [self._assign(worker, tasks, at)]
        return [] if any(self._left.values()) else self._repair(at)

    def _stopped(self, event: Stopped) -> list[Command]:
        brief = self._briefs.get(event.ticket.job)
        if brief is not None and event.seconds > 0:
            estimate, spec = self.estimates[event.worker], brief.spec
            units = spec.work * (1 + spec.shared_chunks if event.first else 1)
            (estimate.finished if event.complete else estimate.cut_off)(event.seconds, units)
        return []

    def _welcome(self, worker: int, at: float) -> list[Command]:
        """A worker that is new or was taken for lost: from the next iteration on, or at once where it is needed."""
        if worker in self.alive:
            return []
        self.alive.add(worker)
        self._silent.discard(worker)
        if self.ticket is None or self._resolving:
            return []
        if not self._given:  # nobody was there when the iteration should have begun
            return self._begin(self.ticket, at, None)
        return self._repair(at)

    def _back(self, worker: int, at: float) -> list[Command]:
        """News of a worker that was only silent."""
        return self._welcome(worker, at) if worker in self._silent else []

    def _lost(self, worker: int, at: float) -> list[Command]:
        self._silent.discard(worker)
        if worker not in self.alive:
            return []
        self._forget(worker)
        return [] if self.ticket is None or self._resolving else self._repair(at)

    def _forget(self, worker: int) -> None:
        self.alive.discard(worker)
        self._opened = {(one, job) for one, job in self._opened if one != worker}
        self._left.pop(worker, None)
        self._asked.pop(worker, None)

    def _failed(self, event: Failed) -> list[Command]:
        if event.ticket != self.ticket:
            return []
        self._errors.setdefault(event.task, set()).add(event.worker)
        left = self._left.get(event.worker, [])
        if event.task in left:
            left.remove(event.task)
        self._heard[event.worker] = event.at
        if len(self._errors[event.task]) >= min(MOST_ERRORS, len(self.alive)):
            names = " and ".join(map(self.estimates.name, sorted(self._errors[event.task])))
            return self._give_up(f"task {event.task} failed on {names}: {event.error}", event.at)
        return [] if self._resolving else self._repair(event.at)

    def _refused(self, event: Refused) -> list[Command]:
        """Wait for one more result, and have those that were thrown away computed again."""
        if event.hopeless:
            return self._give_up(event.hopeless, event.at)
        self._resolving = False
        self._done -= event.bad
        for task in event.bad:
            self._thrown[task] = self._thrown.get(task, 0) + 1
            self._errors.setdefault(task, set()).add(self._by[task])  # another one shall try
        hopeless = [task for task, times in self._thrown.items() if times >= MOST_ERRORS]
        if hopeless:
            names = " and ".join(map(self.estimates.name, sorted(self._errors[hopeless[0]])))
            told = f"task {hopeless[0]} gave what cannot be used, {MOST_ERRORS} times, on {names}: {event.why}"
            return self._give_up(told, event.at)
        self._enough, self._why = len(self._done) + 1, event.why
        return self._repair(event.at)

    def _tick(self, at: float) -> list[Command]:
        if self.ticket is None or self._resolving:
            return []
        silent = [w for w, tasks in self._left.items() if tasks and w in self.alive and at >= self._patience(w)]
        for worker in silent:
            self._forget(worker)
            self._silent.add(worker)
            self._longer[worker] = 2 * self._longer.get(worker, 1.0)  # its tasks may be longer than was thought
        return [*(Dismiss(worker) for worker in silent), *(self._repair(at) if silent else [])]

    def _patience(self, worker: int) -> float:
        assert self.ticket is not None
        spec = self._briefs[self.ticket.job].spec
        patience = self.estimates.patience(worker, spec.work * (1 + spec.shared_chunks))
        if (worker, self.ticket.job) not in self._opened:
            patience = max(patience, OPENING)
        return self._heard[worker] + patience * self._longer.get(worker, 1.0)

    def _repair(self, at: float) -> list[Command]:
        """Give the living what is missing, if what they have would not do; give up where nothing is left to give."""
        assert self.ticket is not None
        brief = self._briefs[self.ticket.job]
        coming = self._done.union(*self._left.values()) if self._left else set(self._done)
        enough = len(coming) >= self._enough and brief.code.decodable(coming)
        if enough or not self.alive:
            return []  # with nobody there the master waits
        missing = [task for task in range(brief.code.total) if task not in coming]
        if not missing:
            if any(self._left.values()):
                return []
            told = f"all {len(self._done)} results together do not determine the iteration"
            return self._give_up(f"{told}: {self._why}" if self._why else told, at)
        wanted: dict[int, list[int]] = {}
        for task in missing:
            if len(coming) >= self._enough and brief.code.decodable(coming):
                break
            able = [w for w in self.alive if w not in self._errors.get(task, ())] or sorted(self.alive)
            soonest = min(able, key=lambda w: (self._ahead(w, wanted.get(w, ())), w))
            wanted.setdefault(soonest, []).append(task)
            coming.add(task)
        return [self._assign(worker, tuple(tasks), at) for worker, tasks in wanted.items()]

    def _ahead(self, worker: int, more: Iterable[int]) -> float:
        """About how long a worker would take for what it has and one more."""
        now = self.estimates[worker]
        count = len(self._left.get(worker, ())) + len(list(more)) + 1
        return now.work.mean * count


def _copies(workers: Iterable[int], opening: dict[int, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
    """For each worker without a share a copy of the last task of the longest row."""
    longest = max(opening.values(), key=len, default=())
    return {worker: longest[-1:] for worker in workers if worker not in opening and longest}
