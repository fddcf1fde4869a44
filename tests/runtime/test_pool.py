"""A pool: jobs at any time, futures as in concurrent.futures, and what becomes of them when something goes wrong."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError
from typing import Any

import numpy as np
import pytest
from descent import descent, off
from each_engine import PAIR

import deadheat as dh
from deadheat.runtime import Job, JobFailed, LocalEngine, NoWorkers, Pool
from deadheat.simulation import VirtualEngine

PATIENCE = 60.0


def virtual() -> VirtualEngine:
    return VirtualEngine(PAIR, dh.split(PAIR, dh.CodeSpec(6)))


def broken(w: Any, chunk: Any) -> Any:
    raise ValueError("a bad chunk")


def test_a_pool_takes_jobs_like_concurrent_futures() -> None:
    """Of its workers nothing is known: they are probed with the first job."""
    with Pool(workers=2) as pool:
        futures = [pool.submit(descent(6, k)) for k in (1, 2, 3)]
        failing = pool.submit(descent(6, 2, "bad", broken))
        for k, future in zip((1, 2, 3), futures, strict=True):
            assert off(future.result(PATIENCE).state, k) < 1e-9
        with pytest.raises(JobFailed, match=r"bad: .*a bad chunk"):
            failing.result(PATIENCE)
        assert not pool.closed
    assert pool.closed
    with pytest.raises(RuntimeError, match="closed"):
        pool.submit(descent(6, 1))


def test_a_pool_waits_for_its_workers() -> None:
    """With a cluster that is declared, too: nobody does the first iteration alone."""
    pids: set[float] = set()

    def collect(state: Any, total: Any, iteration: int) -> Any:
        pids.update(total.tolist())
        return state

    def who(state: Any, chunk: int) -> Any:
        import os

        return np.eye(12)[chunk] * os.getpid()

    with Pool(PAIR) as pool:
        pool.submit(Job(list(range(12)), who, None, collect, 1)).result(PATIENCE)
    assert len(pids) == 2


def test_closing_a_pool_finishes_what_was_submitted() -> None:
    with Pool(PAIR, engine=virtual()) as pool:
        futures = [pool.submit(descent(6, 3)) for _ in range(5)]
    assert all(off(future.result(0.0).state, 3) < 1e-9 for future in futures)


def test_a_future_that_was_cancelled_is_not_worked_on() -> None:
    began, go_on = threading.Event(), threading.Event()

    def slow(w: Any, total: Any, iteration: int) -> Any:
        began.set()
        go_on.wait(PATIENCE)
        return w

    with Pool(PAIR, engine=virtual()) as pool:
        first = pool.submit(descent(6, 1, step=slow))
        assert began.wait(PATIENCE)
        waiting = [pool.submit(descent(6, 1)) for _ in range(3)]
        assert waiting[2].cancel()  # its turn is not near
        go_on.set()
        assert first.result(PATIENCE).error is None
        assert waiting[1].result(PATIENCE).error is None
        with pytest.raises(CancelledError):
            waiting[2].result(PATIENCE)


def test_a_job_that_cannot_be_prepared_fails_alone() -> None:
    with Pool(PAIR, engine=virtual()) as pool:
        bad = pool.submit(descent(6, 1), dh.codes.cyclic(20, 3))
        good = pool.submit(descent(6, 2))
        with pytest.raises(dh.BadInput, match="needs 20"):
            bad.result(PATIENCE)
        assert off(good.result(PATIENCE).state, 2) < 1e-9
        with pytest.raises(dh.BadInput, match="not a job"):
            pool.submit("x")  # type: ignore[arg-type]


def test_a_policy_that_fails_fails_its_job_alone() -> None:
    """It cannot split six tasks: the pool goes on with jobs of twelve."""

    def picky(cluster: dh.Cluster, spec: dh.CodeSpec, gamma: float) -> dh.Split:
        if spec.total == 6:
            raise ZeroDivisionError("not six")
        return dh.split(cluster, spec, gamma)

    with Pool(PAIR, engine=VirtualEngine(PAIR, dh.split(PAIR, dh.CodeSpec(12))), policy=picky) as pool:
        futures = [pool.submit(descent(chunks, 2)) for chunks in (12, 6, 12)]
        assert off(futures[0].result(PATIENCE).state, 2) < 1e-9
        with pytest.raises(Exception, match="not six"):
            futures[1].result(PATIENCE)
        assert off(futures[2].result(PATIENCE).state, 2) < 1e-9


def test_a_pool_without_workers_says_so() -> None:
    """Its only one is killed and not replaced: the job under way and the one that waits hear of it."""
    one = dh.Cluster.from_columns([1e-3], 1e-4)
    with LocalEngine(1, replace_dead=False) as engine, Pool(one, engine=engine) as pool:
        assert off(pool.submit(descent(6, 1)).result(PATIENCE).state, 1) < 1e-9
        futures = [pool.submit(descent(6, 10**6)) for _ in range(3)]
        engine.kill(0)
        for future in futures:
            assert isinstance(future.exception(PATIENCE), NoWorkers)
        assert pool.closed
