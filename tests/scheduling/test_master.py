"""The master as lists: events in, commands out."""

from __future__ import annotations

import numpy as np
import pytest

import deadheat as dh
from deadheat.coding import Code
from deadheat.scheduling import (
    Abandon,
    Arrived,
    Assign,
    Command,
    Deliver,
    Dismiss,
    Estimates,
    Failed,
    Finished,
    Joined,
    Lost,
    Master,
    Purge,
    Refused,
    Resolve,
    Resolved,
    Schedule,
    Static,
    Stopped,
    Tick,
    Ticket,
)
from deadheat.scheduling.losses import FIRST_RESULT
from deadheat.scheduling.schedules import Duplicates, Pull, Speculative, TopUp
from deadheat.scheduling.spot_checks import EXPLORED

PAIR = dh.Cluster([dh.Worker(1.0, 0.0), dh.Worker(1.0, 0.0)])
ANY_3_OF_4 = dh.codes.cyclic(4, 1)
STATIC = Static()


def arrived(job: int = 0, code: Code = ANY_3_OF_4, iterations: int = 2, at: float = 0.0, first: int = 0) -> Arrived:
    spec = dh.CodeSpec.of(code.critical, code.total, shared_chunks=code.cost.shared_chunks)
    return Arrived(job, at, code, spec, iterations, first=first)


def master(workers: tuple[int, ...] = (0, 1), schedule: Schedule = STATIC, cluster: dh.Cluster = PAIR) -> Master:
    return Master(Estimates(cluster), workers, schedule=schedule, adapt=False)


def done(worker: int, task: int, iteration: int = 0, job: int = 0, at: float = 1.0) -> Finished:
    return Finished(worker, Ticket(job, iteration), task, at, 1.0)


def test_a_job_from_arrival_to_delivery() -> None:
    m = master()
    t0, t1 = Ticket(0, 0), Ticket(0, 1)
    assert m.handle(arrived()) == [Assign(0, t0, (0, 1)), Assign(1, t0, (2, 3))]
    assert m.handle(done(0, 0)) == []
    assert m.handle(done(1, 2)) == []
    assert m.handle(done(0, 1)) == [Resolve(t0, frozenset({0, 1, 2}))]
    assert m.handle(Resolved(t0, 2.0)) == [
        Assign(0, t1, (0, 1)),
        Assign(1, t1, (2, 3)),
    ]  # the newer ticket is the purge
    assert m.handle(done(1, 3)) == []  # late: the iteration is over
    for worker, task in ((1, 2), (1, 3)):
        assert m.handle(done(worker, task, 1)) == []
    assert m.handle(done(0, 1, 1)) == [Resolve(t1, frozenset({1, 2, 3}))]
    assert m.handle(Resolved(t1, 4.0)) == [Deliver(0), Purge(t1, (0,))]  # worker 0 still has task 0
    assert m.ticket is None


def test_jobs_are_delivered_in_order_of_arrival() -> None:
    m = master()
    m.handle(arrived(0, iterations=1))
    assert m.handle(arrived(1, iterations=1, at=0.5)) == []
    for worker, task in ((0, 0), (0, 1), (1, 2)):
        commands = m.handle(done(worker, task))
    assert commands == [Resolve(Ticket(0, 0), frozenset({0, 1, 2}))]
    commands = m.handle(Resolved(Ticket(0, 0), 2.0))
    assert commands[0] == Deliver(0)
    assert commands[1] == Assign(0, Ticket(1, 0), (0, 1))


def test_a_job_that_was_begun_before_goes_on_from_there() -> None:
    m = master()
    assert m.handle(arrived(iterations=5, first=4))[0] == Assign(0, Ticket(0, 4), (0, 1))
    for worker, task in ((0, 0), (0, 1), (1, 2)):
        m.handle(done(worker, task, 4))
    assert m.handle(Resolved(Ticket(0, 4), 2.0))[0] == Deliver(0)


