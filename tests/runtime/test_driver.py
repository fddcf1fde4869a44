"""The driver on an engine without processes: what it sends, when it gives up waiting, what it delivers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each_engine import PAIR

import deadheat as dh
from deadheat.runtime import Driver, Job, NobodyCame, NoWorkers
from deadheat.runtime.checkpoint import Saved
from deadheat.scheduling import (
    Assign,
    Cancel,
    Command,
    Compute,
    Deliver,
    Engine,
    Estimates,
    Event,
    Finished,
    Forget,
    Install,
    Joined,
    Lost,
    Master,
    Message,
    Program,
    Resolve,
    Resolved,
    Store,
    Ticket,
)


class Scripted(Engine):
    """Hears messages, and lets happen what the test has put in; the clock is the test's."""

    def __init__(self) -> None:
        self.at = 0.0
        self.sent: list[tuple[int, Message]] = []
        self.coming: list[Event] = []
        self.gone = False

    def now(self) -> float:
        return self.at

    def send(self, worker: int, message: Message) -> None:
        self.sent.append((worker, message))

    def wait(self, timeout: float | None) -> list[Event]:
        if not self.coming and timeout is not None:
            self.at += timeout
        events, self.coming = self.coming, []
        return events

    def close(self) -> None:
        return

    @property
    def exhausted(self) -> bool:
        return self.gone


class Bench:
    """A driver with two workers on a scripted engine, and everything that its listener heard."""

    def __init__(self) -> None:
        self.engine = Scripted()
        self.heard: list[Event | Command] = []
        master = Master(Estimates(PAIR), adapt=False)
        self.driver = Driver(master, self.engine, [lambda message, at: self.heard.append(message)])
        self.engine.coming = [Joined(0, 0.0), Joined(1, 0.0)]
        assert self.driver.gather(2) == 2

    def finish(self, worker: int, task: int, value: Any, ticket: Ticket) -> list[Any]:
        self.engine.coming = [Finished(worker, ticket, task, self.engine.at, 0.5, value)]
        return self.driver.turn(0.0)


def job(iterations: int = 2, **settings: Any) -> Program:
    """Adds the chunks to the state."""
    whole = Job(
        [np.ones(1), np.full(1, 2.0)],
        lambda s, c: c,
        0.0,
        lambda s, total, i: s + float(total[0]),
        iterations,
        "it",
        **settings,
    )
    return whole.program(None, float("inf"))


def test_a_job_from_submission_to_delivery() -> None:
    bench = Bench()
    program = job()
    assert bench.driver.submit(program, 5.0, arrived=-3.0) == 0
    assert len(bench.driver) == 1
    first, second = Ticket(0, 0), Ticket(0, 1)
    assert [(worker, type(message)) for worker, message in bench.engine.sent] == [
        (0, Install), (0, Store), (0, Compute), (1, Install), (1, Store), (1, Compute),
    ]  # fmt: skip
    assert bench.engine.sent[2] == (0, Compute(first, (0,), 5.0))
    assert [list(m.chunks) for _, m in bench.engine.sent if isinstance(m, Store)] == [[0], [1]]
    bench.engine.sent.clear()
    bench.engine.at = 1.0
    assert bench.finish(0, 0, np.ones(1), first) == []
    assert bench.finish(1, 1, np.full(1, 2.0), first) == []
    assert bench.engine.sent == [(0, Compute(second, (0,), 8.0)), (1, Compute(second, (1,), 8.0))]
    bench.engine.at = 2.0
    bench.finish(0, 0, np.ones(1), second)
    (delivery,) = bench.finish(1, 1, np.full(1, 2.0), second)
    assert (delivery.job, delivery.name, delivery.state, delivery.iterations) == (0, "it", 11.0, 2)
    assert (delivery.arrived, delivery.started, delivery.delivered, delivery.error) == (-3.0, 0.0, 2.0, None)
    assert (delivery.delay, delivery.service) == (5.0, 2.0)
    assert bench.engine.sent[-2:] == [(0, Forget(0, (0,))), (1, Forget(0, (1,)))]
    assert len(bench.driver) == 0


def test_listeners_hear_events_and_commands_in_order() -> None:
    bench = Bench()
    bench.driver.submit(job(1), 0.0)
    bench.finish(0, 0, np.ones(1), Ticket(0, 0))
    bench.finish(1, 1, np.ones(1), Ticket(0, 0))
    kinds = [type(message).__name__ for message in bench.heard]
    assert kinds == [
        "Joined", "Joined", "Arrived", "Assign", "Assign", "Finished", "Finished", "Resolve", "Resolved", "Deliver",
    ]  # fmt: skip
    assert bench.heard[3:5] == [Assign(0, Ticket(0, 0), (0,)), Assign(1, Ticket(0, 0), (1,))]
    assert bench.heard[7:] == [
        Resolve(Ticket(0, 0), frozenset({0, 1})),
        Resolved(Ticket(0, 0), 0.0),
        Deliver(0),
    ]


