"""The probe as lists: events in, commands out; and on sampled time, where the truth is known."""

from __future__ import annotations

import numpy as np
import pytest
import sampled

import deadheat as dh
from deadheat.coding import Code
from deadheat.scheduling import (
    ROUNDS,
    Arrived,
    Assign,
    Command,
    Deliver,
    Dismiss,
    Estimates,
    Event,
    Failed,
    Finished,
    Joined,
    Lost,
    Master,
    Purge,
    Refused,
    Sample,
    Stopped,
    Tick,
    Ticket,
)
from deadheat.scheduling.probe import GRACE

PAIR = dh.Cluster.from_columns([1e-3] * 2, 0.0)
EIGHT = dh.codes.uncoded(8)


def probe(rounds: int, code: Code = EIGHT, seconds: float = 30.0) -> Arrived:
    spec = dh.CodeSpec.of(code.critical, code.total, shared_chunks=code.cost.shared_chunks)
    return Arrived(-1, 0.0, code, spec, iterations=0, rounds=rounds, seconds=seconds)


def master(workers: tuple[int, ...] = (0, 1)) -> Master:
    return Master(Estimates(PAIR, guessed=True), workers)


def round_of(number: int) -> Ticket:
    return Ticket(-1, -1, number)


def done(worker: int, number: int, task: int, at: float, seconds: float = 1.0) -> Finished:
    return Finished(worker, round_of(number), task, at, seconds)


def samples(m: Master) -> dict[int, Sample]:
    assert m.probe is not None
    return m.probe.samples


def hear(m: Master, *events: Event) -> list[Command]:
    """What follows from the last of these events."""
    commands: list[Command] = []
    for event in events:
        commands = m.handle(event)
    return commands


def test_rounds_from_the_first_to_the_last() -> None:
    """Every worker has its own tasks, and begins with its next round when it is done with one."""
    m = master()
    assert m.handle(probe(2)) == [Assign(0, round_of(0), (0, 1)), Assign(1, round_of(0), (4, 5))]
    assert m.handle(done(0, 0, 0, 1.5)) == []
    assert m.handle(done(0, 0, 1, 2.5)) == [Assign(0, round_of(1), (2, 3))]
    assert m.handle(done(0, 1, 2, 4.0)) == []
    assert m.handle(done(0, 1, 3, 5.0)) == []  # it was its last round
    assert m.handle(done(1, 0, 4, 6.0, 2.0)) == []
    assert m.handle(done(1, 0, 5, 8.0, 2.0)) == [Assign(1, round_of(1), (6, 7))]
    assert m.handle(done(1, 1, 6, 10.25, 2.0)) == []
    assert m.handle(done(1, 1, 7, 12.25, 2.0)) == [Deliver(-1)]
    assert m.ticket is None
    assert m.deadline is None


def test_the_first_round_warms_up() -> None:
    m = master((0,))
    m.handle(probe(2))
    hear(m, done(0, 0, 0, 50.0, 40.0), done(0, 0, 1, 90.0, 40.0))
    assert (samples(m)[0].work, samples(m)[0].comm) == ([], [])
    assert m.estimates[0].seen == 0
    hear(m, done(0, 1, 2, 91.5, 1.0), done(0, 1, 3, 94.5, 3.0))
    assert samples(m)[0].work == [1.0, 3.0]
    assert samples(m)[0].comm == [0.5]  # the first result of a round also tells it
    assert m.estimates[0].work.mean == pytest.approx(2.0, rel=0.01)
    assert m.estimates[0].comm.mean == 0.5
    assert samples(m)[0].std == pytest.approx(np.sqrt(2.0))
    assert samples(m)[0].latency.mean == 0.5


def test_a_single_round_counts() -> None:
    m = master((0,))
    m.handle(probe(1))
    assert hear(m, done(0, 0, 0, 1.25), done(0, 0, 1, 2.25)) == [Deliver(-1)]
    assert (samples(m)[0].work, samples(m)[0].comm) == ([1.0, 1.0], [0.25])


def test_tasks_that_share_chunks_are_counted_by_their_work() -> None:
    code = dh.codes.cyclic(8, 2, reuse=True)
    m = master((0,))
    m.handle(probe(1, code))
    shared = code.cost.shared_chunks
    assert shared == 2
    hear(m, done(0, 0, 0, 9.0, 6.0), done(0, 0, 1, 10.0, 1.0))
    assert samples(m)[0].work == [6.0 / (1 + shared), 1.0]


