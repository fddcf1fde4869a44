"""The master as lists: events in, commands out."""

from __future__ import annotations

import numpy as np

import deadheat as dh
from deadheat.runtime.briefs import Brief
from deadheat.runtime.estimates import Estimates
from deadheat.runtime.master import Master
from deadheat.runtime.messages import (
    Abandon,
    Arrived,
    Assign,
    Command,
    Deliver,
    Dismiss,
    Failed,
    Finished,
    Joined,
    Lost,
    Purge,
    Refused,
    Resolve,
    Resolved,
    Tick,
    Ticket,
)
from deadheat.runtime.schedules import Pull, TopUp

PAIR = dh.Cluster([dh.Worker(1.0, 0.0), dh.Worker(1.0, 0.0)])
ANY_3_OF_4 = dh.codes.cyclic(4, 1)


def brief(code: dh.Code = ANY_3_OF_4, iterations: int = 2, **more: object) -> Brief:
    spec = dh.CodeSpec.of(code.critical, code.total)
    return Brief(code, spec, iterations, adapt=False, **more)  # type: ignore[arg-type]


def master(*jobs: Brief, workers: tuple[int, ...] = (0, 1)) -> Master:
    made = Master(Estimates(PAIR), workers)
    for number, job in enumerate(jobs):
        made.introduce(number, job)
    return made


def done(worker: int, task: int, iteration: int = 0, job: int = 0, at: float = 1.0) -> Finished:
    return Finished(worker, Ticket(job, iteration), task, at, 1.0)


def test_a_job_from_arrival_to_delivery() -> None:
    m = master(brief())
    t0, t1 = Ticket(0, 0), Ticket(0, 1)
    assert m.handle(Arrived(0, 0.0)) == [Assign(0, t0, (0, 1)), Assign(1, t0, (2, 3))]
    assert m.handle(done(0, 0)) == []
    assert m.handle(done(1, 2)) == []
    assert m.handle(done(0, 1)) == [Resolve(t0, frozenset({0, 1, 2}))]
    assert m.handle(Resolved(t0, 2.0)) == [
        Assign(0, t1, (0, 1)),
        Assign(1, t1, (2, 3)),
    ]  # the newer ticket is the purge
    assert m.handle(done(1, 3)) == []  # late news of a purged iteration
    for worker, task in ((1, 2), (1, 3)):
        assert m.handle(done(worker, task, 1)) == []
    assert m.handle(done(0, 1, 1)) == [Resolve(t1, frozenset({1, 2, 3}))]
    assert m.handle(Resolved(t1, 4.0)) == [Deliver(0), Purge(t1, (0,))]  # worker 0 still has task 0
    assert m.ticket is None


def test_jobs_are_delivered_in_order_of_arrival() -> None:
    m = master(brief(iterations=1), brief(iterations=1))
    m.handle(Arrived(0, 0.0))
    assert m.handle(Arrived(1, 0.5)) == []
    for worker, task in ((0, 0), (0, 1), (1, 2)):
        said = m.handle(done(worker, task))
    assert said == [Resolve(Ticket(0, 0), frozenset({0, 1, 2}))]
    said = m.handle(Resolved(Ticket(0, 0), 2.0))
    assert said[0] == Deliver(0)
    assert said[1] == Assign(0, Ticket(1, 0), (0, 1))


def test_an_iteration_that_converges_ends_its_job() -> None:
    m = master(brief(iterations=100))
    m.handle(Arrived(0, 0.0))
    for worker, task in ((0, 0), (0, 1), (1, 2)):
        m.handle(done(worker, task))
    assert m.handle(Resolved(Ticket(0, 0), 2.0, over=True))[0] == Deliver(0)


def test_a_worker_that_dies_costs_nothing_while_the_others_suffice() -> None:
    m = master(brief(dh.codes.cyclic(4, 2)))  # any 2 of 4
    m.handle(Arrived(0, 0.0))
    assert m.handle(Lost(1, 0.5)) == []
    assert m.handle(done(0, 0)) == []
    assert m.handle(done(0, 1)) == [Resolve(Ticket(0, 0), frozenset({0, 1}))]


def test_the_living_get_what_is_missing() -> None:
    m = master(brief())
    m.handle(Arrived(0, 0.0))
    assert m.handle(Lost(1, 0.5)) == [Assign(0, Ticket(0, 0), (2,))]  # one more is enough
    for task in (0, 1):
        assert m.handle(done(0, task)) == []
    assert m.handle(done(0, 2)) == [Resolve(Ticket(0, 0), frozenset({0, 1, 2}))]


def test_with_nobody_there_the_master_waits() -> None:
    m = master(brief(), workers=())
    assert m.handle(Arrived(0, 0.0)) == []
    said = m.handle(Joined(0, 3.0))
    assert said == [Assign(0, Ticket(0, 0), (0, 1, 2, 3))]
    assert m.handle(Lost(0, 4.0)) == []
    assert m.handle(Joined(1, 5.0)) == [Assign(1, Ticket(0, 0), (0, 1, 2))]


def test_a_worker_that_comes_takes_part_from_the_next_iteration_on() -> None:
    m = master(brief(), workers=(0,))
    assert m.handle(Arrived(0, 0.0)) == [Assign(0, Ticket(0, 0), (0, 1, 2, 3))]
    assert m.handle(Joined(1, 0.5)) == []
    for task in range(3):
        said = m.handle(done(0, task))
    assert said == [Resolve(Ticket(0, 0), frozenset({0, 1, 2}))]
    assert m.handle(Resolved(Ticket(0, 0), 2.0)) == [Assign(0, Ticket(0, 1), (0, 1)), Assign(1, Ticket(0, 1), (2, 3))]


