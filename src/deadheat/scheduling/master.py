"""The master: hears events, returns commands. No clock, no input or output, no chance: same events, same commands.

It works on one iteration at a time, of one job at a time, in the order of arrival. An iteration has a ticket; events of
any other ticket only serve the estimates. When the results at hand determine the iteration it asks for them to be
resolved, and goes on when it hears that they were.
"""

from collections import deque
from collections.abc import Iterable

from deadheat.planning import Policy, split
from deadheat.scheduling import messages
from deadheat.scheduling.adaptive_split import AdaptiveSplit
from deadheat.scheduling.estimates import Estimates
from deadheat.scheduling.messages import Command, Event, Ticket
from deadheat.scheduling.probe import Probe, task_units
from deadheat.scheduling.schedules import Progress, Schedule, Static

EXPLORED = 10  # iterations after which workers without a share get a task, to see whether they have become faster
KEPT = 8  # jobs that are over and still known, for late events
FIRST_RESULT = 20.0  # seconds that a worker has for its first result of a job at least: it may have to import much
MOST_ERRORS = 2  # times that a task may fail, or give no number, before its job is given up
STATIC = Static()


class Master:
    """One stream of jobs over workers that come and go.

    adapt: split anew as the estimates move; else what was declared of the workers decides.
    """

    def __init__(
        self,
        estimates: Estimates,
        workers: Iterable[int] = (),
        *,
        policy: Policy = split,
        gamma: float = 1.0,
        schedule: Schedule = STATIC,
        adapt: bool = True,
    ) -> None:
        self.estimates = estimates
        self.alive: set[int] = set(workers)
        self.ticket: Ticket | None = None
        self.probe: Probe | None = None  # the last one, for what it measured
        self._schedule, self._adapt = schedule, adapt
        self._split = AdaptiveSplit(estimates, policy, gamma, adapt)
        self._jobs: dict[int, messages.Arrived] = {}
        self._queue: deque[int] = deque()
        self._probing = False
        self._resolving = False
        self._progress = Progress(0, (), self._seconds)
        self._asked: dict[int, float] = {}  # when a worker without a result got its first tasks of the iteration
        self._heard: dict[int, float] = {}  # when a worker with tasks was last heard of
        self._errors: dict[int, set[int]] = {}  # of a task, the workers on which it failed
        self._discarded: dict[int, int] = {}  # of a task, how often its result was discarded
        self._computed_by: dict[int, int] = {}  # of a task, the worker that brought its result
        self._silent: set[int] = set()  # workers taken for lost because of their silence
        self._opened: set[tuple[int, int]] = set()  # workers that have brought a result of a job
        self._leniency: dict[int, float] = {}  # how many times the usual patience a worker has, after a silence
        self._fewest = 0  # results below which resolving is not tried again
        self._why = ""  # resolving was refused

    def handle(self, event: Event) -> list[Command]:
        """The commands that follow from an event."""
        match event:
            case messages.Finished(ticket=Ticket(iteration=-1)) | messages.Failed(ticket=Ticket(iteration=-1)):
                return self._probed(event)
            case messages.Finished():
                return self._finished(event)
            case messages.Stopped(worker=worker, ticket=ticket):
                commands = self._probed(event) if ticket.iteration < 0 else self._stopped(event)
                return commands + self._returned(worker, event.at)
            case messages.Refused(ticket=Ticket(iteration=-1), hopeless=reason):
                for worker in sorted(self.alive):
                    self._drop_from_probe(worker, reason)
                return self._end_probe(event.at)
            case messages.Resolved(ticket=ticket) if ticket == self.ticket:
                return self._resolved(event)
            case messages.Refused(ticket=ticket) if ticket == self.ticket:
                return self._refused(event)
            case messages.Arrived():
                self._jobs[event.job] = event
                self._queue.append(event.job)
                return self._next_job(event.at) if self.ticket is None else []
            case messages.Joined(worker=worker):
                self._forget(worker)  # one that was there has begun anew, and what it had is gone
                return self._welcome(worker, event.at)
            case messages.Lost(worker=worker):
                return self._lost(worker, event.at)
            case messages.Failed(worker=worker):
                return self._returned(worker, event.at) + self._failed(event)
            case messages.Tick(at=at):
                return self._tick(at)
            case _:
                return []  # a late event of a purged iteration

    @property
    def deadline(self) -> float | None:
        """When a Tick is due: a worker is silent for too long, or the schedule wants to look; None for never."""
        if self._probing and self.probe is not None:
            return self.probe.deadline
        if self.ticket is None or self._resolving:
            return None
        times = [self._patience(w) for w, tasks in self._progress.left.items() if tasks and w in self.alive]
        wake = self._schedule.wake(self._progress)
        return min(times if wake is None else [*times, wake], default=None)

    def state(self, worker: int) -> str:
        """What a worker is doing, in a word."""
        if worker not in self.alive:
            return "silent" if worker in self._silent else "lost"
        return "working" if self._progress.left.get(worker) else "idle"

    # Jobs and iterations

    def _next_job(self, at: float) -> list[Command]:
        before, self.ticket = self.ticket, None
        if not self._queue:
            return self._purge(before)
        job = self._jobs[self._queue.popleft()]
        if job.rounds:
            return [*self._purge(before), *self._begin_probe(job, at)]
        return self._begin(Ticket(job.job, job.first), at, before)

    def _begin(self, ticket: Ticket, at: float, before: Ticket | None) -> list[Command]:
        """Open an iteration: everybody's share, and the purge of those who get none."""
        job, workers = self._jobs[ticket.job], sorted(self.alive)
        self.ticket, self._resolving, self._fewest, self._why = ticket, False, job.code.fewest, ""
        try:
            loads = self._split.loads(ticket.job, job.spec, workers) if workers else []
            opening = self._schedule.opening(workers, loads, job.spec.critical) if workers else {}
        except Exception as error:  # of the user's policy or schedule, or workers that cannot hold the tasks
            return self._give_up(f"its tasks cannot be split: {type(error).__name__}: {error}", at)
        busy = {w for w, tasks in self._progress.left.items() if tasks}
        self._progress = Progress(job.code.total, workers, self._seconds)
        self._progress.now = at
        self._errors, self._discarded, self._asked, self._heard = {}, {}, {}, {}
        if self._adapt and ticket.iteration % EXPLORED == EXPLORED - 1:
            opening |= _copies(workers, opening)
        commands = [self._assign(worker, tuple(map(int, tasks)), at) for worker, tasks in opening.items()]
        if workers and not commands:
            commands = self._repair(at)
        idle = tuple(sorted((busy & self.alive) - set(opening)))
        return ([messages.Purge(before, idle)] if before is not None and idle else []) + commands

    def _assign(self, worker: int, tasks: tuple[int, ...], at: float) -> Command:
        assert self.ticket is not None
        self._progress.now = at
        self._progress.assign(worker, tasks)
        if worker not in self._heard:
            self._asked[worker] = at
        self._heard[worker] = at
        return messages.Assign(worker, self.ticket, tasks)

    def _purge(self, ticket: Ticket | None) -> list[Command]:
        """Tell those who are still at work that there is nothing more to do."""
        late = tuple(sorted(w for w, tasks in self._progress.left.items() if tasks and w in self.alive))
        self._progress = Progress(0, (), self._seconds)
        return [messages.Purge(ticket, late)] if ticket is not None and late else []

    def _resolved(self, event: messages.Resolved) -> list[Command]:
        ticket = event.ticket
        if event.over or ticket.iteration + 1 >= self._jobs[ticket.job].iterations:
            self._drop(ticket.job)
            return [messages.Deliver(ticket.job), *self._next_job(event.at)]
        return self._begin(Ticket(ticket.job, ticket.iteration + 1), event.at, ticket)

    def _give_up(self, reason: str, at: float) -> list[Command]:
        assert self.ticket is not None
        job = self.ticket.job
        self._drop(job)
        return [messages.Abandon(job, reason), *self._next_job(at)]

    def _drop(self, job: int) -> None:
        """Forget a job that is over; its size is kept while late events of it may come."""
        self._opened = {(worker, number) for worker, number in self._opened if number > job - KEPT}
        for old in [number for number in self._jobs if number < job - KEPT]:
            del self._jobs[old]

    # The probe

    def _begin_probe(self, job: messages.Arrived, at: float) -> list[Command]:
        self.ticket, self._probing = Ticket(job.job, -1), True
        self.probe = Probe(job, self.alive, self.estimates)
        commands = self.probe.begin(at)
        return commands if commands else self._end_probe(at)

    def _probed(self, event: messages.Finished | messages.Stopped | messages.Failed) -> list[Command]:
        if not self._probing or self.probe is None:
            return []
        return [*self.probe.handle(event), *self._end_probe(event.at)]

    def _drop_from_probe(self, worker: int, reason: str) -> None:
        if self._probing and self.probe is not None:
            self.probe.lose(worker, reason)

    def _end_probe(self, at: float) -> list[Command]:
        """Go on with the next job when the probe is over."""
        if not self._probing or self.probe is None or not self.probe.over or self.ticket is None:
            return []
        self._probing = False
        return [messages.Deliver(self.ticket.job), *self._next_job(at)]

    # Events of workers

    def _finished(self, event: messages.Finished) -> list[Command]:
        worker, at = event.worker, event.at
        commands = self._returned(worker, at)
        if event.ticket != self.ticket:
            return commands  # a late result of a purged iteration
        job = self._jobs[event.ticket.job]
        first = worker in self._asked
        self.estimates[worker].finished(event.seconds, task_units(job.spec, first))
        if first:
            comm = max(at - self._asked.pop(worker) - event.seconds, 0.0)
            self.estimates[worker].comm.add(comm, comm * comm)
        self._progress.now = at
        self._progress.finish(worker, event.task)
        self._heard[worker] = at
        self._computed_by[event.task] = worker
        self._leniency.pop(worker, None)
        self._opened.add((worker, event.ticket.job))
        if self._resolving:
            return commands
        done = self._progress.done
        if len(done) >= self._fewest and job.code.decodable(done):
            self._resolving = True
            return [*commands, messages.Resolve(event.ticket, frozenset(done))]
        return commands + self._more(worker, at)

    def _more(self, worker: int, at: float) -> list[Command]:
        """What the schedule has for a worker; and where nobody has anything left, what is missing."""
        if worker not in self._progress.left:
            return []
        try:
            tasks = tuple(t for t in self._schedule.more(worker, self._progress) if t not in self._progress.done)
        except Exception as error:  # of the user's schedule
            return self._give_up(f"its schedule failed: {type(error).__name__}: {error}", at)
        if tasks:
            return [self._assign(worker, tasks, at)]
        return [] if any(self._progress.left.values()) else self._repair(at)

    def _stopped(self, event: messages.Stopped) -> list[Command]:
        job = self._jobs.get(event.ticket.job)
        if job is not None and event.seconds > 0:
            estimate = self.estimates[event.worker]
            count = estimate.finished if event.complete else estimate.cut_off
            count(event.seconds, task_units(job.spec, event.first))
        return []

    def _welcome(self, worker: int, at: float) -> list[Command]:
        """A worker that is new or was taken for lost: from the next iteration on, or at once where it is needed."""
        if worker in self.alive:
            return []
        self.alive.add(worker)
        self._silent.discard(worker)
        if self.ticket is None or self._resolving or self._probing:
            return []
        if not self._progress.given:  # nobody was there when the iteration should have begun
            return self._begin(self.ticket, at, None)
        return self._repair(at)

    def _returned(self, worker: int, at: float) -> list[Command]:
        """Take back a worker that was only silent."""
        return self._welcome(worker, at) if worker in self._silent else []

    def _lost(self, worker: int, at: float) -> list[Command]:
        self._silent.discard(worker)
        if worker not in self.alive:
            return []
        self._forget(worker)
        if self._probing:
            self._drop_from_probe(worker, "it was lost")
            return self._end_probe(at)
        return [] if self.ticket is None or self._resolving else self._repair(at)

    def _forget(self, worker: int) -> None:
        self.alive.discard(worker)
        self._opened = {(other, job) for other, job in self._opened if other != worker}
        self._progress.left.pop(worker, None)
        self._asked.pop(worker, None)
        self._heard.pop(worker, None)

    def _failed(self, event: messages.Failed) -> list[Command]:
        if event.ticket != self.ticket:
            return []
        self._errors.setdefault(event.task, set()).add(event.worker)
        queue = self._progress.left.get(event.worker, [])
        if event.task in queue:
            queue.remove(event.task)
        self._heard[event.worker] = event.at
        if len(self._errors[event.task]) >= min(MOST_ERRORS, len(self.alive)):
            names = " and ".join(map(self.estimates.name, sorted(self._errors[event.task])))
            return self._give_up(f"task {event.task} failed on {names}: {event.error}", event.at)
        return [] if self._resolving else self._repair(event.at)

    def _refused(self, event: messages.Refused) -> list[Command]:
        """Wait for one more result, and have those that were discarded computed again."""
        if event.hopeless:
            return self._give_up(event.hopeless, event.at)
        self._resolving = False
        self._progress.done -= event.bad
        for task in event.bad:
            self._discarded[task] = self._discarded.get(task, 0) + 1
            self._errors.setdefault(task, set()).add(self._computed_by[task])  # another worker shall try
        hopeless = [task for task, times in self._discarded.items() if times >= MOST_ERRORS]
        if hopeless:
            names = " and ".join(map(self.estimates.name, sorted(self._errors[hopeless[0]])))
            reason = f"task {hopeless[0]} gave what cannot be used, {MOST_ERRORS} times, on {names}: {event.why}"
            return self._give_up(reason, event.at)
        self._fewest, self._why = len(self._progress.done) + 1, event.why
        return self._repair(event.at)

    def _tick(self, at: float) -> list[Command]:
        if self._probing and self.probe is not None:
            return [*self.probe.tick(at), *self._end_probe(at)]
        if self.ticket is None or self._resolving:
            return []
        left = self._progress.left
        silent = [w for w, tasks in left.items() if tasks and w in self.alive and at >= self._patience(w)]
        for worker in silent:
            self._forget(worker)
            self._silent.add(worker)
            self._leniency[worker] = 2 * self._leniency.get(worker, 1.0)  # its tasks may be longer than was thought
        commands: list[Command] = [
            *(messages.Dismiss(worker) for worker in silent),
            *(self._repair(at) if silent else []),
        ]
        wake = self._schedule.wake(self._progress)
        if wake is not None and at >= wake and self.ticket is not None:
            self._progress.now = at
            for worker in self._progress.idle():
                commands += self._more(worker, at)
        return commands

    def _patience(self, worker: int) -> float:
        """When a worker that is not heard of is taken for lost."""
        assert self.ticket is not None
        spec = self._jobs[self.ticket.job].spec
        patience = self.estimates.patience(worker, task_units(spec, first=True))
        if (worker, self.ticket.job) not in self._opened:
            patience = max(patience, FIRST_RESULT)
        return self._heard[worker] + patience * self._leniency.get(worker, 1.0)

    def _repair(self, at: float) -> list[Command]:
        """Give the living what is missing, if what they have would not do; give up where nothing is left to give."""
        assert self.ticket is not None
        code, left = self._jobs[self.ticket.job].code, self._progress.left
        coming = self._progress.done.union(*left.values())
        if not self.alive or self._would_do(coming):
            return []  # with nobody there the master waits
        missing = [task for task in range(code.total) if task not in coming]
        if not missing:
            if any(left.values()):
                return []
            reason = f"all {len(self._progress.done)} results together do not determine the iteration"
            return self._give_up(f"{reason}: {self._why}" if self._why else reason, at)
        extra: dict[int, list[int]] = {}
        for task in missing:
            if self._would_do(coming):
                break
            able = [w for w in self.alive if w not in self._errors.get(task, ())] or sorted(self.alive)
            soonest = self._progress.soonest(able, extra)
            extra.setdefault(soonest, []).append(task)
            coming.add(task)
        return [self._assign(worker, tuple(tasks), at) for worker, tasks in extra.items()]

    def _would_do(self, tasks: set[int]) -> bool:
        """Whether the results of these tasks would determine the iteration."""
        assert self.ticket is not None
        return len(tasks) >= self._fewest and self._jobs[self.ticket.job].code.decodable(tasks)

    def _seconds(self, worker: int) -> float:
        """The expected time of one of a worker's tasks."""
        work = 1.0 if self.ticket is None else self._jobs[self.ticket.job].spec.work
        return self.estimates.seconds(worker, self._adapt) * work


def _copies(workers: Iterable[int], opening: dict[int, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
    """For each worker without a share a copy of the last task of the longest queue."""
    longest = max(opening.values(), key=len, default=())
    return {worker: longest[-1:] for worker in workers if worker not in opening and longest}
