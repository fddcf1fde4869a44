"""The master: hears events, returns commands. No clock, no input or output, no chance: same events, same commands.

It works on one iteration at a time, of one job at a time, in the order of arrival. An iteration has a ticket; events of
any other ticket only serve the estimates. When the results at hand determine the iteration it asks for them to be
resolved, and goes on when it hears that they were.
"""

from collections import deque
from collections.abc import Iterable

from deadheat.coding import codes
from deadheat.planning import Policy, split
from deadheat.scheduling import messages
from deadheat.scheduling.adaptive_split import AdaptiveSplit
from deadheat.scheduling.estimates import Estimates
from deadheat.scheduling.iteration import MOST_ERRORS, Iteration
from deadheat.scheduling.losses import Losses
from deadheat.scheduling.messages import Command, Event, Ticket
from deadheat.scheduling.probe import Probe, task_units
from deadheat.scheduling.schedules import Progress, Schedule, Static
from deadheat.scheduling.spot_checks import EXPLORED, SpotChecks, exploratory_copies

KEPT = 8  # jobs that are over and still known, for late events
ALL_BANNED = "every worker was found to give wrong results"
STATIC, NOTHING = Static(), codes.uncoded(1)


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
        self.banned: set[int] = set()  # workers that gave wrong results
        self._seen = set(self.alive)  # workers that have ever been there
        self.ticket: Ticket | None = None
        self.probe: Probe | None = None  # the last one, for what it measured
        self._schedule, self._adapt = schedule, adapt
        self._split = AdaptiveSplit(estimates, policy, gamma, adapt)
        self._jobs: dict[int, messages.Arrived] = {}
        self._queue: deque[int] = deque()
        self._probing = False
        self._resolving = False
        self._iteration = Iteration(NOTHING, (), self._seconds)
        self._asked: dict[int, float] = {}  # when a worker without a result got its first tasks of the iteration
        self._losses = Losses(estimates)
        self._spot_checks = SpotChecks()

    @property
    def _progress(self) -> Progress:
        return self._iteration.progress

    def handle(self, event: Event) -> list[Command]:
        """The commands that follow from an event."""
        match event:
            case messages.Finished() | messages.Failed() | messages.Joined() if event.worker in self.banned:
                return []
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
            case messages.Doubted(ticket=ticket) if ticket == self.ticket:
                self._resolving = False
                self._iteration.doubt(event.tasks)
                return self._repair(event.at)
            case messages.Convicted(ticket=ticket) if ticket == self.ticket:
                return self._convicted(event)
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
        times = [due for due, _, _ in self._due()] + ([] if self._iteration.until is None else [self._iteration.until])
        wake = self._schedule.wake(self._progress)
        return min(times if wake is None else [*times, wake], default=None)

    def state(self, worker: int) -> str:
        """What a worker is doing, in a word."""
        if worker in self.banned:
            return "wrong results"
        if worker not in self.alive:
            return "silent" if worker in self._losses.silent else "lost"
        return "working" if self._progress.left.get(worker) else "idle"

    # Jobs and iterations

    def _next_job(self, at: float) -> list[Command]:
        before, self.ticket = self.ticket, None
        if not self._queue:
            return self._purge(before)
        job = self._jobs[self._queue.popleft()]
        self._losses.begin_job()
        if job.rounds:
            return [*self._purge(before), *self._begin_probe(job, at)]
        return self._begin(Ticket(job.job, job.first), at, before)

    def _begin(self, ticket: Ticket, at: float, before: Ticket | None) -> list[Command]:
        """Open an iteration: everybody's share, and the purge of those who get none."""
        job, workers = self._jobs[ticket.job], sorted(self.alive)
        self.ticket, self._resolving = ticket, False
        if self._all_banned:
            return self._give_up(ALL_BANNED, at)
        try:
            loads = self._split.loads(ticket.job, job.spec, workers) if workers else []
            opening = self._schedule.opening(workers, loads, job.spec.critical) if workers else {}
        except Exception as error:  # of the user's policy or schedule, or workers that cannot hold the tasks
            return self._give_up(f"its tasks cannot be split: {type(error).__name__}: {error}", at)
        busy = {w for w, tasks in self._progress.left.items() if tasks}
        self._iteration, self._asked = Iteration(job.code, workers, self._seconds, at), {}
        self._losses.begin_iteration()
        opening, self._iteration.spot_checks = self._spot_checks.chosen(job, opening, workers, self._expected)
        if self._iteration.spot_checks and job.parity:
            self._iteration.wait_for(job.code.critical + 1)
        if self._adapt and ticket.iteration % EXPLORED == EXPLORED - 1:
            opening |= exploratory_copies(workers, opening)
        commands = [self._assign(worker, tuple(map(int, tasks)), at) for worker, tasks in opening.items()]
        if workers and not commands:
            commands = self._repair(at)
        idle = tuple(sorted((busy & self.alive) - set(opening)))
        return ([messages.Purge(before, idle)] if before is not None and idle else []) + commands

    def _assign(self, worker: int, tasks: tuple[int, ...], at: float) -> Command:
        assert self.ticket is not None
        self._progress.now = at
        self._progress.assign(worker, tasks)
        if not self._losses.knows(worker):
            self._asked[worker] = at
        self._losses.hear(worker, at)
        return messages.Assign(worker, self.ticket, tasks)

    def _purge(self, ticket: Ticket | None) -> list[Command]:
        """Tell those who are still at work that there is nothing more to do."""
        late = tuple(sorted(w for w, tasks in self._progress.left.items() if tasks and w in self.alive))
        self._iteration = Iteration(NOTHING, (), self._seconds)
        return [messages.Purge(ticket, late)] if ticket is not None and late else []

    def _resolved(self, event: messages.Resolved) -> list[Command]:
        ticket = event.ticket
        if event.over or ticket.iteration + 1 >= self._jobs[ticket.job].iterations:
            self._drop(ticket.job)
            return [messages.Deliver(ticket.job), *self._next_job(event.at)]
        self._spot_checks.earn(event.at - self._iteration.began)
        return self._begin(ticket.next, event.at, ticket)

    def _give_up(self, reason: str, at: float) -> list[Command]:
        assert self.ticket is not None
        job = self.ticket.job
        self._drop(job)
        return [messages.Abandon(job, reason), *self._next_job(at)]

    def _drop(self, job: int) -> None:
        """Forget a job that is over; its size is kept while late events of it may come."""
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
        self._iteration.finish(worker, event.task)
        self._losses.result(worker, at)
        return commands + (self._resolve(at) or self._more(worker, at))

    def _resolve(self, at: float) -> list[Command]:
        """Ask for the iteration to be decoded, if it is ready for that."""
        job = None if self.ticket is None or self._resolving else self._jobs[self.ticket.job]
        if self.ticket is None or job is None or not self._iteration.ready(at, self._spot_checks.allowed(job)):
            return []
        self._spot_checks.waited(at - (at if self._iteration.held_up is None else self._iteration.held_up))
        self._resolving = True
        return [messages.Resolve(self.ticket, frozenset(self._progress.done))]

    def _more(self, worker: int, at: float) -> list[Command]:
        """What the schedule has for a worker; and where nobody has anything left, what is missing."""
        if worker not in self._progress.left or self._resolving:
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
        self._seen.add(worker)
        self._losses.silent.discard(worker)
        if self.ticket is None or self._resolving or self._probing:
            return []
        if not self._progress.given:  # nobody was there when the iteration should have begun
            return self._begin(self.ticket, at, None)
        return self._repair(at)

    def _returned(self, worker: int, at: float) -> list[Command]:
        """Take back a worker that was only silent."""
        return self._welcome(worker, at) if worker in self._losses.silent else []

    def _lost(self, worker: int, at: float) -> list[Command]:
        self._losses.silent.discard(worker)
        if worker not in self.alive:
            return []
        workers, in_hand = len(self.alive), self._progress.left.get(worker)
        self._forget(worker)
        if self._probing:
            self._drop_from_probe(worker, "it was lost")
            return self._end_probe(at)
        if self.ticket is None or self._resolving:
            return []
        reason = self._losses.died(worker, in_hand[0], workers) if in_hand else None
        return self._repair(at) if reason is None else self._give_up(reason, at)

    def _forget(self, worker: int) -> None:
        self.alive.discard(worker)
        self._losses.forget(worker)
        self._iteration.lose(worker)
        self._asked.pop(worker, None)

    def _failed(self, event: messages.Failed) -> list[Command]:
        if event.ticket != self.ticket:
            return []
        failed_on = self._iteration.fail(event.worker, event.task)
        self._losses.hear(event.worker, event.at)
        if len(failed_on) >= min(MOST_ERRORS, len(self.alive)):
            return self._give_up(f"task {event.task} failed on {self._names(failed_on)}: {event.error}", event.at)
        return [] if self._resolving else self._repair(event.at)

    def _convicted(self, event: messages.Convicted) -> list[Command]:
        """Use nothing of workers that gave wrong results, and let them go; where it must, the job begins anew."""
        assert self.ticket is not None
        self._resolving = False
        self.banned |= event.workers
        commands: list[Command] = [messages.Dismiss(worker, for_good=True) for worker in sorted(event.workers)]
        for worker in event.workers:
            self._forget(worker)
        if event.back or self._all_banned:
            again = Ticket(self.ticket.job, self._jobs[self.ticket.job].first, self.ticket.attempt + 1)
            return commands + self._begin(again, event.at, self.ticket)
        self._iteration.strike(event.workers)
        return commands + self._repair(event.at)

    @property
    def _all_banned(self) -> bool:
        """Whether nobody is left who may work, or come back."""
        return bool(self.banned) and self._seen <= self.banned

    def _refused(self, event: messages.Refused) -> list[Command]:
        """Wait for one more result, and have those that were discarded computed again."""
        if event.hopeless:
            return self._give_up(event.hopeless, event.at)
        self._resolving = False
        useless = self._iteration.discard(event.bad, event.why)
        if useless is not None:
            task, workers = useless
            reason = (
                f"task {task} gave what cannot be used, {MOST_ERRORS} times, on {self._names(workers)}: {event.why}"
            )
            return self._give_up(reason, event.at)
        return self._repair(event.at)

    def _tick(self, at: float) -> list[Command]:
        if self._probing and self.probe is not None:
            commands = self.probe.tick(at)
            for command in commands:
                if isinstance(command, messages.Dismiss):
                    self._forget(command.worker)
                    self._losses.silent.add(command.worker)
            return commands + self._end_probe(at)
        if self.ticket is None or self._resolving:
            return []
        silent = [(worker, task) for due, worker, task in self._due() if at >= due]
        job, workers = self._jobs[self.ticket.job], len(self.alive)
        commands = [messages.Dismiss(worker) for worker, _ in silent]
        reasons = [self._losses.fell_silent(worker, task, job, workers) for worker, task in silent]
        for worker, _ in silent:
            self._forget(worker)
        for reason in filter(None, reasons):
            stuck = [messages.Dismiss(worker) for worker, tasks in self._progress.left.items() if tasks]
            return [*commands, *stuck, *self._give_up(reason, at)]  # others may hang in it too
        commands += self._repair(at) if silent else self._resolve(at)
        wake = self._schedule.wake(self._progress)
        if wake is not None and at >= wake and self.ticket is not None:
            self._progress.now = at
            for worker in self._progress.idle():
                commands += self._more(worker, at)
        return commands

    def _due(self) -> list[tuple[float, int, int]]:
        """When each worker with a task in hand is taken for lost, the worker, and the task."""
        assert self.ticket is not None
        job, left = self._jobs[self.ticket.job], self._progress.left
        working = [(worker, tasks[0]) for worker, tasks in left.items() if tasks and worker in self.alive]
        return [(self._losses.due(worker, task, job), worker, task) for worker, task in working]

    def _repair(self, at: float) -> list[Command]:
        """Give the living what is missing, if what they have would not do; give up where nothing is left to give."""
        if self._iteration.hopeless is not None and self.alive:
            return self._give_up(self._iteration.hopeless, at)
        return self._resolve(at) or [
            self._assign(worker, tuple(tasks), at) for worker, tasks in self._iteration.shortage(self.alive).items()
        ]

    def _names(self, workers: Iterable[int]) -> str:
        return " and ".join(map(self.estimates.name, sorted(workers)))

    def _expected(self, worker: int, tasks: int) -> float:
        """The expected time of some of a worker's tasks, from the message to the last result."""
        return self.estimates[worker].comm.mean + tasks * self._seconds(worker)

    def _seconds(self, worker: int) -> float:
        """The expected time of one of a worker's tasks."""
        work = 1.0 if self.ticket is None else self._jobs[self.ticket.job].spec.work
        return self.estimates.seconds(worker, self._adapt) * work