def test_a_code_of_one_task_is_probed_with_it() -> None:
    m = master()
    one = dh.codes.uncoded(1)
    assert m.handle(probe(2, one)) == [Assign(0, round_of(0), (0,)), Assign(1, round_of(0), (0,))]
    assert m.handle(done(0, 0, 0, 1.0)) == [Assign(0, round_of(1), (0,))]


def test_a_job_that_comes_meanwhile_waits() -> None:
    m = master((0,))
    m.handle(probe(1))
    assert m.handle(Arrived(0, 0.5, EIGHT, dh.CodeSpec(8), 3)) == []
    m.handle(done(0, 0, 0, 1.0))
    assert m.handle(done(0, 0, 1, 2.0)) == [Deliver(-1), Assign(0, Ticket(0, 0), tuple(range(8)))]


# Workers that are lost, join, fail or cannot be reached


def test_a_lost_worker_is_left_out() -> None:
    m = master()
    m.handle(probe(1))
    assert m.handle(Lost(1, 0.5)) == []
    assert m.handle(done(1, 0, 4, 0.6)) == []  # it was on its way
    assert hear(m, done(0, 0, 0, 1.0), done(0, 0, 1, 2.0)) == [Deliver(-1)]
    assert samples(m)[1].error == "it was lost"
    assert samples(m)[1].work == []
    assert len(samples(m)[0].work) == 2


def test_when_the_last_worker_is_lost_the_probe_is_over() -> None:
    m = master()
    m.handle(probe(3))
    assert hear(m, Lost(0, 0.5), Lost(1, 0.6)) == [Deliver(-1)]


def test_with_nobody_there_the_probe_is_over_at_once() -> None:
    assert master(()).handle(probe(3)) == [Deliver(-1)]


def test_who_joins_during_a_probe_works_from_the_first_job_on() -> None:
    m = master((0,))
    m.handle(probe(1))
    assert m.handle(Joined(1, 0.5)) == []
    assert hear(m, done(0, 0, 0, 1.0), done(0, 0, 1, 2.0)) == [Deliver(-1)]
    assert set(samples(m)) == {0}
    commands = m.handle(Arrived(0, 3.0, EIGHT, dh.CodeSpec(8), 3))
    assert {command.worker for command in commands if isinstance(command, Assign)} == {0, 1}


def test_a_worker_that_was_lost_and_is_back_is_not_asked_again() -> None:
    m = master()
    m.handle(probe(2))
    assert hear(m, Lost(1, 0.5), Joined(1, 0.7)) == []
    assert hear(m, done(0, 0, 0, 1.0), done(0, 0, 1, 2.0)) == [Assign(0, round_of(1), (2, 3))]
    assert hear(m, done(0, 1, 2, 3.0), done(0, 1, 3, 4.0)) == [Deliver(-1)]


def test_a_worker_that_fails_goes_on_and_its_error_is_kept() -> None:
    m = master((0,))
    m.handle(probe(2))
    failed = Failed(0, round_of(0), 0, 1.0, "ValueError: a torn chunk")
    assert hear(m, failed, done(0, 0, 1, 2.0)) == [Assign(0, round_of(1), (2, 3))]
    assert hear(m, done(0, 1, 2, 3.0), Failed(0, round_of(1), 3, 4.0, "ValueError: another")) == [Deliver(-1)]
    assert samples(m)[0].error == "ValueError: another"
    assert samples(m)[0].work == [1.0]


def test_a_probe_that_cannot_be_sent_says_why() -> None:
    m = master()
    m.handle(probe(3))
    assert m.handle(Refused(Ticket(-1, -1), 0.1, hopeless="it cannot be sent")) == [Deliver(-1)]
    assert [sample.error for sample in samples(m).values()] == ["it cannot be sent"] * 2
    assert m.handle(Refused(Ticket(-1, -1), 0.1, hopeless="it cannot be sent")) == []  # to the second worker


# The end of its time


def test_at_the_deadline_what_is_under_way_is_stopped() -> None:
    m = master()
    m.handle(probe(3, seconds=10.0))
    hear(m, done(0, 0, 0, 1.0), done(0, 0, 1, 2.0))  # worker 0 is in its second round, worker 1 in its first
    assert m.deadline == 10.0
    assert m.handle(Tick(9.9)) == []
    assert m.handle(Tick(10.0)) == [Purge(round_of(1), (0, 1))]
    assert m.deadline == 10.0 + GRACE
    assert m.handle(Stopped(0, round_of(1), 10.1, seconds=8.0, complete=False, first=True)) == []
    assert m.estimates[0].work.mean == 1.5 * 8.0  # cut off at 8 s, and nothing else is known
    assert m.handle(Stopped(1, round_of(0), 10.2, seconds=9.0, complete=False, first=True)) == [Deliver(-1)]
    assert m.estimates[1].seen == 0  # it warmed up