def test_an_iteration_that_converges_ends_its_job() -> None:
    m = master()
    m.handle(arrived(iterations=100))
    for worker, task in ((0, 0), (0, 1), (1, 2)):
        m.handle(done(worker, task))
    assert m.handle(Resolved(Ticket(0, 0), 2.0, over=True))[0] == Deliver(0)


# Workers that come and go


def test_a_worker_that_dies_costs_nothing_while_the_others_suffice() -> None:
    m = master()
    m.handle(arrived(code=dh.codes.cyclic(4, 2)))  # any 2 of 4
    assert m.handle(Lost(1, 0.5)) == []
    assert m.handle(done(0, 0)) == []
    assert m.handle(done(0, 1)) == [Resolve(Ticket(0, 0), frozenset({0, 1}))]


def test_the_living_get_what_is_missing() -> None:
    m = master()
    m.handle(arrived())
    assert m.handle(Lost(1, 0.5)) == [Assign(0, Ticket(0, 0), (2,))]  # one more is enough
    for task in (0, 1):
        assert m.handle(done(0, task)) == []
    assert m.handle(done(0, 2)) == [Resolve(Ticket(0, 0), frozenset({0, 1, 2}))]


def test_with_nobody_there_the_master_waits() -> None:
    m = master(workers=())
    assert m.handle(arrived()) == []
    assert m.handle(Joined(0, 3.0)) == [Assign(0, Ticket(0, 0), (0, 1, 2, 3))]
    assert m.handle(Lost(0, 4.0)) == []
    assert m.handle(Joined(1, 5.0)) == [Assign(1, Ticket(0, 0), (0, 1, 2))]


def test_a_worker_that_comes_takes_part_from_the_next_iteration_on() -> None:
    m = master(workers=(0,))
    assert m.handle(arrived()) == [Assign(0, Ticket(0, 0), (0, 1, 2, 3))]
    assert m.handle(Joined(1, 0.5)) == []
    for task in range(3):
        commands = m.handle(done(0, task))
    assert commands == [Resolve(Ticket(0, 0), frozenset({0, 1, 2}))]
    assert m.handle(Resolved(Ticket(0, 0), 2.0)) == [Assign(0, Ticket(0, 1), (0, 1)), Assign(1, Ticket(0, 1), (2, 3))]


def test_a_worker_that_joins_again_has_lost_what_it_had() -> None:
    """Its engine did not say that it was gone."""
    m = master()
    m.handle(arrived(code=dh.codes.uncoded(2)))
    assert m.handle(Joined(1, 0.5)) == [Assign(1, Ticket(0, 0), (1,))]
    assert m.alive == {0, 1}


def test_a_silent_worker_is_dismissed_and_taken_in_again_when_it_speaks() -> None:
    m = master()
    m.handle(arrived(code=dh.codes.uncoded(2)))
    assert m.deadline is not None
    assert m.deadline > 1.0  # far beyond the second that a task takes
    m.handle(done(0, 0))
    assert m.handle(Tick(m.deadline)) == [Dismiss(1), Assign(0, Ticket(0, 0), (1,))]
    assert m.alive == {0}
    assert m.state(1) == "silent"
    assert m.handle(done(1, 1, at=50.0)) == [
        Resolve(Ticket(0, 0), frozenset({0, 1}))
    ]  # it lives, and its result counts
    assert m.alive == {0, 1}


def test_after_a_silence_a_worker_has_twice_the_time() -> None:
    m = master(workers=(0,))
    m.handle(arrived(code=dh.codes.uncoded(1)))
    assert m.deadline == FIRST_RESULT  # it may have to import much
    assert m.handle(Tick(FIRST_RESULT)) == [Dismiss(0)]
    assert m.handle(Lost(0, 21.0)) == []
    assert m.state(0) == "lost"
    assert m.handle(Joined(0, 30.0)) == [Assign(0, Ticket(0, 0), (0,))]
    assert m.deadline == 30.0 + 2 * FIRST_RESULT


# Results that cannot be used


