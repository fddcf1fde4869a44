"""Real runs on local processes and on Ray: the right answer, whatever the code, the schedule and the functions are."""

from __future__ import annotations

import functools
import time
from typing import Any

import each_engine
import numpy as np
import pytest
from descent import descent, gradient, off, serial, step
from each_engine import TRIO

import deadheat as dh
from deadheat.paper import worked_example
from deadheat.runtime import Converged, Job, Pool, Run, in_series, run
from deadheat.runtime.record import Record

engine, pool = each_engine.engine, each_engine.pool
SCALE = 7.587  # of the worked example's times: an iteration takes 0.1 s instead of 0.7587
CODE = dh.codes.cyclic(55, 5)
WORK = 2827440 / CODE.cost.work  # so that a task has the worked example's work
PATIENCE = 60.0


def workers() -> dh.Cluster:
    example = worked_example.cluster()
    return dh.Cluster([dh.Worker(w.mean / SCALE, w.std / SCALE, w.comm / SCALE, w.name) for w in example])


def emulated(engine: str, policy: str, iterations: int, **more: Any) -> Run:
    return run(
        descent(55, iterations), workers(), CODE, engine, policy=policy, work=WORK, emulate=True, adapt=False, **more
    )


def test_emulated_workers_bring_the_right_answer(engine: str) -> None:
    """How long it takes is measured in benchmarks/bench_runs.py."""
    done = emulated(engine, "optimal", 5, seed=1).wait()
    assert off(done.deliveries[0].state, 5) < 1e-9
    assert len(done.record.iterations) == 5
    assert min(done.record.iterations) > min(workers().comm)


def test_emulated_workers_with_equal_loads_bring_the_right_answer() -> None:
    done = emulated("local", "uniform", 5, seed=1).wait()
    assert off(done.deliveries[0].state, 5) < 1e-9
    assert [report.load for report in done.reports] == [11] * 5
    assert min(done.record.iterations) > min(workers().comm)


def slow_but_polite(w: Any, chunk: Any, token: Any) -> Any:
    end = time.perf_counter() + 0.05
    while time.perf_counter() < end:
        token.check()
    return gradient(w, chunk)


def test_purging_reaches_into_a_task(pool: Pool) -> None:
    record = Record()
    pool._driver.listeners.append(record)
    done = pool.submit(descent(12, 5, compute=slow_but_polite), dh.codes.cyclic(12, 4)).result(PATIENCE)
    pool._driver.listeners.remove(record)
    assert off(done.state, 5) < 1e-9
    assert sum(record.purged.values()) > 0


CODES = [dh.codes.cyclic(12, 3), None, dh.codes.fractional_repetition(12, 2), dh.codes.cyclic(6, 1, reuse=True)]


def test_jobs_of_different_codes_in_one_pool(pool: Pool) -> None:
    futures = [pool.submit(descent(12, 4, f"job {n}"), code) for n, code in enumerate(CODES)]
    for number, future in enumerate(futures):
        done = future.result(PATIENCE)
        assert done.name == f"job {number}"
        assert off(done.state, 4) < 1e-9


def test_jobs_of_different_codes_in_one_stream() -> None:
    jobs = [descent(12, 4, f"job {n}") for n in range(len(CODES))]
    done = run(jobs, TRIO, CODES).wait()
    assert [d.name for d in done.deliveries] == ["job 0", "job 1", "job 2", "job 3"]
    for delivery in done.deliveries:
        assert delivery.error is None
        assert off(delivery.state, 4) < 1e-9
    assert len(done.outcome.compared) == 3


SCHEDULES = [("local", name) for name in ("static", "pull", "top-up", "duplicates", "speculative")]


@pytest.mark.parametrize(("engine", "schedule"), [*SCHEDULES, ("ray", "top-up")], indirect=["engine"])
def test_every_schedule_brings_the_same_answer(engine: str, schedule: str) -> None:
    """On Ray one that sends tasks one by one; static is what the other tests run there."""
    done = run(descent(12, 5), TRIO, dh.codes.cyclic(12, 3), engine, schedule=schedule)
    assert off(done.state, 5) < 1e-9


def test_the_trace_has_every_job_and_task() -> None:
    done = run([descent(6, 3), descent(6, 3)], workers=2).wait()
    trace = done.trace
    assert len(trace) == 2
    assert (trace.delay >= trace.service).all()
    assert trace.timeline is not None
    assert np.count_nonzero(trace.timeline.done) >= 36
    assert (trace.timeline.end >= trace.timeline.begin).all()


