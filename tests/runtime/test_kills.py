"""Workers that are killed or hang at every moment of a run: no job is lost, and the answer is the right one."""

from __future__ import annotations

import signal

import each_engine
import pytest
from descent import descent, off
from each_engine import PAIR, TRIO, Killer, Moment

import deadheat as dh
from deadheat.coding import Code
from deadheat.runtime import NoWorkers, run
from deadheat.scheduling import Assign, Command, Deliver, Event, Finished, Joined, Lost, Resolve, Resolved

engine = each_engine.engine


@pytest.mark.parametrize(
    ("engine", "code"),
    [("local", None), ("local", dh.codes.cyclic(55, 5)), ("ray", None)],
    ids=["local-uncoded", "local-coded", "ray-uncoded"],
    indirect=["engine"],
)
def test_a_worker_that_is_killed_costs_no_job(engine: str, code: Code | None) -> None:
    """In the first job before its first result, in the second between two tasks, in the third at the last result.

    Without a code every task of the dead must be done again, with one the others suffice: for Ray the former will do.
    """
    jobs = [descent(55, 8, name) for name in ("before its first task", "between tasks", "at the K-th result")]
    under_way = run(jobs, TRIO, code, engine, adapt=False)
    killer = Killer(
        under_way,
        (Moment(Assign, worker=1, job=0), 1),
        (Moment(Finished, 2, worker=2, job=1), 2),
        (Moment(Resolve, job=2), 0),
    )
    deliveries = under_way.wait().deliveries
    assert killer.killed == [1, 2, 0]
    assert [delivery.name for delivery in deliveries] == [job.name for job in jobs]
    for delivery in deliveries:
        assert delivery.error is None
        assert delivery.iterations == 8
        assert off(delivery.state, 8) < 1e-9


def test_a_worker_that_is_killed_while_idle(engine: str) -> None:
    jobs = [descent(12, 4, "first"), descent(12, 4, "second")]
    under_way = run(jobs, workers=2, engine=engine, arrivals=[0.0, 1.0])
    killer = Killer(under_way, (Moment(Deliver, job=0), 0))
    first, second = under_way.wait().deliveries
    assert killer.killed == killer.lost == [0]
    assert (first.name, second.name) == ("first", "second")
    for delivery in (first, second):
        assert delivery.error is None
        assert off(delivery.state, 4) < 1e-9


def test_a_worker_that_hangs_is_taken_for_lost(engine: str) -> None:
    """Its process is stopped, without being ended, when it brings its third result."""
    under_way = run(descent(30, 12), TRIO, engine=engine, adapt=False)
    killer = Killer(under_way, (Moment(Finished, 3, worker=1), 1), how=signal.SIGSTOP)
    (delivery,) = under_way.wait().deliveries
    assert delivery.error is None
    assert off(delivery.state, 12) < 1e-9
    assert 1 in killer.dismissed


def test_who_is_not_replaced_stays_away(engine: str) -> None:
    """The other one does the first job alone; after its own death nobody is left for the second."""
    heard: list[Event | Command] = []
    with each_engine.ENGINES[engine](2, replace_dead=False) as roster:
        under_way = run(
            [descent(12, 30), descent(12, 10**6)], PAIR, engine=roster, listeners=[lambda m, at: heard.append(m)]
        )
        killer = Killer(under_way, (Moment(Resolved, job=0, iteration=2), 0), (Moment(Deliver, job=0), 1))
        deliveries = iter(under_way)
        assert off(next(deliveries).state, 30) < 1e-9
        with pytest.raises(NoWorkers, match="1 jobs are not done"):
            next(deliveries)
        assert roster.exhausted
    assert killer.killed == [0, 1]
    assert sum(isinstance(message, Joined) for message in heard) == 2
    assert sorted(message.worker for message in heard if isinstance(message, Lost)) == [0, 1]