def test_refused_results_wait_for_one_more() -> None:
    m = master()
    m.handle(arrived())
    for worker, task in ((0, 0), (0, 1), (1, 2)):
        m.handle(done(worker, task))
    assert m.handle(Refused(Ticket(0, 0), 1.5)) == []  # task 3 is still to come
    assert m.handle(done(1, 3)) == [Resolve(Ticket(0, 0), frozenset({0, 1, 2, 3}))]
    assert m.handle(Refused(Ticket(0, 0), 2.5))[0] == Abandon(
        0, "all 4 results together do not determine the iteration"
    )


def test_results_that_were_thrown_away_are_computed_again_elsewhere() -> None:
    m = master()
    m.handle(arrived(code=dh.codes.uncoded(2)))
    m.handle(done(0, 0))
    assert m.handle(done(1, 1)) == [Resolve(Ticket(0, 0), frozenset({0, 1}))]
    assert m.handle(Refused(Ticket(0, 0), 1.5, frozenset({1}))) == [Assign(0, Ticket(0, 0), (1,))]
    m.handle(done(0, 1, at=2.0))
    said = m.handle(Refused(Ticket(0, 0), 2.5, frozenset({1}), "of shape (3,)"))
    assert said == [Abandon(0, "task 1 gave what cannot be used, 2 times, on w1 and w2: of shape (3,)")]


def test_a_job_that_no_result_would_help_is_given_up_at_once() -> None:
    m = master()
    m.handle(arrived(code=dh.codes.uncoded(2)))
    m.handle(arrived(1, dh.codes.uncoded(2)))
    m.handle(done(0, 0))
    m.handle(done(1, 1))
    assert m.handle(Refused(Ticket(0, 0), 1.5, hopeless="the step raised")) == [
        Abandon(0, "the step raised"),
        Assign(0, Ticket(1, 0), (0,)),
        Assign(1, Ticket(1, 0), (1,)),
    ]


def test_a_task_that_fails_twice_ends_its_job_and_the_next_goes_on() -> None:
    m = master()
    m.handle(arrived(0, dh.codes.uncoded(2)))
    m.handle(arrived(1, dh.codes.uncoded(2)))
    assert m.handle(Failed(0, Ticket(0, 0), 0, 1.0, "ValueError: no")) == [Assign(1, Ticket(0, 0), (0,))]
    commands = m.handle(Failed(1, Ticket(0, 0), 0, 2.0, "ValueError: no"))
    assert commands[0] == Abandon(0, "task 0 failed on w1 and w2: ValueError: no")
    assert Assign(0, Ticket(1, 0), (0,)) in commands


def test_a_late_error_of_a_purged_iteration_does_no_harm() -> None:
    m = master()
    m.handle(arrived(code=dh.codes.uncoded(2)))
    m.handle(done(0, 0))
    m.handle(done(1, 1))
    m.handle(Resolved(Ticket(0, 0), 2.0))
    for worker in (0, 1):
        assert m.handle(Failed(worker, Ticket(0, 0), 0, 2.5, "ValueError: no")) == []


def not_six(cluster: dh.Cluster, spec: dh.CodeSpec, gamma: float) -> dh.Split:
    if spec.total == 6:
        raise ZeroDivisionError("not six")
    return dh.split(cluster, spec, gamma)


CANNOT = Abandon(1, "its tasks cannot be split: ZeroDivisionError: not six")


def test_a_job_that_cannot_be_split_is_given_up_and_the_next_goes_on() -> None:
    m = Master(Estimates(PAIR), (0, 1), policy=not_six, adapt=False)
    for number, code in enumerate((ANY_3_OF_4, dh.codes.uncoded(6), ANY_3_OF_4)):
        m.handle(arrived(number, code, iterations=1))
    for worker, task in ((0, 0), (0, 1), (1, 2)):
        m.handle(done(worker, task))
    assert m.handle(Resolved(Ticket(0, 0), 2.0)) == [
        Deliver(0),
        CANNOT,
        Assign(0, Ticket(2, 0), (0, 1)),
        Assign(1, Ticket(2, 0), (2, 3)),
    ]