# What jobs may be


def stop_after_three(w: Any, total: Any, iteration: int) -> Any:
    new = step(w, total, iteration)
    return Converged(new) if iteration == 2 else new


def test_a_job_may_converge_early(pool: Pool) -> None:
    done = pool.submit(descent(6, 50, step=stop_after_three)).result(PATIENCE)
    assert done.iterations == 3
    assert off(done.state, 3) < 1e-12


class Model:
    """A state of a class of one's own."""

    def __init__(self, weights: Any, steps: int = 0) -> None:
        self.weights, self.steps = weights, steps


def test_lambdas_closures_and_classes_reach_the_workers(pool: Pool) -> None:
    by = np.full(3, 10.0)

    class Inner(Model):
        pass

    jobs = [
        Job([1.0, 2.0], lambda state, chunk: chunk * by + state, np.zeros(3), lambda s, total, i: total, 2),
        Job(
            [np.ones(3), np.ones(3)],
            lambda model, chunk: Inner(chunk).weights + model.weights,
            Inner(np.zeros(3)),
            lambda model, total, i: Inner(model.weights + total, model.steps + 1),
            2,
        ),
        Job(
            [np.ones(30_000), np.ones(30_000)],
            lambda model, chunk: chunk + model.weights,
            Model(np.zeros(30_000)),
            lambda model, total, i: Model(model.weights + total, model.steps + 1),
            2,
        ),
    ]
    first, second, third = (future.result(PATIENCE) for future in map(pool.submit, jobs))
    assert first.state.tolist() == [90.0] * 3  # 30, then 2 x 30 + 30
    assert isinstance(second.state, Inner)
    assert (second.state.weights.tolist(), second.state.steps) == ([8.0] * 3, 2)
    assert (third.state.weights == 8.0).all()


def test_a_task_knows_its_iteration(pool: Pool) -> None:
    def compute(state: Any, chunk: float, token: Any) -> Any:
        return np.array([float(token.iteration)])

    def collect(state: Any, total: Any, iteration: int) -> Any:
        return [*state, float(total[0])]

    done = pool.submit(Job([0.0, 0.0], compute, [], collect, 4)).result(PATIENCE)
    assert done.state == [0.0, 2.0, 4.0, 6.0]


def test_workers_see_what_share_gives_them(pool: Pool) -> None:
    """The state holds what cannot travel; share is asked once per iteration, not once per worker."""
    calls: list[int] = []

    def share(state: Any) -> Any:
        calls.append(state["step"])
        return state["w"]

    def onward(state: Any, total: Any, iteration: int) -> Any:
        return {"w": step(state["w"], total, iteration), "step": iteration + 1, "secret": lambda: 0}

    job = descent(12, 4)
    start = {"w": job.start, "step": 0, "secret": lambda: 0}
    done = pool.submit(Job(job.chunks, gradient, start, onward, 4, share=share)).result(PATIENCE)
    assert off(done.state["w"], 4) < 1e-9
    assert calls == [0, 1, 2, 3]


@pytest.mark.parametrize("how", ["keyword", "default"])
def test_only_a_third_argument_that_is_asked_for_is_a_token(pool: Pool, how: str) -> None:
    def scaled(state: Any, chunk: float, scale: float) -> float:
        return scale * chunk

    compute = functools.partial(scaled, scale=2.0) if how == "keyword" else lambda s, chunk, scale=2.0: scale * chunk
    done = pool.submit(Job([1.0, 2.0], compute, 0.0, lambda s, total, i: float(total), 1)).result(PATIENCE)
    assert done.state == 6.0


def test_in_series_is_what_every_run_agrees_with(pool: Pool) -> None:
    """Also for a job that shares a part of its state, wants a token and converges early."""

    def compute(weights: Any, chunk: Any, token: Any) -> Any:
        return gradient(weights, chunk) * (1 + token.iteration)

    def onward(state: Any, total: Any, iteration: int) -> Any:
        new = {"w": step(state["w"], total, iteration)}
        return Converged(new) if iteration == 4 else new

    plain = descent(12, 50)
    job = Job(plain.chunks, compute, {"w": plain.start}, onward, 50, share=lambda state: state["w"])
    alone = in_series(job)
    assert np.abs(alone["w"] - serial(5)).max() > 1e-3  # the iterations' weights matter
    assert np.abs(pool.submit(job).result(PATIENCE).state["w"] - alone["w"]).max() < 1e-12
    assert np.abs(in_series(descent(12, 5)) - serial(5)).max() < 1e-12
