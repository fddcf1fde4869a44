"""A stream is a stream: jobs are taken from a generator when their turn is near, and forgotten when they are done."""

from __future__ import annotations

import gc
import itertools
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from descent import descent, off
from each_engine import PAIR
from processes import alive

import deadheat as dh
from deadheat.coding import Code
from deadheat.runtime import Job, run
from deadheat.runtime.run import NEAR
from deadheat.scheduling import Program
from deadheat.simulation import VirtualEngine

CHUNKS = 6


def virtual(cluster: dh.Cluster = PAIR) -> VirtualEngine:
    return VirtualEngine(cluster, dh.uniform(cluster, dh.CodeSpec(CHUNKS)), 1)


def number(value: float, iterations: int = 2) -> Job:
    """A job whose last state is that value."""
    return Job([value] * CHUNKS, lambda s, c: c, 0.0, lambda s, total, i: float(total) / CHUNKS, iterations, str(value))


class Taken:
    """A generator of jobs that counts how many were taken from it."""

    def __init__(self, jobs: int) -> None:
        self.jobs, self.count = jobs, 0

    def __iter__(self) -> Iterator[Job]:
        for value in range(self.jobs):
            self.count += 1
            yield number(float(value))


# One after the other


def test_jobs_are_taken_when_their_turn_is_near() -> None:
    taken = Taken(50)
    for place, delivery in enumerate(run(iter(taken), PAIR, engine=virtual()), 1):
        assert delivery.state == place - 1
        assert taken.count <= place + 2
    assert taken.count == 50


def test_an_endless_stream() -> None:
    jobs = (number(float(value)) for value in itertools.count())
    under_way = run(jobs, PAIR, engine=virtual())
    first = [delivery.state for delivery in itertools.islice(under_way, 5)]
    assert first == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert under_way.count is None
    assert under_way.eta.progress is None


class Prepared(Job):
    """A job that counts how many of its kind are prepared, and which."""

    def program(self, code: Code | None, memory: float) -> Program:
        prepared.append(self.name)
        return super().program(code, memory)


prepared: list[str] = []


def test_jobs_of_a_list_are_prepared_when_their_turn_is_near() -> None:
    prepared.clear()
    jobs = [Prepared([1.0] * CHUNKS, lambda s, c: c, 0.0, lambda s, t, i: t, 1, str(n)) for n in range(10)]
    under_way = run(jobs, PAIR, engine=virtual())
    assert prepared == ["0"]
    for place, _ in enumerate(under_way, 1):
        assert len(prepared) <= place + NEAR
    assert prepared == [str(n) for n in range(10)]  # each once


def test_what_is_delivered_is_forgotten() -> None:
    """The data of a job is gone soon after its delivery, here and in the engine."""
    kept: list[weakref.ref[Any]] = []

    def jobs() -> Iterator[Job]:
        for _ in range(20):
            chunks = [np.ones(1000) for _ in range(CHUNKS)]
            kept.append(weakref.ref(chunks[0]))
            yield Job(chunks, lambda s, c: c[:1], 0.0, lambda s, total, i: float(total[0]), 1)
            del chunks

    most = 0
    for _ in run(jobs(), PAIR, engine=virtual()):
        gc.collect()
        most = max(most, sum(ref() is not None for ref in kept))
    assert most <= NEAR + 1
    assert len(kept) == 20


def test_states_of_a_stream_go_to_whoever_iterates() -> None:
    under_way = run((number(float(value)) for value in range(4)), PAIR, engine=virtual())
    assert [delivery.state for delivery in under_way] == [0.0, 1.0, 2.0, 3.0]
    assert [delivery.state for delivery in under_way.deliveries] == [None] * 4
    assert [delivery.name for delivery in under_way.deliveries] == ["0.0", "1.0", "2.0", "3.0"]
    assert under_way.state == 3.0  # the last one's stays