def test_who_is_still_at_work_is_told_to_stop_though_the_next_job_cannot_be_split() -> None:
    m = Master(Estimates(PAIR), (0, 1), policy=not_six, adapt=False)
    m.handle(arrived(iterations=1))
    m.handle(arrived(1, dh.codes.uncoded(6)))
    for worker, task in ((0, 0), (0, 1), (1, 2)):
        m.handle(done(worker, task))
    commands = m.handle(Resolved(Ticket(0, 0), 2.0))  # worker 1 has task 3
    assert commands[:2] == [Deliver(0), CANNOT]
    (purge,) = [command for command in commands if isinstance(command, Purge)]
    assert purge.workers == (1,)
    assert purge.ticket >= Ticket(0, 0)
    assert m.ticket is None


# Schedules, through the master


def test_top_up_copies_what_the_slowest_has_last() -> None:
    m = master(schedule=TopUp())
    m.handle(arrived(code=dh.codes.uncoded(4)))
    assert m.handle(done(0, 0)) == []
    assert m.handle(done(0, 1)) == [Assign(0, Ticket(0, 0), (3,))]


def test_top_up_opens_with_k_tasks_and_gives_spare_tasks_first() -> None:
    m = master(schedule=TopUp())
    assert m.handle(arrived()) == [Assign(0, Ticket(0, 0), (0, 1)), Assign(1, Ticket(0, 0), (2,))]
    assert m.handle(done(0, 0)) == [Assign(0, Ticket(0, 0), (3,))]
    assert m.handle(done(0, 1)) == []  # none is spare now, and it is not idle


def test_duplicates_help_whoever_has_most_left() -> None:
    m = master(schedule=Duplicates())
    m.handle(arrived(code=dh.codes.uncoded(4)))
    m.handle(done(0, 0))
    assert m.handle(done(0, 1)) == [Assign(0, Ticket(0, 0), (3,))]
    assert m.handle(done(1, 2)) == []
    assert m.handle(done(1, 3)) == [Resolve(Ticket(0, 0), frozenset({0, 1, 2, 3}))]  # the owner was first


def test_pull_gives_one_at_a_time() -> None:
    m = master(schedule=Pull(ahead=0))
    t = Ticket(0, 0)
    assert m.handle(arrived(code=dh.codes.uncoded(3))) == [Assign(0, t, (0,)), Assign(1, t, (1,))]
    assert m.handle(done(1, 1)) == [Assign(1, t, (2,))]
    assert m.handle(done(0, 0)) == []
    assert m.handle(done(1, 2)) == [Resolve(t, frozenset({0, 1, 2}))]


def test_pull_keeps_a_task_in_hand() -> None:
    m = master(schedule=Pull())
    t = Ticket(0, 0)
    assert m.handle(arrived(code=dh.codes.uncoded(6))) == [Assign(0, t, (0, 2)), Assign(1, t, (1, 3))]
    assert m.handle(done(1, 1)) == [Assign(1, t, (4,))]
    assert m.handle(done(1, 3)) == [Assign(1, t, (5,))]
    assert m.handle(done(0, 0)) == []  # nothing is left to pull


def test_a_straggler_is_copied_when_the_clock_says_so() -> None:
    """Three of four tasks took a second each: the fourth is a straggler after one and a half."""
    m = master(schedule=Speculative())
    m.handle(arrived(code=dh.codes.uncoded(4)))
    assert m.handle(done(0, 0, at=1.0)) == [Assign(0, Ticket(0, 0), (2,))]
    assert m.handle(done(0, 2, at=2.0)) == [Assign(0, Ticket(0, 0), (3,))]
    assert m.handle(done(0, 3, at=3.0)) == [Assign(0, Ticket(0, 0), (1,))]  # it has run for three seconds by then

    m = master(schedule=Speculative())
    m.handle(arrived(code=dh.codes.uncoded(4)))
    m.handle(done(0, 0, at=1.0))
    m.handle(done(1, 1, at=1.0))
    assert m.handle(done(0, 2, at=2.0)) == []  # task 3 has run for no longer than the others
    late = float(np.nextafter(2.5, 3.0))
    assert m.deadline == late  # it began at 1, and may take 1.5
    assert m.handle(Tick(2.4)) == []
    assert m.handle(Tick(late)) == [Assign(0, Ticket(0, 0), (3,))]


