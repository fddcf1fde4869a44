"""How a run went: forecast beside measurement, every worker with what it did, the first split after a probe."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest
from descent import descent, off

import deadheat as dh
from deadheat.planning import split
from deadheat.runtime import Job, LocalEngine, Run, emulations, run
from deadheat.runtime.expectation import expected_iteration
from deadheat.runtime.outcome import overhead_of
from deadheat.runtime.record import Record
from deadheat.scheduling import Assign, Command, Event, Static, Ticket
from deadheat.simulation import VirtualEngine

PAIR = dh.Cluster([dh.Worker(1.0, 1.0, comm=0.1), dh.Worker(2.0, 2.0, comm=0.2)])
SMALL = dh.codes.cyclic(6, 1)
SPEC = dh.CodeSpec.of(SMALL.critical, SMALL.total)


def virtual(seed: int) -> VirtualEngine:
    return VirtualEngine(PAIR, dh.split(PAIR, SPEC), seed)


def on_sampled_time(seed: int, jobs: int = 6, iterations: int = 12) -> Run:
    """A run whose forecast is right, by the making of it."""
    job = Job([1.0] * 6, lambda state, chunk: chunk, 0.0, lambda state, total, i: float(total), iterations)
    arrivals = [40.0 * number for number in range(jobs)]
    work = 1.0 / SMALL.cost.work  # so that a task has one unit
    return run([job] * jobs, PAIR, SMALL, virtual(seed), work=work, adapt=False, arrivals=arrivals, checks=0).wait()


@pytest.fixture(scope="module")
def done() -> Run:
    return on_sampled_time(2)


def test_an_outcome_compares_forecast_and_measurement(done: Run) -> None:
    outcome = done.outcome
    assert (outcome.jobs, outcome.failed, outcome.iterations) == (6, 0, 72)
    assert outcome.seconds == pytest.approx(done.trace.end.max())
    assert outcome.exact
    assert not outcome.emulation
    assert [row.what for row in outcome.compared] == ["iteration", "service", "delay"]
    iteration, service, delay = outcome.compared
    expected = expected_iteration(PAIR, SMALL, SPEC, split, 1.0, Static())
    assert iteration.forecast.mean == pytest.approx(expected.mean, rel=0.01)
    assert iteration.measured.mean == pytest.approx(done.trace.service.sum() / 72)
    assert service.measured.mean == pytest.approx(done.trace.service.mean())
    assert delay.measured.mean == pytest.approx(done.trace.delay.mean())
    for row in outcome.compared:
        assert row.forecast.low < row.forecast.mean < row.forecast.high
        assert row.ratio == pytest.approx(row.measured.mean / row.with_overhead.mean)
        assert row.held == row.with_overhead.holds(row.measured.mean)
    assert 0 <= outcome.overhead < 1e-9  # on a clock that only workers move
    assert outcome.at_master == 0


def test_intervals_are_stated_as_the_run_goes_on(done: Run) -> None:
    """At each job's start, and after every iteration but the last; before the third of the first job there are none."""
    assert done.outcome.intervals == 72 - 3
    assert 0.8 * 69 < done.outcome.held <= 69


def test_every_worker_is_reported(done: Run) -> None:
    reports = done.outcome.workers
    assert [report.name for report in reports] == PAIR.names
    assert sum(report.load for report in reports) == 6
    assert sum(report.done for report in reports) == 72 * 5  # so many are needed, and the rest is purged
    assert 0 < sum(report.purged for report in reports) <= 72
    for report, truth in zip(reports, PAIR, strict=True):
        assert 0 < report.relative <= 1
        assert 0 < report.individual <= 1
        assert report.mean == pytest.approx(truth.mean, rel=0.4)
        assert report.comm == pytest.approx(truth.comm)
        assert report.state == "idle"
        assert report.late == 0
    assert max(report.relative for report in reports) == 1


def test_forecasts_of_whole_runs_hold() -> None:
    """In 95 of 100 runs, give or take."""
    held = np.array([[row.held for row in on_sampled_time(seed).outcome.compared] for seed in range(40)])
    assert ((held.mean(axis=0) >= 0.85) & (held.mean(axis=0) <= 1)).all()
    assert held.mean() < 1  # an interval that always holds says nothing


def test_overhead_is_latency_beyond_what_was_declared() -> None:
    record = Record(
        iterations=array("d", [1.0, 1.0]),
        at_master=array("d", [0.2, 0.4]),
        decisive=array("q", [0, 1]),
        latency=array("d", [0.15, 0.35]),
    )
    assert overhead_of(record, np.array([0.1, 0.2])) == pytest.approx((0.1 + 0.3, 0.3))
    assert overhead_of(record, np.array([0.5, 0.5])) == pytest.approx((0.3, 0.3))  # never below what the master takes
    assert overhead_of(Record(), np.array([0.1, 0.2])) == (0.0, 0.0)


def test_a_real_run_has_overhead() -> None:
    cluster = dh.Cluster.from_columns([0.002, 0.004], [0.001, 0.002], 0.001)
    outcome = run(descent(12, 15), cluster, emulate=True, adapt=False, seed=1).wait().outcome
    assert outcome.emulation
    assert outcome.overhead >= outcome.at_master > 0
    iteration = outcome.compared[0]
    assert iteration.with_overhead.mean == pytest.approx(iteration.forecast.mean + outcome.overhead, rel=0.01)
    assert iteration.ratio == pytest.approx(1.0, abs=0.35)
    assert all(report.done > 0 for report in outcome.workers)


def broken(state: Any, chunk: Any) -> Any:
    raise ValueError("no")


def test_a_job_that_failed_is_counted_and_not_compared() -> None:
    bad, good = descent(6, 3, "bad", broken), descent(6, 3, "good")
    outcome = run([bad, good], PAIR, SMALL, virtual(1), adapt=False).wait().outcome
    assert (outcome.jobs, outcome.failed, outcome.iterations) == (1, 1, 3)
    assert len(outcome.compared) == 3
    alone = run(bad, PAIR, SMALL, virtual(1), adapt=False).wait().outcome
    assert (alone.jobs, alone.failed, alone.compared) == (0, 1, ())


# After a probe


def loads_of_the_first_iteration(cluster: dh.Cluster) -> tuple[dict[int, int], Run]:
    """On emulated workers of which the run is told nothing."""
    loads: dict[int, int] = {}

    def listener(message: Event | Command, at: float) -> None:
        if isinstance(message, Assign) and message.ticket == Ticket(0, 0):
            loads[message.worker] = len(message.tasks)

    with LocalEngine(emulations(cluster, seed=5)) as engine:
        done = run(descent(24, 3), workers=len(cluster), engine=engine, listeners=[listener]).wait()
    assert off(done.state, 3) < 1e-9
    return loads, done


def test_after_a_probe_the_first_split_is_a_good_one() -> None:
    """Workers of 3 and 12 ms: the first gets some four times as many tasks, from the first iteration on."""
    loads, done = loads_of_the_first_iteration(dh.Cluster.from_columns([0.003, 0.012], [0.0003, 0.0012]))
    assert sum(loads.values()) == 24
    assert 2 * loads[1] < loads[0] < 8 * loads[1]
    assert 2 * done.cluster.mean[0] < done.cluster.mean[1] < 8 * done.cluster.mean[0]


def test_after_a_probe_equal_workers_get_equal_shares() -> None:
    """A negative control."""
    loads, _ = loads_of_the_first_iteration(dh.Cluster.from_columns([0.008, 0.008], [0.0008, 0.0008]))
    assert sum(loads.values()) == 24
    assert max(loads.values()) < 2 * min(loads.values())
