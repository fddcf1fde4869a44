"""Checks as the master sees them: copies, doubts and convictions, as lists of events and commands."""

from __future__ import annotations

from test_master import done

import deadheat as dh
from deadheat.coding import Code
from deadheat.scheduling import (
    Abandon,
    Arrived,
    Assign,
    Command,
    Convicted,
    Dismiss,
    Doubted,
    Estimates,
    Failed,
    Finished,
    Joined,
    Lost,
    Master,
    Refused,
    Resolve,
    Resolved,
    Tick,
    Ticket,
)

UNCODED = dh.codes.uncoded(6)
T0 = Ticket(0, 0)


def master(workers: int = 3) -> Master:
    return Master(Estimates(dh.Cluster([dh.Worker(1.0, 0.0)] * workers)), range(workers), adapt=False)


def job(number: int = 0, checks: float = 0.0, code: Code = UNCODED, parity: bool = False, first: int = 0) -> Arrived:
    spec = dh.CodeSpec.of(code.critical, code.total, shared_chunks=code.cost.shared_chunks)
    return Arrived(number, 0.0, code, spec, iterations=5, first=first, checks=checks, parity=parity, thrifty=False)


def given(commands: list[Command]) -> dict[int, tuple[int, ...]]:
    return {command.worker: command.tasks for command in commands if isinstance(command, Assign)}


def finish_all(m: Master, opening: dict[int, tuple[int, ...]], iteration: int = 0) -> list[Command]:
    for worker, tasks in opening.items():
        for task in tasks:
            commands = m.handle(done(worker, task, iteration))
    return commands


def test_a_checked_task_is_the_first_that_two_workers_do() -> None:
    m = master()
    opening = given(m.handle(job(checks=1 / 6)))
    copied = [task for task in range(6) if sum(task in tasks for tasks in opening.values()) == 2]
    assert len(copied) == 1
    assert [tasks[0] for tasks in opening.values() if copied[0] in tasks] == copied * 2
    assert sorted(task for tasks in opening.values() for task in tasks) == sorted([*range(6), *copied])


def test_every_task_has_its_turn() -> None:
    m, seen = master(), set()
    commands = m.handle(Arrived(0, 0.0, UNCODED, dh.CodeSpec.of(6, 6), iterations=60, checks=1 / 6, thrifty=False))
    for iteration in range(60):
        opening = given(commands)
        seen |= {task for task in range(6) if sum(task in tasks for tasks in opening.values()) == 2}
        finish_all(m, opening, iteration)
        commands = m.handle(Resolved(Ticket(0, iteration), 2.0))
    assert seen == set(range(6))


def test_without_checks_nothing_is_computed_twice() -> None:
    assert sorted(task for tasks in given(master().handle(job())).values() for task in tasks) == list(range(6))


def test_a_code_with_spare_tasks_waits_for_one_result_more() -> None:
    m = master(2)
    opening = given(m.handle(job(code=dh.codes.cyclic(4, 2), checks=1 / 4, parity=True)))
    (task,) = set(opening[0][:1]) & set(opening[1][:1])
    m.handle(done(0, task))
    m.handle(done(1, task))
    assert m.handle(done(0, opening[0][1])) == []  # any two would do
    (resolve,) = m.handle(done(1, opening[1][1]))
    assert isinstance(resolve, Resolve)
    assert len(resolve.tasks) == 3


def test_a_doubted_task_goes_to_somebody_else_and_the_iteration_waits() -> None:
    m = master()
    opening = given(m.handle(job()))
    finish_all(m, opening)
    owner = next(worker for worker, tasks in opening.items() if 3 in tasks)
    (command,) = m.handle(Doubted(T0, 2.0, frozenset({3})))
    assert isinstance(command, Assign)
    assert command.worker != owner
    assert command.tasks == (3,)
    assert m.handle(done(command.worker, 3)) == [Resolve(T0, frozenset(range(6)))]
    (third,) = m.handle(Doubted(T0, 2.0, frozenset({3})))
    assert isinstance(third, Assign)
    assert {owner, command.worker, third.worker} == {0, 1, 2}


def test_who_should_have_told_is_lost_or_fails_and_another_is_asked() -> None:
    m = master()
    finish_all(m, given(m.handle(job())))
    (first,) = m.handle(Doubted(T0, 2.0, frozenset({3})))
    assert isinstance(first, Assign)
    (second,) = m.handle(Lost(first.worker, 2.1))
    assert isinstance(second, Assign)
    (third,) = m.handle(Failed(second.worker, T0, 3, 2.2, "no"))
    assert isinstance(third, Assign)
    assert third.worker not in (first.worker, second.worker)
    assert m.handle(done(third.worker, 3)) == [Resolve(T0, frozenset(range(6)))]


def test_with_nobody_to_ask_the_iteration_waits() -> None:
    m = master(1)
    finish_all(m, given(m.handle(job())))
    m.handle(Doubted(T0, 2.0, frozenset({3})))
    assert m.handle(Lost(0, 2.1)) == []
    assert m.handle(Joined(0, 3.0)) == [Assign(0, T0, (3,))]


def test_a_convicted_worker_is_sent_away_and_its_tasks_are_done_by_others() -> None:
    m = master()
    opening = given(m.handle(job()))
    finish_all(m, opening)
    commands = m.handle(Convicted(T0, 2.0, frozenset({1})))
    assert commands[0] == Dismiss(1, for_good=True)
    redone = given(commands)
    assert sorted(task for tasks in redone.values() for task in tasks) == sorted(opening[1])
    assert 1 not in redone
    assert m.handle(Finished(1, T0, opening[1][0], 2.5, 1.0)) == []  # what it still says does not count
    assert finish_all(m, redone) == [Resolve(T0, frozenset(range(6)))]
    assert m.handle(Joined(1, 3.0)) == []
    assert 1 not in given(m.handle(Resolved(T0, 4.0)))
    assert m.state(1) == "wrong results"


