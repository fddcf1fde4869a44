"""The same master on sampled time: what it does agrees with the fast simulator to rounding, on the same draws."""

from __future__ import annotations

import numpy as np
import pytest
from descent import descent, serial

import deadheat as dh
from deadheat.coding import Code
from deadheat.model import Switching
from deadheat.paper import worked_example
from deadheat.runtime import Run, run
from deadheat.simulation import VirtualEngine

JOBS, ITERATIONS = 12, 6
STREAM = dh.Stream.poisson(0.15, ITERATIONS)


def on_sampled_time(code: Code, policy: str, seed: int, condition: Switching | None = None) -> tuple[Run, dh.Trace]:
    """A run on the virtual engine, and the simulator's trace of the same draws."""
    cluster = worked_example.cluster()
    work = 2827440.0
    spec = dh.CodeSpec.of(code.critical, code.total, code.cost.work * work, code.cost.shared_chunks)
    split = {"optimal": dh.split, "uniform": dh.uniform}[policy](cluster, spec)
    expected = dh.simulate(cluster, split, STREAM, JOBS, seed=seed, by_tasks=True, condition=condition)
    engine = VirtualEngine(cluster, split, seed, ITERATIONS, JOBS * ITERATIONS, condition=condition)
    jobs = [descent(code.chunks, ITERATIONS, f"job {n}") for n in range(JOBS)]
    done = run(
        jobs, cluster, code, engine, policy=policy, work=work, adapt=False, arrivals=expected.arrival.tolist(), checks=0
    ).wait()
    return done, expected


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("policy", ["optimal", "uniform"])
@pytest.mark.parametrize(
    "code",
    [dh.codes.cyclic(55, 5, reuse=True), dh.codes.cyclic(55, 5), dh.codes.uncoded(50)],
    ids=["reuse", "no-reuse", "uncoded"],
)
def test_agrees_with_the_simulator(code: Code, policy: str, seed: int) -> None:
    done, expected = on_sampled_time(code, policy, seed)
    for ours, theirs in ((done.trace.service, expected.service), (done.trace.delay, expected.delay)):
        assert np.abs(ours / theirs - 1).max() < 1e-12


def test_agrees_where_workers_are_slow_at_times() -> None:
    done, expected = on_sampled_time(dh.codes.cyclic(55, 5), "optimal", 4, Switching(10, 0.2, 0.8))
    assert np.abs(done.trace.delay / expected.delay - 1).max() < 1e-12


def test_results_are_real() -> None:
    done, _ = on_sampled_time(dh.codes.cyclic(55, 5), "optimal", 1)
    for delivery in done.deliveries:
        assert np.abs(delivery.state - serial(ITERATIONS)).max() < 1e-9


def test_other_draws_give_other_times() -> None:
    """A negative control."""
    one, _ = on_sampled_time(dh.codes.cyclic(55, 5), "optimal", 1)
    other, _ = on_sampled_time(dh.codes.cyclic(55, 5), "optimal", 2)
    assert not np.allclose(one.trace.service, other.trace.service, rtol=1e-3)


def test_a_worker_that_dies_on_sampled_time_costs_no_job() -> None:
    cluster = worked_example.cluster()
    spec = dh.CodeSpec.of(50, 55, 2827440.0)
    engine = VirtualEngine(cluster, dh.split(cluster, spec), 3, absence=5.0)
    for at in (0.3, 1.7, 9.0):
        engine.kill(1, at)
    code = dh.codes.cyclic(55, 5)
    done = run(descent(55, 20), cluster, code, engine, work=2827440.0 / code.cost.work, checks=0)
    assert np.abs(done.state - serial(20)).max() < 1e-9