# Splits and estimates


def test_it_splits_anew_when_a_worker_turns_slow() -> None:
    m = Master(Estimates(PAIR), (0, 1))
    commands: list[Command] = m.handle(arrived(code=dh.codes.uncoded(20), iterations=200))
    loads = {c.worker: len(c.tasks) for c in commands if isinstance(c, Assign)}
    assert loads == {0: 10, 1: 10}
    at = 0.0
    for iteration in range(40):
        orders = {c.worker: c.tasks for c in commands if isinstance(c, Assign)}
        for worker, tasks in orders.items():
            for task in tasks:
                at += 0.1
                commands = m.handle(Finished(worker, Ticket(0, iteration), task, at, 3.0 if worker else 1.0))
        commands = m.handle(Resolved(Ticket(0, iteration), at))
    loads = {c.worker: len(c.tasks) for c in commands if isinstance(c, Assign)}
    assert loads[0] > 2 * loads[1]
    score = m.estimates.scores([0, 1])[1]
    assert np.isclose(score.relative, 1 / 3, rtol=0.1)
    assert score.individual <= 1


def test_workers_without_a_share_are_looked_at_now_and_then() -> None:
    """The second is a hundred times slower: every tenth iteration it gets a copy of the last task of the first."""
    slow = dh.Cluster([dh.Worker(1.0, 0.0), dh.Worker(100.0, 0.0)])
    m = Master(Estimates(slow), (0, 1))
    commands = m.handle(arrived(code=dh.codes.uncoded(3), iterations=EXPLORED + 1))
    for iteration in range(EXPLORED):
        t = Ticket(0, iteration)
        look = iteration == EXPLORED - 1
        assert commands == [Assign(0, t, (0, 1, 2)), *([Assign(1, t, (2,))] if look else [])]
        for task in range(3):
            commands = m.handle(done(0, task, iteration, at=iteration + 1.0))
        commands = m.handle(Resolved(t, iteration + 1.0))
    assert commands == [Purge(Ticket(0, EXPLORED - 1), (1,)), Assign(0, Ticket(0, EXPLORED), (0, 1, 2))]


def test_comm_is_measured_with_the_first_result_of_an_iteration_only() -> None:
    m = Master(Estimates(PAIR, guessed=True), (0, 1), adapt=False)
    m.handle(arrived(code=dh.codes.uncoded(4), at=0.0))
    m.handle(Finished(0, Ticket(0, 0), 0, 1.25, 1.0))
    m.handle(Finished(0, Ticket(0, 0), 1, 9.0, 2.0))
    assert (m.estimates[0].comm.weight, m.estimates[0].comm.mean) == (1.0, 0.25)
    assert m.estimates[0].work.mean == pytest.approx(1.5, rel=0.01)


def test_what_was_stopped_counts_as_cut_off_or_done() -> None:
    m = Master(Estimates(PAIR, guessed=True), (0, 1), adapt=False)
    m.handle(arrived(code=dh.codes.cyclic(4, 1, reuse=True)))  # the first task computes a chunk more
    m.handle(Stopped(0, Ticket(0, 0), 1.0, 3.0, complete=True, first=True))
    assert m.estimates[0].work.mean == 1.5
    m.handle(Stopped(1, Ticket(0, 0), 1.0, 3.0, complete=False))
    assert m.estimates[1].work.mean == 1.5 * 3.0  # nothing is known: it has half of that to go
    m.handle(Stopped(0, Ticket(7, 0), 1.0, 9.0, complete=True))  # a job that nobody knows
    assert m.estimates[0].seen == 1