def test_states_of_a_list_are_kept() -> None:
    """A negative control."""
    under_way = run([number(float(value)) for value in range(4)], PAIR, engine=virtual()).wait()
    assert [delivery.state for delivery in under_way.deliveries] == [0.0, 1.0, 2.0, 3.0]


def test_a_stream_has_a_trace_and_an_outcome() -> None:
    done = run((number(float(value), 5) for value in range(6)), PAIR, engine=virtual(), adapt=False).wait()
    assert len(done.trace) == 6
    assert (done.outcome.jobs, done.outcome.iterations) == (6, 30)
    assert len(done.outcome.compared) == 3


# Arrivals and codes


def test_arrivals_may_come_from_a_generator() -> None:
    """Every five seconds, without end; a job takes a few milliseconds."""
    jobs = (number(float(value)) for value in range(4))
    done = run(jobs, PAIR, engine=virtual(), arrivals=(5.0 * n for n in itertools.count())).wait()
    assert done.trace.arrival == pytest.approx([0.0, 5.0, 10.0, 15.0])
    assert done.trace.start == pytest.approx([0.0, 5.0, 10.0, 15.0])
    assert (done.trace.delay < 1.0).all()


def test_jobs_that_come_while_others_are_at_work_wait() -> None:
    slow = dh.Cluster.from_columns([1.0, 1.0], 0.0)
    jobs = (number(float(value)) for value in range(3))
    done = run(jobs, slow, engine=virtual(slow), arrivals=iter([0.0, 1.0, 2.0]), adapt=False).wait()
    assert done.trace.arrival == pytest.approx([0.0, 1.0, 2.0])
    assert done.trace.start == pytest.approx([0.0, 6.0, 12.0])  # two iterations of three tasks each
    assert done.trace.delay == pytest.approx([6.0, 11.0, 16.0])


@pytest.mark.parametrize(
    ("arrivals", "words"),
    [
        ([0.0, 3.0, 2.0, 4.0], "in the order of their arrival"),
        ([0.0, 1.0, float("nan"), 4.0], "arrivals"),
        ([0.0, 1.0], "fewer than jobs"),
    ],
    ids=["order", "nan", "count"],
)
def test_arrivals_are_checked_as_they_come(arrivals: list[float], words: str) -> None:
    jobs = (number(float(value)) for value in range(4))
    with pytest.raises(dh.BadInput, match=words):
        run(jobs, PAIR, engine=virtual(), arrivals=iter(arrivals)).wait()


def test_codes_may_come_from_a_generator() -> None:
    codes = itertools.cycle([dh.codes.cyclic(6, 2), None, dh.codes.fractional_repetition(6, 1)])
    deliveries = list(run((descent(6, 3) for _ in range(6)), PAIR, codes, virtual()))
    assert len(deliveries) == 6
    assert all(off(delivery.state, 3) < 1e-9 for delivery in deliveries)


def test_codes_that_are_fewer_than_jobs_are_not_made_up() -> None:
    codes = iter([dh.codes.cyclic(6, 2)])
    with pytest.raises(dh.BadInput, match="code"):
        run((descent(6, 3) for _ in range(3)), PAIR, codes, virtual()).wait()


# What goes wrong


class Torn(Job):
    """A job that cannot be prepared."""

    def program(self, code: Code | None, memory: float) -> Program:
        raise FAILURES[self.name]


FAILURES: dict[str, Exception] = {
    "bad input": dh.BadInput("rows", 0, "no rows", "give some"),
    "a file": FileNotFoundError(2, "No such file or directory", "table.csv"),
    "any error": ZeroDivisionError("no columns"),
}


def torn(name: str) -> Torn:
    return Torn([1.0], lambda s, c: c, 0.0, lambda s, t, i: t, 1, name)