def test_who_does_not_answer_is_not_waited_for() -> None:
    m = master()
    m.handle(probe(3, seconds=10.0))
    m.handle(Tick(10.0))
    assert m.handle(Stopped(0, round_of(0), 10.1, 1.0, complete=False)) == []
    assert m.handle(Tick(10.0 + GRACE)) == [Dismiss(1), Deliver(-1)]  # it may hang in the task
    assert m.handle(done(1, 0, 4, 12.0)) == []  # it comes too late


def test_after_the_deadline_no_round_begins() -> None:
    m = master((0,))
    m.handle(probe(3, seconds=10.0))
    m.handle(done(0, 0, 0, 1.0))
    m.handle(Tick(10.0))
    assert m.handle(done(0, 0, 1, 10.5)) == [Deliver(-1)]  # it was on its way


def test_results_of_another_round_do_not_count() -> None:
    m = master((0,))
    m.handle(probe(2))
    assert m.handle(done(0, 1, 2, 0.5)) == []
    assert hear(m, done(0, 0, 0, 1.0), done(0, 0, 1, 2.0)) == [Assign(0, round_of(1), (2, 3))]
    assert samples(m)[0].work == []


# On sampled time


def probed(cluster: dh.Cluster, rounds: int, seed: int) -> tuple[list[bool], list[float], Estimates]:
    """A probe on sampled time: which intervals hold the truth, the comm seconds, and the estimates after it."""
    job, estimates = sampled.program(dh.codes.uncoded(40), 1.0, 1), Estimates(cluster, guessed=True)
    measured = sampled.driver(cluster, job, seed, estimates).probe(job, None, rounds, 1000.0)
    workers = range(len(cluster))
    held = [measured[w].mean.holds(float(cluster.mean[w])) for w in workers]
    return held, [measured[w].latency.mean for w in workers], estimates


def test_intervals_of_a_probe_hold_the_truth_mostly() -> None:
    cluster = dh.Cluster([dh.Worker(1.0, 1.0, 0.2), dh.Worker(2.0, 0.5, 0.3), dh.Worker(4.0, 2.0, 0.1)])
    all_held = []
    for seed in range(80):
        held, comm, estimates = probed(cluster, 12, seed)
        all_held += held
        assert comm == pytest.approx(cluster.comm.tolist())
        assert [estimates[w].seen for w in range(3)] == [22, 22, 22]  # two tasks a round; the first round warms up
    assert 0.88 <= np.mean(all_held) <= 0.985


def test_a_short_probe_is_short() -> None:
    pair = dh.Cluster([dh.Worker(1.0, 1.0, comm=0.1), dh.Worker(2.0, 2.0, comm=0.2)])
    assert probed(pair, ROUNDS, 1)[2][0].seen == 4


def test_a_probe_on_sampled_time_ends_with_its_time() -> None:
    """A hundred rounds of half a minute each in 45 seconds."""
    slow = dh.Cluster.from_columns([15.0], 0.0)
    job, estimates = sampled.program(dh.codes.uncoded(4), 1.0, 1), Estimates(slow, guessed=True)
    driver = sampled.driver(slow, job, 1, estimates)
    measured = driver.probe(job, None, 100, 45.0)
    assert driver.engine.now() == pytest.approx(45.0)
    assert measured[0].work == [15.0]
    assert len(driver) == 0


def test_after_a_probe_the_first_split_fits_and_nobody_is_dismissed() -> None:
    """Also where tasks are so alike that nothing but their mean was measured."""
    pair = dh.Cluster.from_columns([1.0, 3.0], 0.0)
    job, estimates = sampled.program(dh.codes.uncoded(8), 1.0, 5), Estimates(pair, guessed=True)
    assigned: list[Assign] = []
    dismissed: list[Dismiss] = []

    def listener(message: Event | Command, at: float) -> None:
        if isinstance(message, Assign) and message.ticket.job == 0:
            assigned.append(message)
        elif isinstance(message, Dismiss):
            dismissed.append(message)

    driver = sampled.driver(pair, job, 1, estimates, [listener])
    driver.probe(job, None)
    sampled.run_through(driver, job)
    assert assigned[:2] == [Assign(0, Ticket(0, 0), (0, 1, 2, 3, 4, 5)), Assign(1, Ticket(0, 0), (6, 7))]
    assert dismissed == []
