"""Workers that join, leave and are slower than thought, during a run on either engine."""

from __future__ import annotations

import time
from typing import Any

import each_engine
import pytest
from descent import descent, gradient, off, step
from each_engine import PAIR

import deadheat as dh
from deadheat.runtime import Converged, Job, LocalEngine, run
from deadheat.scheduling import Assign, Command, Dismiss, Event, Finished, Lost, Resolved, Ticket

engine = each_engine.engine


def slow_gradient(w: Any, chunk: Any) -> Any:
    time.sleep(0.005)
    return gradient(w, chunk)


def test_workers_come_and_go_during_a_run(engine: str) -> None:
    """One more after the third iteration; when it has brought a result, the first leaves; then some more, and done."""
    seen: dict[str, int] = {}
    first_left: list[float] = []
    assigned: list[tuple[int, float]] = []

    def listener(message: Event | Command, at: float) -> None:
        match message:
            case Resolved(ticket=Ticket(iteration=3)):
                seen["added"] = roster.add()
            case Finished(worker=2) if not first_left:
                first_left.append(at)
                roster.leave(0)
            case Assign(worker=worker):
                assigned.append((worker, at))
            case Lost(worker=worker):
                seen["lost"] = worker

    def until_both_have_worked(w: Any, total: Any, iteration: int) -> Any:
        new = step(w, total, iteration)
        after = [worker for worker, at in assigned if first_left and at > first_left[0]]
        return Converged(new) if min(after.count(1), after.count(2)) >= 10 else new

    with each_engine.ENGINES[engine](2) as roster:
        job = descent(12, 5000, compute=slow_gradient, step=until_both_have_worked)
        done = run(job, PAIR, engine=roster, listeners=[listener]).wait()
        with pytest.raises(dh.BadInput, match="not there"):
            roster.leave(0)
    (delivery,) = done.deliveries
    assert delivery.iterations < 5000
    assert off(delivery.state, delivery.iterations) < 1e-9
    assert seen == {"added": 2, "lost": 0}
    reports = done.reports
    assert [report.name for report in reports] == ["w1", "w2", "joined-3"]
    assert reports[0].state == "lost"
    assert reports[2].done >= 10
    late = sum(at > first_left[0] for worker, at in assigned if worker == 0)
    assert late <= (1 if engine == "ray" else 0)  # with Ray it takes a moment until one hears of it


def test_an_engine_serves_one_run() -> None:
    """Its workers remember tickets: a second run says so at once, instead of waiting for ever."""
    with LocalEngine(2) as roster:
        assert off(run(descent(6, 3), PAIR, engine=roster).state, 3) < 1e-9
        with pytest.raises(dh.BadInput, match="has served a run before"):
            run(descent(6, 3), PAIR, engine=roster)


def test_tasks_that_take_longer_than_declared_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker is taken for lost and replaced; each time it then has twice the time, until that is enough."""
    monkeypatch.setattr("deadheat.scheduling.estimates.LEAST_SILENCE", 0.3)
    monkeypatch.setattr("deadheat.scheduling.losses.FIRST_RESULT", 0.0)
    heard: list[Event | Command] = []

    def long(state: Any, chunk: float) -> float:
        time.sleep(0.7)
        return chunk

    job = Job([1.0], long, 0.0, lambda s, total, i: float(total), 1)
    one = dh.Cluster.from_columns([1e-3], 1e-4)
    (done,) = run(job, one, listeners=[lambda message, at: heard.append(message)])
    assert done.error is None
    assert done.state == 1.0
    assert any(isinstance(message, Dismiss) for message in heard)
