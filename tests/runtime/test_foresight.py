"""Foresight: what a run is told to expect holds as often as it says; afterwards forecast and measurement compare."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import sampled
from descent import descent, serial

import deadheat as dh
from deadheat.paper import worked_example
from deadheat.runtime.driver import Task
from deadheat.runtime.emulation import emulations
from deadheat.runtime.engines.local import LocalEngine
from deadheat.runtime.engines.virtual import VirtualEngine
from deadheat.runtime.estimates import Estimates
from deadheat.runtime.horizons import PRIOR, SURE, Horizon
from deadheat.runtime.job import Job
from deadheat.runtime.messages import Assign, Command, Deliver, Event, Resolved, Ticket
from deadheat.runtime.outcomes import overhead_of
from deadheat.runtime.outlooks import SAMPLED, Nothing, Outlook, Range, outlook, ranges
from deadheat.runtime.probing import PROBED, probe
from deadheat.runtime.records import Record
from deadheat.runtime.runs import Run, run
from deadheat.runtime.schedules import Static
from deadheat.simulation import Decodable

WORK = worked_example.spec().work
PAIR = dh.Cluster([dh.Worker(1.0, 1.0, comm=0.1), dh.Worker(2.0, 2.0, comm=0.2)])
SMALL = dh.codes.cyclic(6, 1)


# Outlooks


class Drawn(Static):
    """The static split once more, but no law is known for it."""


@pytest.mark.parametrize("code", [dh.codes.cyclic(55, 5), dh.codes.cyclic(55, 5, reuse=True)], ids=["plain", "reuse"])
def test_the_exact_law_and_sampled_time_agree(code: dh.Code) -> None:
    cluster = worked_example.cluster()
    exact = outlook(cluster, sampled.brief(code, WORK, 10))
    drawn = outlook(cluster, sampled.brief(code, WORK, 10, schedule=Drawn()), seed=3)
    assert exact.exact
    assert not drawn.exact
    assert abs(drawn.mean - exact.mean) < 3.5 * exact.std / math.sqrt(SAMPLED)
    assert drawn.std == pytest.approx(exact.std, rel=0.2)


def test_the_worked_example_is_foretold() -> None:
    known = outlook(worked_example.cluster(), sampled.brief(dh.codes.cyclic(55, 5), WORK, 50))
    assert known.mean == pytest.approx(0.7587, abs=5e-5)


def test_a_code_that_stops_on_coverage_is_sampled() -> None:
    """Held against the simulator: 20000 iterations that end when each part is there once."""
    cluster, code = worked_example.cluster(), dh.codes.fractional_repetition(48, 1)
    job = sampled.brief(code, WORK, 10)
    known = outlook(cluster, job)
    split = job.policy(cluster, job.spec, job.gamma)
    lengths = dh.simulate(cluster, split, dh.Stream.poisson(1e-9, 1), 20_000, seed=1, schedule=Decodable(code)).service
    assert not known.exact
    assert abs(known.mean - lengths.mean()) < 3.5 * lengths.std() / math.sqrt(SAMPLED)
    assert known.std == pytest.approx(lengths.std(), rel=0.2)
    worst = dh.IterationLaw(cluster.tasks(job.spec), split.loads, code.critical)
    assert known.mean < 0.9 * worst.mean  # any K results would take longer


# Ranges


def shown(seed: int, split: dh.Split, arrivals: list[float], iterations: int) -> tuple[float, float, float]:
    """Mean iteration, service and delay of a simulated run."""
    stream = dh.Stream.poisson(1.0, iterations)
    trace = dh.simulate(PAIR, split, stream, len(arrivals), seed=seed, arrivals=arrivals)
    services, delays = float(trace.service.mean()), float(trace.delay.mean())
    return services / iterations, services, delays


def hits(known: Outlook, runs: int = 2000) -> list[float]:
    """How often iteration, service and delay of a run of eight jobs lie in their ranges; some jobs have to wait."""
    iterations, jobs = 10, 8
    arrivals = [50.0 * number for number in range(jobs)]
    split = dh.split(PAIR, dh.CodeSpec.of(SMALL.critical, SMALL.total))
    foretold = ranges([known] * jobs, [iterations] * jobs, arrivals, 0.0)
    found = [shown(seed, split, arrivals, iterations) for seed in range(runs)]
    columns = zip(*found, strict=True)
    return [float(np.mean([value in one for value in seen])) for one, seen in zip(foretold, columns, strict=True)]


def test_ranges_hold_in_95_of_100_runs() -> None:
    for part in hits(outlook(PAIR, sampled.brief(SMALL, 1.0, 10))):
        assert 0.93 <= part <= 0.97


def test_ranges_of_a_wrong_outlook_do_not_hold() -> None:
    """A negative control: workers a quarter slower than thought."""
    known = outlook(PAIR, sampled.brief(SMALL, 1.0, 10))
    for part in hits(Outlook(known.mean / 1.25, known.std / 1.25, True), 100):
        assert part < 0.5


def test_overhead_and_waiting_are_added() -> None:
    still = Outlook(2.0, 0.0, True)
    each, service, delay = ranges([still, still], [3, 5], [0.0, 0.0], 0.5)
    assert (each.mean, each.low, each.high) == pytest.approx((2.5, 2.5, 2.5))
    assert service.mean == pytest.approx((7.5 + 12.5) / 2)
    assert delay.mean == pytest.approx((7.5 + 20.0) / 2)  # the second waits for the first


def test_a_range_has_ends() -> None:
    known = Range(2.0, 1.0, 3.0)
    assert 1.0 in known
    assert 3.0 in known
    assert 0.999 not in known
    assert 3.001 not in known


# Horizons


def test_a_horizon_by_hand() -> None:
    """Two jobs of 4 and 3 iterations, of which 2 s each are expected; the second comes at 10."""
    expected = Outlook(2.0, 0.5, True)
    horizon = Horizon([4, 3], [0.0, 10.0], {0: expected, 1: expected})
    assert horizon.job_ends(0.0) is None
    assert horizon.progress == 0
    for worker in (0, 1):
        horizon(Assign(worker, Ticket(0, 0), (worker,)), 0.0)
    ends = horizon.job_ends(0.0)
    assert ends is not None
    half = SURE * 0.5 * math.sqrt(4 + 4**2 / PRIOR)
    assert (ends.mean, ends.low, ends.high) == pytest.approx((8.0, 8 - half, 8 + half))
    last = horizon.run_ends(0.0)
    assert last is not None
    assert last.mean == pytest.approx(16.0)  # the second begins when it comes
    for iteration in range(4):
        at = 2.0 * (iteration + 1)
        horizon(Resolved(Ticket(0, iteration), at), at)
        if iteration < 3:
            horizon(Assign(0, Ticket(0, iteration + 1), (0,)), at)
    assert horizon.progress == pytest.approx(4 / 7)
    horizon(Deliver(0), 8.0)
    assert (horizon.done, horizon.made, horizon.held) == (1, 4, 4)  # at its start, and after 1, 2 and 3 iterations
    horizon(Assign(0, Ticket(1, 0), (0,)), 10.0)
    ends = horizon.job_ends(10.0)
    assert ends is not None
    assert ends.mean == pytest.approx(16.0)
    assert horizon.run_ends(10.0) == ends  # it is the last
    horizon(Resolved(Ticket(1, 0), 30.0), 30.0)
    horizon(Deliver(1), 60.0)
    assert (horizon.done, horizon.made) == (2, 6)
    assert horizon.held == 4  # what was said of the second was wrong: it took far longer


def test_where_nothing_is_known_nothing_is_said() -> None:
    horizon = Horizon([5], [0.0], {})
    horizon(Assign(0, Ticket(0, 0), (0,)), 0.0)
    assert horizon.job_ends(0.0) is None
    assert horizon.run_ends(0.0) is None
    for iteration in range(3):
        horizon(Resolved(Ticket(0, iteration), iteration + 1.0), iteration + 1.0)
    ends = horizon.job_ends(3.0)
    assert ends is not None
    assert ends.mean == pytest.approx(5.0)


def test_a_job_of_another_kind_is_foretold_by_its_own_outlook() -> None:
    """Ten iterations of about 1 s, then ten of about 10 s."""
    horizon = Horizon([10, 10], [0.0, 0.0], {0: Outlook(1.0, 0.1, True), 1: Outlook(10.0, 1.0, True)})
    horizon(Assign(0, Ticket(0, 0), (0,)), 0.0)
    last = horizon.run_ends(0.0)
    assert last is not None
    assert 110.0 in last
    for iteration in range(10):
        at = iteration + (1.1 if iteration % 2 else 0.9)
        horizon(Resolved(Ticket(0, iteration), at), at)
    horizon(Deliver(0), 10.0)
    horizon(Assign(0, Ticket(1, 0), (0,)), 10.0)
    ends = horizon.job_ends(10.0)
    assert ends is not None
    assert 110.0 in ends


@pytest.mark.parametrize("foretold", [True, False])
def test_stated_intervals_hold(foretold: bool) -> None:
    """Ten for each of 300 jobs, on sampled time."""
    job, jobs = sampled.brief(SMALL, 1.0, 10), 300
    known = outlook(PAIR, job)
    horizon = Horizon([10] * jobs, [0.0] * jobs, dict.fromkeys(range(jobs), known) if foretold else {})
    sampled.run_through(sampled.driver(PAIR, job, 7, Estimates(PAIR), [horizon]), job, jobs)
    assert horizon.done == jobs
    assert horizon.made == pytest.approx(10 * jobs, abs=5)  # without a forecast the first ones are missing
    assert 0.93 <= horizon.held / horizon.made <= 0.98


# Probing


def probed(cluster: dh.Cluster, rounds: int, seed: int) -> tuple[list[bool], list[float], Estimates]:
    """A probe on sampled time: which intervals hold the truth, the seconds on the way, and what is known then."""
    job, known = sampled.brief(dh.codes.uncoded(40), 1.0, 1), Estimates(cluster, guessed=True)
    driver = sampled.driver(cluster, job, seed, known, [])
    number = driver.take(Task(job, Nothing(), None, lambda state, answer, iteration: None, blind=True))
    found = probe(driver, number, rounds, 1000.0)
    held = [found[w].mean.holds(float(cluster.mean[w])) for w in range(len(cluster))]
    return held, [found[w].way.mean for w in range(len(cluster))], known


def test_intervals_of_a_probe_hold_the_truth_mostly() -> None:
    cluster = dh.Cluster([dh.Worker(1.0, 1.0, 0.2), dh.Worker(2.0, 0.5, 0.3), dh.Worker(4.0, 2.0, 0.1)])
    all_held = []
    for seed in range(80):
        held, way, known = probed(cluster, 12, seed)
        all_held += held
        assert way == pytest.approx(cluster.comm.tolist())
        assert [known[w].seen for w in range(3)] == [22, 22, 22]  # two tasks a round; the first round warms up
    assert 0.88 <= np.mean(all_held) <= 0.985


def loads_of_the_first_iteration(cluster: dh.Cluster) -> tuple[dict[int, int], Run]:
    """On emulated workers of which the run is told nothing."""
    loads: dict[int, int] = {}

    def listener(news: Event | Command, at: float) -> None:
        if isinstance(news, Assign) and news.ticket == Ticket(0, 0):
            loads[news.worker] = len(news.tasks)

    with LocalEngine(emulations(cluster, seed=5)) as engine:
        done = run(descent(24, 3), workers=len(cluster), engine=engine, listeners=[listener]).wait()
    assert np.abs(done.state - serial(3)).max() < 1e-9
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


def test_a_short_probe_is_short() -> None:
    assert probed(PAIR, PROBED, 1)[2][0].seen == 4


# Outcomes


def virtual(seed: int) -> VirtualEngine:
    return VirtualEngine(PAIR, dh.split(PAIR, dh.CodeSpec.of(SMALL.critical, SMALL.total)), seed)


def on_sampled_time(seed: int, jobs: int = 6, iterations: int = 12) -> Run:
    """A run whose forecast is right, by the making of it."""
    one = Job([1.0] * 6, lambda state, chunk: chunk, 0.0, lambda state, total, i: float(total), iterations)
    arrivals = [40.0 * number for number in range(jobs)]
    work = 1.0 / SMALL.cost.work  # so that a task has one unit
    return run([one] * jobs, PAIR, SMALL, virtual(seed), work=work, adapt=False, arrivals=arrivals).wait()


def test_an_outcome_compares_forecast_and_measurement() -> None:
    done = on_sampled_time(2)
    outcome = done.outcome
    assert (outcome.jobs, outcome.failed, outcome.iterations) == (6, 0, 72)
    assert outcome.seconds == pytest.approx(done.trace.end.max())
    assert outcome.exact
    assert not outcome.emulated
    assert [one.what for one in outcome.compared] == ["iteration", "service", "delay"]
    iteration, service, delay = outcome.compared
    known = outlook(PAIR, sampled.brief(SMALL, 1.0, 12))
    assert iteration.forecast.mean == pytest.approx(known.mean, rel=0.01)
    assert iteration.measured.mean == pytest.approx(done.trace.service.sum() / 72)
    assert service.measured.mean == pytest.approx(done.trace.service.mean())
    assert delay.measured.mean == pytest.approx(done.trace.delay.mean())
    for one in outcome.compared:
        assert one.forecast.low < one.forecast.mean < one.forecast.high
        assert one.ratio == pytest.approx(one.measured.mean / one.with_overhead.mean)
        assert one.held == (one.measured.mean in one.with_overhead)
    assert 0 <= outcome.overhead < 1e-9  # on a clock that only workers move
    assert outcome.at_master == 0
    assert outcome.intervals == 72  # at each job's start, and after every iteration but the last
    assert 0.8 * 72 < outcome.held <= 72


def test_every_worker_is_reported() -> None:
    done = on_sampled_time(2)
    reports = done.outcome.workers
    assert [one.name for one in reports] == PAIR.names
    assert sum(one.load for one in reports) == 6
    assert sum(one.done for one in reports) == 72 * 5  # so many are needed, and the rest is purged
    assert 0 < sum(one.purged for one in reports) <= 72
    for one, truth in zip(reports, PAIR, strict=True):
        assert 0 < one.relative <= 1
        assert 0 < one.individual <= 1
        assert one.mean == pytest.approx(truth.mean, rel=0.4)
        assert one.comm == pytest.approx(truth.comm)
        assert one.state == "idle"
        assert one.late == 0
    assert max(one.relative for one in reports) == 1


def test_forecasts_of_whole_runs_hold() -> None:
    """In 95 of 100 runs, give or take."""
    held = np.array([[one.held for one in on_sampled_time(seed).outcome.compared] for seed in range(40)])
    assert ((held.mean(axis=0) >= 0.85) & (held.mean(axis=0) <= 1)).all()
    assert held.mean() < 1  # a range that always holds says nothing


def test_overhead_is_what_the_way_takes_beyond_what_was_declared() -> None:
    record = Record(iterations=[1.0, 1.0], overhead=[0.2, 0.4], decisive=[0, 1], way=[0.15, 0.35])
    assert overhead_of(record, [0.1, 0.2]) == pytest.approx((0.1 + 0.3, 0.3))
    assert overhead_of(record, [0.5, 0.5]) == pytest.approx((0.3, 0.3))  # never below what the master takes
    assert overhead_of(Record(), [0.1, 0.2]) == (0.0, 0.0)


def test_a_real_run_has_overhead() -> None:
    cluster = dh.Cluster.from_columns([0.002, 0.004], [0.001, 0.002], 0.001)
    outcome = run(descent(12, 15), cluster, emulate=True, adapt=False, seed=1).wait().outcome
    assert outcome.emulated
    assert outcome.overhead >= outcome.at_master > 0
    iteration = outcome.compared[0]
    assert iteration.with_overhead.mean == pytest.approx(iteration.forecast.mean + outcome.overhead, rel=0.01)
    assert iteration.ratio == pytest.approx(1.0, abs=0.35)
    assert all(one.done > 0 for one in outcome.workers)


def broken(state: Any, chunk: Any) -> Any:
    raise ValueError("no")


def test_a_job_that_failed_is_counted_and_not_compared() -> None:
    given = descent(6, 3, "good")
    bad = Job(given.chunks, broken, given.start, given.step, 3, "bad")
    outcome = run([bad, given], PAIR, SMALL, virtual(1), adapt=False).wait().outcome
    assert (outcome.jobs, outcome.failed, outcome.iterations) == (1, 1, 3)
    assert len(outcome.compared) == 3
    alone = run(bad, PAIR, SMALL, virtual(1), adapt=False).wait().outcome
    assert (alone.jobs, alone.failed, alone.compared) == (0, 1, ())
