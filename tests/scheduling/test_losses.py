"""Which job is to blame for lost workers: events in, commands out."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from test_master import done

import deadheat as dh
from deadheat.scheduling import Abandon, Arrived, Assign, Dismiss, Estimates, Joined, Lost, Master, Tick, Ticket
from deadheat.scheduling.losses import FIRST_RESULT, MOST_DEATHS, MOST_SILENCES, SPARE_LOSSES

UNCODED = dh.codes.uncoded(4)


def job(number: int = 0, patience: float | None = None) -> Arrived:
    spec = dh.CodeSpec.of(4, 4)
    return Arrived(number, 0.0, UNCODED, spec, iterations=2, patience=patience)


def master(workers: int = 2) -> Master:
    return Master(Estimates(dh.Cluster([dh.Worker(1.0, 0.0)] * workers)), range(workers), adapt=False)


def reasons(commands: Sequence[object]) -> list[str]:
    return [command.reason for command in commands if isinstance(command, Abandon)]


def test_a_task_that_ends_every_worker_ends_its_job_and_the_next_goes_on() -> None:
    m = master()
    m.handle(job(0))
    m.handle(job(1))
    for task in (2, 3):
        m.handle(done(1, task))
    for death in range(MOST_DEATHS):
        holder = next(w for w, tasks in m._progress.left.items() if tasks[:1] == [0])
        commands = m.handle(Lost(holder, 2.0 + death))
        if death < MOST_DEATHS - 1:
            assert not reasons(commands)
            m.handle(done(1 - holder, 1, at=2.0))  # others bring results meanwhile
        m.handle(Joined(holder, 2.5 + death))
    (reason,) = reasons(commands)
    assert "its task 0 ended its worker, 4 times in one iteration: on w" in reason
    assert m.ticket == Ticket(1, 0)


def test_a_job_that_ends_whoever_touches_it_is_given_up_after_a_bounded_number_of_workers() -> None:
    m = master()
    m.handle(job())
    for death in range(100):
        worker = death % 2
        if reasons(m.handle(Lost(worker, float(death)))):
            break
        m.handle(Joined(worker, float(death)))
    assert death < 2 + SPARE_LOSSES


def test_deaths_between_results_are_nobodys_fault() -> None:
    """A worker dies in every iteration, for a thousand iterations."""
    m = master()
    spec = dh.CodeSpec.of(4, 4)
    m.handle(Arrived(0, 0.0, UNCODED, spec, iterations=1000))
    from deadheat.scheduling import Resolved

    for iteration in range(1000):
        ticket = Ticket(0, iteration)
        commands = m.handle(Lost(1, 1.0))
        assert not reasons(commands)
        m.handle(Joined(1, 1.0))
        for task in range(4):
            m.handle(done(0, task, iteration))
        commands = m.handle(Resolved(ticket, 2.0))
        assert not reasons(commands)
    assert m.ticket is None


def test_an_idle_worker_that_dies_is_no_jobs_fault() -> None:
    m = master()
    m.handle(job())
    for task in (2, 3):
        m.handle(done(1, task))
    for _ in range(50):
        assert not reasons(m.handle(Lost(1, 2.0)))
        m.handle(Joined(1, 2.0))


def silences(m: Master, until: int = 20) -> tuple[list[float], str]:
    """When the master lost patience, one time after the other, and the reason with which it gave up."""
    times = []
    for _ in range(until):
        at = m.deadline
        assert at is not None
        times.append(at)
        commands = m.handle(Tick(at))
        if reasons(commands):
            return times, reasons(commands)[0]
        for command in commands:
            if isinstance(command, Dismiss):
                m.handle(Lost(command.worker, at))
                m.handle(Joined(command.worker, at))
    raise AssertionError(times)


def test_a_task_that_hangs_is_given_up_in_bounded_time_and_gets_more_each_time() -> None:
    m = master(1)
    m.handle(job())
    times, reason = silences(m)
    assert times == [FIRST_RESULT, 3 * FIRST_RESULT, 7 * FIRST_RESULT]
    assert "task 0 did not come back within 80 s, 3 times" in reason
    assert "patience=" in reason


def test_patience_is_the_jobs_own() -> None:
    m = master(1)
    m.handle(job(patience=0.5))
    times, reason = silences(m)
    assert times == [0.5, 1.0, 1.5]
    assert "within 0.5 s" in reason


def test_those_who_hang_in_a_job_that_is_given_up_are_ended_too() -> None:
    m = master(3)
    m.handle(job(patience=1.0))
    for _ in range(MOST_SILENCES - 1):
        at = m.deadline
        assert at is not None
        for command in m.handle(Tick(at)):
            if isinstance(command, Dismiss):
                m.handle(Lost(command.worker, at))
                m.handle(Joined(command.worker, at))
    at, busy = m.deadline, {worker for worker, tasks in m._progress.left.items() if tasks}
    assert at is not None
    commands = m.handle(Tick(at))
    assert reasons(commands)
    assert {command.worker for command in commands if isinstance(command, Dismiss)} == busy
    assert len(busy) > 1


def test_a_worker_that_was_dismissed_for_silence_is_not_counted_again_when_it_dies() -> None:
    m = master(1)
    m.handle(job(patience=1.0))
    m.handle(Tick(1.0))
    assert m._losses._fruitless == 1
    m.handle(Lost(0, 1.1))
    assert m._losses._fruitless == 1


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_the_bound_grows_with_the_workers(workers: int) -> None:
    """All of a large cluster may be lost at once without a job being to blame."""
    m = master(workers)
    m.handle(job())
    for worker in range(workers):
        assert not reasons(m.handle(Lost(worker, 1.0)))
    assert m.handle(Joined(0, 2.0))[:1] == [Assign(0, Ticket(0, 0), (0, 1, 2, 3))]
