"""What a run is told to expect: iterations by the exact law or by simulation, and intervals that hold as they say."""

from __future__ import annotations

import math

import numpy as np
import pytest

import deadheat as dh
from deadheat.coding import Code
from deadheat.model import Interval
from deadheat.paper import worked_example
from deadheat.planning import split
from deadheat.queueing import IterationLaw
from deadheat.runtime.expectation import SAMPLED, Expectation, Expectations, expected_iteration, intervals_of_a_run
from deadheat.scheduling import Program, Schedule, Static
from deadheat.simulation import batches, root, times_of

WORK = worked_example.spec().work
PAIR = dh.Cluster([dh.Worker(1.0, 1.0, comm=0.1), dh.Worker(2.0, 2.0, comm=0.2)])
SMALL = dh.codes.cyclic(6, 1)
STATIC = Static()


class Drawn(Static):
    """The static split once more, but no law is known for it."""


def spec_of(code: Code, work: float) -> dh.CodeSpec:
    return dh.CodeSpec.of(code.critical, code.total, work, code.cost.shared_chunks)


def expected(cluster: dh.Cluster, code: Code, work: float, schedule: Schedule = STATIC, seed: int = 0) -> Expectation:
    return expected_iteration(cluster, code, spec_of(code, work), split, 1.0, schedule, seed)


@pytest.mark.parametrize("code", [dh.codes.cyclic(55, 5), dh.codes.cyclic(55, 5, reuse=True)], ids=["plain", "reuse"])
def test_the_exact_law_and_sampled_time_agree(code: Code) -> None:
    cluster = worked_example.cluster()
    exact = expected(cluster, code, WORK)
    drawn = expected(cluster, code, WORK, Drawn(), seed=3)
    assert exact.exact
    assert not drawn.exact
    assert abs(drawn.mean - exact.mean) < 3.5 * exact.std / math.sqrt(SAMPLED)
    assert drawn.std == pytest.approx(exact.std, rel=0.2)


def test_the_worked_example_is_foretold() -> None:
    assert expected(worked_example.cluster(), dh.codes.cyclic(55, 5), WORK).mean == pytest.approx(0.7587, abs=5e-5)


def test_a_code_that_stops_on_coverage_is_sampled() -> None:
    """Held against the simulator: 20000 iterations that end when each part is there once."""
    cluster, code = worked_example.cluster(), dh.codes.fractional_repetition(48, 1)
    spec = spec_of(code, WORK)
    ours = expected(cluster, code, WORK)
    loads = split(cluster, spec)
    source = batches(cluster, loads, None, root(1), total=20_000)
    lengths = np.concatenate([times_of(STATIC, batch, code) for batch in source])
    assert lengths.size == 20_000
    assert not ours.exact
    assert abs(ours.mean - lengths.mean()) < 3.5 * lengths.std() / math.sqrt(SAMPLED)
    assert ours.std == pytest.approx(lengths.std(), rel=0.2)
    worst = IterationLaw(cluster.tasks(spec), loads.loads, code.critical)
    assert ours.mean < 0.9 * worst.mean  # any K results would take longer


def test_jobs_of_one_kind_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Code] = []

    def counted(cluster: object, code: Code, *rest: object) -> Expectation:
        calls.append(code)
        return Expectation(1.0, 0.0, True)

    monkeypatch.setattr("deadheat.runtime.expectation.expected_iteration", counted)
    expectations = Expectations(PAIR, split, 1.0, STATIC, 0)
    programs = [Program(code, work=work) for code, work in ((SMALL, 6.0), (dh.codes.cyclic(6, 1), 6.0), (SMALL, 3.0))]
    kinds = [expectations.kind(program) for program in programs]
    assert kinds[0] == kinds[1] != kinds[2]
    assert calls == []  # nothing is computed before it is asked for
    for place in (0, 1, 2, 0):
        expectations.of(kinds[place])
    assert len(calls) == 2


# Intervals of whole runs


def shown(seed: int, split: dh.Split, arrivals: list[float], iterations: int) -> tuple[float, float, float]:
    """Mean iteration, service and delay of a simulated run."""
    stream = dh.Stream.poisson(1.0, iterations)
    trace = dh.simulate(PAIR, split, stream, len(arrivals), seed=seed, arrivals=arrivals)
    services, delays = float(trace.service.mean()), float(trace.delay.mean())
    return services / iterations, services, delays


def hits(expectation: Expectation, runs: int = 2000) -> list[float]:
    """How often iteration, service and delay of a run of eight jobs lie in their intervals; some jobs have to wait."""
    iterations, jobs = 10, 8
    arrivals = [50.0 * number for number in range(jobs)]
    loads = dh.split(PAIR, dh.CodeSpec.of(SMALL.critical, SMALL.total))
    counts, times = np.full(jobs, float(iterations)), np.array(arrivals)
    foretold = intervals_of_a_run([expectation] * jobs, counts, times, 0.0)
    columns = zip(*(shown(seed, loads, arrivals, iterations) for seed in range(runs)), strict=True)
    return [
        float(np.mean([interval.holds(value) for value in seen]))
        for interval, seen in zip(foretold, columns, strict=True)
    ]


def test_intervals_hold_in_95_of_100_runs() -> None:
    for part in hits(expected(PAIR, SMALL, 1.0)):
        assert 0.93 <= part <= 0.97


def test_intervals_of_a_wrong_expectation_do_not_hold() -> None:
    """A negative control: workers a quarter slower than thought."""
    right = expected(PAIR, SMALL, 1.0)
    for part in hits(Expectation(right.mean / 1.25, right.std / 1.25, True), 100):
        assert part < 0.5


def test_overhead_and_waiting_are_added() -> None:
    still = Expectation(2.0, 0.0, True)
    each, service, delay = intervals_of_a_run([still, still], np.array([3.0, 5.0]), np.zeros(2), 0.5)
    assert (each.mean, each.low, each.high) == pytest.approx((2.5, 2.5, 2.5))
    assert service.mean == pytest.approx((7.5 + 12.5) / 2)
    assert delay.mean == pytest.approx((7.5 + 20.0) / 2)  # the second waits for the first


def test_an_interval_has_ends() -> None:
    interval = Interval(2.0, 1.0, 3.0)
    assert interval.holds(1.0)
    assert interval.holds(3.0)
    assert not interval.holds(0.999)
    assert not interval.holds(3.001)