def test_refused_results_wait_for_one_more() -> None:
    m = master(brief())
    m.handle(Arrived(0, 0.0))
    for worker, task in ((0, 0), (0, 1), (1, 2)):
        m.handle(done(worker, task))
    assert m.handle(Refused(Ticket(0, 0), 1.5)) == []  # task 3 is still to come
    assert m.handle(done(1, 3)) == [Resolve(Ticket(0, 0), frozenset({0, 1, 2, 3}))]
    assert m.handle(Refused(Ticket(0, 0), 2.5))[0] == Abandon(
        0, "all 4 results together do not determine the iteration"
    )


def test_results_that_were_thrown_away_are_computed_again() -> None:
    m = master(brief(dh.codes.uncoded(2)))
    m.handle(Arrived(0, 0.0))
    m.handle(done(0, 0))
    assert m.handle(done(1, 1)) == [Resolve(Ticket(0, 0), frozenset({0, 1}))]
    assert m.handle(Refused(Ticket(0, 0), 1.5, frozenset({1}))) == [Assign(0, Ticket(0, 0), (1,))]


def test_a_task_that_fails_twice_ends_its_job_and_the_next_goes_on() -> None:
    m = master(brief(dh.codes.uncoded(2)), brief(dh.codes.uncoded(2)))
    m.handle(Arrived(0, 0.0))
    m.handle(Arrived(1, 0.0))
    assert m.handle(Failed(0, Ticket(0, 0), 0, 1.0, "ValueError: no")) == [Assign(1, Ticket(0, 0), (0,))]
    said = m.handle(Failed(1, Ticket(0, 0), 0, 2.0, "ValueError: no"))
    assert said[0] == Abandon(0, "task 0 failed on w1 and w2: ValueError: no")
    assert Assign(0, Ticket(1, 0), (0,)) in said


def test_a_silent_worker_is_dismissed_and_taken_in_again_when_it_speaks() -> None:
    m = master(brief(dh.codes.uncoded(2)))
    m.handle(Arrived(0, 0.0))
    assert m.deadline is not None
    assert m.deadline > 1.0  # far beyond the second that a task takes
    m.handle(done(0, 0))
    assert m.handle(Tick(m.deadline)) == [Dismiss(1), Assign(0, Ticket(0, 0), (1,))]
    assert m.alive == {0}
    assert m.handle(done(1, 1, at=50.0)) == [
        Resolve(Ticket(0, 0), frozenset({0, 1}))
    ]  # it lives, and its result counts
    assert m.alive == {0, 1}


def test_top_up_copies_what_the_slowest_has_last() -> None:
    m = master(brief(dh.codes.uncoded(4), schedule=TopUp()))
    m.handle(Arrived(0, 0.0))
    m.handle(done(0, 0))
    assert m.handle(done(0, 1)) == [Assign(0, Ticket(0, 0), (3,))]


def test_top_up_gives_spare_tasks_first() -> None:
    code = dh.codes.cyclic(6, 3)
    spare = Brief(code, dh.CodeSpec.of(3, 4), 1, adapt=False, schedule=TopUp())
    m = master(spare)
    assert m.handle(Arrived(0, 0.0)) == [Assign(0, Ticket(0, 0), (0, 1)), Assign(1, Ticket(0, 0), (2, 3))]
    m.handle(done(0, 0))
    assert m.handle(done(0, 1)) == [Assign(0, Ticket(0, 0), (4,))]


def test_pull_gives_one_at_a_time() -> None:
    m = master(brief(dh.codes.uncoded(3), schedule=Pull()))
    t = Ticket(0, 0)
    assert m.handle(Arrived(0, 0.0)) == [Assign(0, t, (0,)), Assign(1, t, (1,))]
    assert m.handle(done(1, 1)) == [Assign(1, t, (2,))]
    assert m.handle(done(0, 0)) == []
    assert m.handle(done(1, 2)) == [Resolve(t, frozenset({0, 1, 2}))]


def test_it_splits_anew_when_a_worker_turns_slow() -> None:
    code = dh.codes.uncoded(20)
    m = Master(Estimates(PAIR), (0, 1))
    m.introduce(0, Brief(code, dh.CodeSpec.of(20, 20), 200))
    said: list[Command] = m.handle(Arrived(0, 0.0))
    loads = {c.worker: len(c.tasks) for c in said if isinstance(c, Assign)}
    assert loads == {0: 10, 1: 10}
    at = 0.0
    for iteration in range(40):
        orders = {c.worker: c.tasks for c in said if isinstance(c, Assign)}
        for worker, tasks in orders.items():
            for task in tasks:
                at += 0.1
                said = m.handle(Finished(worker, Ticket(0, iteration), task, at, 3.0 if worker else 1.0))
        said = m.handle(Resolved(Ticket(0, iteration), at))
    loads = {c.worker: len(c.tasks) for c in said if isinstance(c, Assign)}
    assert loads[0] > 2 * loads[1]
    score = m.estimates.scores([0, 1])[1]
    assert np.isclose(score.relative, 1 / 3, rtol=0.1)
    assert score.individual <= 1
