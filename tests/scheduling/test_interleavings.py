"""Whatever happens in whatever order: iterations end from their own results, jobs are delivered once and in order."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

import deadheat as dh
from deadheat.scheduling import (
    SCHEDULES,
    Abandon,
    Arrived,
    Assign,
    Command,
    Deliver,
    Dismiss,
    Estimates,
    Event,
    Finished,
    Joined,
    Lost,
    Master,
    Purge,
    Refused,
    Resolve,
    Resolved,
    Stopped,
    Tick,
    Ticket,
)

TRIO = dh.Cluster([dh.Worker(1.0, 0.5), dh.Worker(2.0, 1.0), dh.Worker(0.5, 0.5, comm=0.2)])
NAMES = ("static", "pull", "top-up", "duplicates", "speculative")
CODES = [dh.codes.uncoded(5), dh.codes.cyclic(6, 2), dh.codes.fractional_repetition(6, 1), dh.codes.paper_example()]


class World:
    """Workers that do what they are told, in an order and with faults that hypothesis picks."""

    def __init__(self, master: Master) -> None:
        self.master, self.at = master, 0.0
        self.queues: dict[int, list[tuple[Ticket, int]]] = {0: [], 1: [], 2: []}
        self.here = {0, 1, 2}
        self.begun: dict[Ticket, set[int]] = {}
        self.resolving: Resolve | None = None
        self.delivered: list[int] = []
        self.abandoned: list[int] = []
        self.resolved: list[Ticket] = []

    def hear(self, event: Event) -> None:
        for command in self.master.handle(event):
            self.do(command)

    def do(self, command: Command) -> None:
        match command:
            case Assign(worker=worker, ticket=ticket, tasks=tasks):
                assert worker in self.master.alive
                assert self.master.ticket in (ticket, ticket._replace(attempt=0))  # rounds of a probe are attempts
                if worker in self.here:
                    self.queues[worker] = [q for q in self.queues[worker] if q[0] == ticket]
                    self.queues[worker] += [(ticket, task) for task in tasks]
            case Purge(ticket=ticket, workers=workers):
                for worker in workers:
                    self.queues[worker] = [q for q in self.queues[worker] if q[0] > ticket]
            case Resolve(ticket=ticket, tasks=tasks):
                assert self.resolving is None
                assert tasks <= self.begun[ticket]  # only results of its own ticket
                assert self.master._jobs[ticket.job].code.decodable(tasks)
                self.resolving = command
            case Deliver(job=job):
                self.delivered.append(job)
            case Abandon(job=job):
                self.delivered.append(job)
                self.abandoned.append(job)
            case Dismiss():
                pass

    def finish(self, worker: int) -> None:
        if worker in self.here and self.queues[worker]:
            ticket, task = self.queues[worker].pop(0)
            self.begun.setdefault(ticket, set()).add(task)
            self.hear(Finished(worker, ticket, task, self.at, 1.0))


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_every_interleaving(data: st.DataObject) -> None:
    jobs = data.draw(st.integers(1, 3))
    schedule = SCHEDULES[data.draw(st.sampled_from(NAMES))]
    world = World(Master(Estimates(TRIO), (0, 1, 2), schedule=schedule))
    sizes = []
    probe = data.draw(st.booleans())
    coming = [Arrived(-1, 0.0, CODES[0], dh.CodeSpec(5), 0, rounds=3, seconds=10.0)] if probe else []
    for job in range(jobs):
        code = data.draw(st.sampled_from(CODES))
        sizes.append(data.draw(st.integers(1, 3)))
        spec = dh.CodeSpec.of(min(code.critical, code.total), code.total)
        coming.append(Arrived(job, 0.0, code, spec, sizes[-1]))
    actions = ["finish", "finish", "finish", "resolve", "arrive", "lose", "join", "tick", "refuse", "late", "stopped"]
    for _ in range(data.draw(st.integers(5, 60))):
        world.at += 0.5
        act(world, data.draw(st.sampled_from(actions)), data.draw(st.integers(0, 2)), coming)
    settle(world, coming)
    assert world.delivered == [*([-1] if probe else []), *range(jobs)]  # once each, in order
    for job, size in enumerate(sizes):
        if job not in world.abandoned:
            assert [t.iteration for t in world.resolved if t.job == job] == list(range(size))


def act(world: World, action: str, worker: int, coming: list[Arrived]) -> None:
    match action:
        case "finish":
            world.finish(worker)
        case "resolve" if world.resolving is not None:
            ticket, world.resolving = world.resolving.ticket, None
            world.resolved.append(ticket)
            world.hear(Resolved(ticket, world.at))
        case "arrive" if coming:
            world.hear(replace(coming.pop(0), at=world.at))
        case "lose" if worker in world.here:
            world.here.discard(worker)
            world.queues[worker] = []
            world.hear(Lost(worker, world.at))
        case "join" if worker not in world.here:
            world.here.add(worker)
            world.hear(Joined(worker, world.at))
        case "tick":
            world.at += 30.0
            world.hear(Tick(world.at))
        case "refuse" if world.resolving is not None and worker == 0:
            refused, world.resolving = world.resolving, None
            bad = frozenset(sorted(refused.tasks)[:1])  # not finite: it counts as missing
            world.begun[refused.ticket] -= bad
            world.hear(Refused(refused.ticket, world.at, bad))
        case "late" if worker in world.here:
            world.hear(Finished(worker, Ticket(0, 0, 7), 0, world.at, 1.0))
        case "stopped" if worker in world.here:
            world.hear(Stopped(worker, Ticket(0, 0), world.at, 0.3, False))


def settle(world: World, coming: list[Arrived]) -> None:
    """Everybody comes back and works on until nothing is left: it must end."""
    for _ in range(2000):
        world.at += 0.5
        while coming:
            act(world, "arrive", 0, coming)
        for worker in range(3):
            act(world, "join", worker, coming)
            if worker not in world.master.alive:  # dismissed: the engine replaces it
                world.queues[worker] = []
                world.hear(Joined(worker, world.at))
            act(world, "finish", worker, coming)
        act(world, "resolve", 0, coming)
        if world.master.deadline is not None and world.at >= world.master.deadline:
            world.hear(Tick(world.at))
        if world.master.ticket is None and not coming:
            return
    raise AssertionError(f"stuck at {world.master.ticket}, queues {world.queues}")
