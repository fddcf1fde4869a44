"""Shared memory of local workers in use: data of jobs that are over is let go, and late readers come to no harm."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import each_engine
import numpy as np
import pytest
from processes import shared_memory

import deadheat as dh
from deadheat.runtime import Job, LocalEngine, run
from deadheat.runtime.conformance import started, until
from deadheat.scheduling import (
    Command,
    Compute,
    Deliver,
    Engine,
    Event,
    Finished,
    Install,
    Program,
    Ticket,
    Token,
)

CODE = dh.codes.uncoded(1)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    """One worker for all tests that talk to it by messages; each takes a job number of its own."""
    with started(LocalEngine, 1) as engine:
        yield engine


def mean(state: Any, chunk: Any) -> Any:
    return np.array([chunk.mean()])


def test_the_data_of_jobs_that_are_over_is_let_go() -> None:
    held: list[int] = []

    def listener(message: Event | Command, at: float) -> None:
        pid = one.pid(0)
        if isinstance(message, Deliver) and pid is not None:
            held.append(len(shared_memory(pid)))

    jobs = [Job([np.ones(1_000_000) for _ in range(4)], mean, np.zeros(1), lambda s, t, i: t, 2) for _ in range(6)]
    one = LocalEngine(1)
    with one:
        run(jobs, dh.Cluster.from_columns([1e-3], 1e-4), engine=one, listeners=[listener]).wait()
        assert (one._arenas, one._programs, one._chunks) == ({}, {}, {})
    assert len(held) == 6
    assert max(held) <= 2 * held[0]  # this job's, and perhaps the last one's


def slow_at_first(state: Any, chunk: Any) -> Any:
    time.sleep(0.0 if chunk[0] == 2.0 else 1.0)
    return mean(state, chunk)


def test_chunks_that_only_a_lost_worker_had_are_let_go() -> None:
    """It brings its result and is lost; nobody else needs its chunk, and the others finish the job."""
    job = Job([np.full(50_000, float(i)) for i in range(3)], slow_at_first, np.zeros(1), lambda s, t, i: t, 1)
    three = LocalEngine(3, replace_dead=False)
    with three:
        under_way = run(job, each_engine.TRIO, engine=three, adapt=False)
        killer = each_engine.Killer(under_way, (each_engine.Moment(Finished, worker=2), 2))
        assert under_way.state.tolist() == [3.0]
        assert killer.killed == killer.lost == [2]
        assert (three._arenas, three._programs, three._chunks) == ({}, {}, {})


class Large(Program):
    """Results of 0.6 MB."""

    def run(self, task: int, token: Token) -> Any:
        return np.full(75_000, float(task))


def test_late_results_of_an_arena_that_grew_do_no_harm(engine: Engine) -> None:
    engine.send(0, Install(0, Large(CODE)))
    engine.send(0, Compute(Ticket(0, 0), tuple(range(8)), None))
    time.sleep(0.5)  # the master steps, and has read nothing yet
    engine.send(0, Compute(Ticket(0, 1), (9,), None))
    time.sleep(0.5)
    events = until(engine, 9, Finished)
    assert events[-1].ticket == Ticket(0, 1)
    assert (events[-1].value == 9.0).all()


class Deaf(Program):
    """Its first iteration holds the interpreter for a while, as some calls into C do: nothing is heard meanwhile."""

    def begin(self, state: Any, iteration: int) -> None:
        self.state = state

    def run(self, task: int, token: Token) -> Any:
        if self.state["number"] == 0:
            sum(range(30_000_000))
        return np.array([float(self.state["number"])])


def test_a_worker_that_hears_late_is_not_lost_for_the_job(engine: Engine) -> None:
    def state(number: int) -> dict[str, Any]:
        return {"number": number, "words": ["word"] * (600 + 1000 * number * 7919 % 3001)}

    engine.send(0, Install(1, Deaf(CODE)))
    engine.send(0, Compute(Ticket(1, 0), (0,), state(0)))
    time.sleep(0.2)
    for number in range(1, 8):
        engine.send(0, Compute(Ticket(1, number), (0,), state(number)))
    answer: Event | None = None
    end = time.monotonic() + 30
    while answer is None and time.monotonic() < end:
        answer = next((e for e in engine.wait(1.0) if getattr(e, "ticket", None) == Ticket(1, 7)), None)
    assert isinstance(answer, Finished), answer
    assert answer.value[0] == 7.0