@pytest.mark.parametrize("name", list(FAILURES))
def test_a_job_in_the_middle_that_cannot_be_prepared_is_delivered_with_its_error(name: str) -> None:
    jobs = iter([number(1.0), torn(name), number(3.0), number(4.0)])
    under_way = run(jobs, PAIR, engine=virtual())
    first, second, third, fourth = sorted(under_way, key=lambda delivery: delivery.job)  # for their order see below
    assert [first.state, third.state, fourth.state] == [1.0, 3.0, 4.0]
    assert [first.error, third.error, fourth.error] == [None, None, None]
    assert (second.job, second.name, second.iterations, second.state) == (1, name, 0, None)
    assert second.error is not None
    assert str(FAILURES[name]) in second.error
    assert (under_way.outcome.jobs, under_way.outcome.failed) == (3, 1)


@pytest.mark.parametrize("name", list(FAILURES))
def test_a_first_job_that_cannot_be_prepared_raises(name: str) -> None:
    with pytest.raises(type(FAILURES[name])):
        run(iter([torn(name), number(1.0)]), PAIR, engine=virtual())


def test_deliveries_come_in_the_order_of_the_jobs() -> None:
    """Also of a job that could not be prepared while the one before it was at work."""
    jobs = [number(1.0), torn("any error"), number(3.0)]
    assert [delivery.job for delivery in run(iter(jobs), PAIR, engine=virtual())] == [0, 1, 2]
    assert [delivery.job for delivery in run(jobs, PAIR, engine=virtual()).wait().deliveries] == [0, 1, 2]


def test_the_last_state_is_that_of_the_last_job() -> None:
    """It could not be prepared: then there is none, whatever the job before it has come to."""
    with pytest.raises(dh.JobFailed, match="no columns"):
        _ = run([number(1.0), torn("any error")], PAIR, engine=virtual()).state


def test_a_job_for_which_there_is_no_room_is_delivered_with_its_error() -> None:
    """Of the second one the workers together can hold half."""
    small = dh.Cluster([dh.Worker(1e-3, 0.0, capacity=4.0), dh.Worker(1e-3, 0.0, capacity=4.0)])
    large = Job([1.0] * 16, lambda s, c: c, 0.0, lambda s, t, i: t, 1, "large")
    engine = VirtualEngine(small, dh.uniform(small, dh.CodeSpec(8)))
    first, second, third = run(iter([number(1.0), large, number(3.0)]), small, engine=engine)
    assert (first.state, third.state) == (1.0, 3.0)
    assert second.error is not None
    assert "capacity" in second.error


def test_a_generator_that_raises_ends_the_run() -> None:
    """The error is the generator's own; jobs that were taken before it are delivered first, and no worker is left."""

    def jobs() -> Iterator[Job]:
        yield from (number(float(value)) for value in range(5))
        raise OSError("the socket is closed")

    under_way = run(jobs(), PAIR)
    pids = [under_way.driver.engine.pid(worker) or 0 for worker in (0, 1)]
    assert all(map(alive, pids))
    with pytest.raises(OSError, match="the socket is closed"):
        under_way.wait()
    assert [delivery.name for delivery in under_way.deliveries] == ["0.0", "1.0", "2.0", "3.0", "4.0"]
    assert under_way.closed
    assert not any(map(alive, pids))


@pytest.mark.parametrize("odd", ["x", None, Job], ids=str)
def test_what_is_no_job_in_a_stream_is_said(odd: Any) -> None:
    """In a delivery of its own; the stream goes on."""
    deliveries = list(run(iter([number(1.0), number(2.0), odd, number(4.0)]), PAIR, engine=virtual()))
    assert len(deliveries) == 4
    (bad,) = [delivery for delivery in deliveries if delivery.error is not None]
    assert bad.error is not None
    assert "not a job" in bad.error
    assert (bad.job, bad.name) == (2, "")


def test_a_run_that_is_left_ends_its_workers() -> None:
    """Whoever breaks off the iteration, or leaves the context."""
    with run((number(float(value)) for value in itertools.count()), PAIR) as under_way:
        pids = [under_way.driver.engine.pid(worker) or 0 for worker in (0, 1)]
        for delivery in under_way:
            if delivery.state == 3.0:
                break
    assert not any(map(alive, pids))