def test_a_result_that_others_have_too_is_kept() -> None:
    m = master(2)
    opening = given(m.handle(job()))
    m.handle(done(1, opening[0][0]))
    finish_all(m, opening)
    redone = given(m.handle(Convicted(T0, 2.0, frozenset({0}))))
    assert redone == {1: opening[0][1:]}


def test_a_job_that_used_wrong_results_begins_anew_with_tickets_that_are_newer() -> None:
    m = master()
    finish_all(m, given(m.handle(job(first=2))), 2)
    finish_all(m, given(m.handle(Resolved(Ticket(0, 2), 2.0))), 3)
    commands = m.handle(Convicted(Ticket(0, 3), 3.0, frozenset({1}), back=True))
    again = Ticket(0, 2, 1)
    assert {command.ticket for command in commands if isinstance(command, Assign)} == {again}
    assert again > Ticket(0, 3)
    assert again > Ticket(0, 99)
    assert Ticket(1, 0) > again
    for worker, tasks in given(commands).items():
        for task in tasks:
            last = m.handle(Finished(worker, again, task, 4.0, 1.0))
    assert last == [Resolve(again, frozenset(range(6)))]
    assert all(c.ticket == Ticket(0, 3, 1) for c in m.handle(Resolved(again, 5.0)) if isinstance(c, Assign))


def test_with_all_workers_convicted_jobs_are_given_up_and_not_waited_for() -> None:
    m = master(2)
    m.handle(job(0))
    m.handle(job(1))
    commands = m.handle(Convicted(T0, 1.0, frozenset({0, 1})))
    assert [(c.job, c.reason) for c in commands if isinstance(c, Abandon)] == [
        (number, "every worker was found to give wrong results") for number in (0, 1)
    ]
    assert [c.job for c in m.handle(job(2)) if isinstance(c, Abandon)] == [2]


def test_one_that_is_being_replaced_is_waited_for() -> None:
    m = master(2)
    m.handle(job())
    m.handle(Lost(0, 0.5))
    assert not any(isinstance(c, Abandon) for c in m.handle(Convicted(T0, 1.0, frozenset({1}))))
    assert given(m.handle(Joined(0, 2.0))) == {0: tuple(range(6))}


def late(thrifty: bool) -> tuple[Master, int, int]:
    """An iteration that is done but for a copy: its master, the worker that has it, and the task."""
    m = Master(Estimates(dh.Cluster([dh.Worker(1e-3, 0.0)] * 2)), (0, 1), adapt=False)
    spec = dh.CodeSpec.of(UNCODED.critical, UNCODED.total)
    opening = given(m.handle(Arrived(0, 0.0, UNCODED, spec, iterations=5, checks=1 / 6, thrifty=thrifty)))
    (task,) = set(opening[0]) & set(opening[1])
    copier = next(worker for worker, tasks in opening.items() if len(tasks) == 4)
    for worker, tasks in opening.items():
        for own in tasks:
            if (worker, own) != (copier, task):
                assert not any(isinstance(c, Resolve) for c in m.handle(done(worker, own, at=1.0)))
    return m, copier, task


def test_an_iteration_waits_for_its_check_a_little_and_no_longer() -> None:
    m, copier, task = late(thrifty=True)
    assert m.deadline is not None
    assert 1.0 < m.deadline < 1.1
    assert m.handle(Tick(m.deadline)) == [Resolve(T0, frozenset(range(6)))]
    m, copier, task = late(thrifty=True)
    assert m.handle(done(copier, task, at=1.01)) == [Resolve(T0, frozenset(range(6)))]


def test_a_check_that_was_asked_for_is_waited_for() -> None:
    m, copier, task = late(thrifty=False)
    assert m.handle(Tick(1.5)) == []
    assert m.handle(done(copier, task, at=1.9)) == [Resolve(T0, frozenset(range(6)))]


def test_a_check_whose_worker_is_lost_is_not_waited_for() -> None:
    m, copier, _ = late(thrifty=False)
    assert m.handle(Lost(copier, 1.5)) == [Resolve(T0, frozenset(range(6)))]


def test_one_who_holds_the_whole_load_is_checked_by_one_without_a_share() -> None:
    far = dh.Cluster([dh.Worker(1e-3, 0.0), dh.Worker(1.0, 0.0, comm=1.0)])
    m = Master(Estimates(far), (0, 1), adapt=False)
    opening = given(m.handle(job(checks=1 / 6)))
    assert len(opening[0]) == 6
    assert opening[1] == opening[0][:1]


def test_a_check_that_would_take_too_long_is_put_off() -> None:
    far = dh.Cluster([dh.Worker(1e-3, 0.0), dh.Worker(1.0, 0.0, comm=1.0)])
    m = Master(Estimates(far), (0, 1), adapt=False)
    spec = dh.CodeSpec.of(UNCODED.critical, UNCODED.total)
    assert set(given(m.handle(Arrived(0, 0.0, UNCODED, spec, iterations=5, checks=1 / 6)))) == {0}


def test_a_discarded_result_is_not_taken_for_one_that_is_left() -> None:
    """One worker's result was no number, and the one who computed it again is convicted."""
    m = master()
    opening = given(m.handle(job()))
    finish_all(m, opening)
    task = opening[0][0]
    (again,) = m.handle(Refused(T0, 2.0, frozenset({task}), "no number"))
    assert isinstance(again, Assign)
    m.handle(done(again.worker, task))
    assert task in {t for own in given(m.handle(Convicted(T0, 3.0, frozenset({again.worker})))).values() for t in own}