def test_a_job_that_was_over_is_delivered_without_work() -> None:
    bench = Bench()
    assert bench.driver.submit(job(3), 0.0, saved=Saved("", "", 3, 7.0, over=True)) == 0
    assert bench.driver.submit(job(3), 0.0, saved=Saved("", "", 1, 8.0, over=True, converged=True)) == 1
    first, second = bench.driver.turn(None)  # it does not wait
    assert (first.state, first.iterations, second.state, second.iterations) == (7.0, 3, 8.0, 1)
    assert bench.engine.sent == []


def test_a_job_goes_on_where_its_checkpoint_left_it() -> None:
    bench = Bench()
    bench.driver.submit(job(3), 0.0, saved=Saved("", "", 2, 7.0, over=False))
    assert bench.engine.sent[2] == (0, Compute(Ticket(0, 2), (0,), 7.0))


def test_skipped_numbers_are_not_used_again() -> None:
    bench = Bench()
    assert [bench.driver.submit(job(), 0.0), bench.driver.skip(), bench.driver.submit(job(), 0.0)] == [0, 1, 2]
    assert bench.driver.submitted == 3


def test_share_is_asked_once_per_iteration() -> None:
    """Also where more tasks of an iteration are given out later, here because a worker is lost."""
    calls: list[float] = []

    def share(state: float) -> float:
        calls.append(state)
        return -state

    bench = Bench()
    bench.driver.submit(job(2, share=share), 5.0)
    assert calls == [5.0]
    bench.engine.coming = [Lost(1, 0.0)]
    bench.driver.turn(0.0)
    assert bench.engine.sent[-1] == (0, Compute(Ticket(0, 0), (1,), -5.0))
    assert calls == [5.0]
    bench.finish(0, 0, np.ones(1), Ticket(0, 0))
    bench.finish(0, 1, np.ones(1), Ticket(0, 0))
    assert calls == [5.0, 7.0]


def test_results_of_a_purged_iteration_are_dropped() -> None:
    bench = Bench()
    bench.driver.submit(job(2), 0.0)
    for worker in (0, 1):
        bench.finish(worker, worker, np.ones(1), Ticket(0, 0))
    bench.finish(0, 0, np.full(1, 100.0), Ticket(0, 0))  # late
    for worker in (0, 1):
        delivered = bench.finish(worker, worker, np.ones(1), Ticket(0, 1))
    assert delivered[0].state == 4.0


def test_who_gets_no_more_tasks_is_told_to_stop() -> None:
    """Any three of four results do: at the end one worker is still at its last task."""
    bench = Bench()
    program = Program(dh.codes.cyclic(4, 1), iterations=1)
    bench.driver.submit(program, None)
    for worker, task in ((0, 0), (0, 1), (1, 2)):
        delivered = bench.finish(worker, task, None, Ticket(0, 0))
    assert len(delivered) == 1
    assert [m for w, m in bench.engine.sent if isinstance(m, Cancel)] == [Cancel(Ticket(0, 0))]
    assert [w for w, m in bench.engine.sent if isinstance(m, Cancel)] == [1]


def test_where_no_worker_comes_it_is_said() -> None:
    driver = Driver(Master(Estimates(PAIR)), Scripted())
    with pytest.raises(NobodyCame, match="within 3 s"):
        driver.gather(2, patience=3.0)
    assert driver.engine.now() == pytest.approx(3.0)


def test_with_one_of_two_workers_the_driver_goes_on() -> None:
    engine = Scripted()
    engine.coming = [Joined(1, 0.0)]
    assert Driver(Master(Estimates(PAIR)), engine).gather(2, patience=3.0) == 1


def test_where_no_worker_is_left_it_is_said() -> None:
    bench = Bench()
    bench.driver.submit(job(), 0.0)
    bench.engine.gone = True
    with pytest.raises(NoWorkers, match="1 jobs are not done"):
        bench.driver.turn(0.0)


def test_a_silent_worker_is_dismissed_in_time() -> None:
    """The driver waits no longer than the master's deadline, and says that time has passed."""
    bench = Bench()
    bench.driver.submit(job(), 0.0)
    deadline = bench.driver.master.deadline
    assert deadline is not None
    bench.driver.turn(None)
    assert bench.engine.at == pytest.approx(deadline)
    kinds = [type(message).__name__ for message in bench.heard]
    assert kinds[-3:] == ["Tick", "Dismiss", "Dismiss"]
