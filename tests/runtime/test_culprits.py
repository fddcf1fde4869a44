"""A job cannot end the stream: whatever its code does to workers, it is given up by name and the others go on."""

from __future__ import annotations

import ctypes
import os
import resource
import sys
import time
from typing import Any

import each_engine
import numpy as np
import pytest
from each_engine import PAIR

from deadheat.runtime import Delivery, Job, JobFailed, Pool, run

engine = each_engine.engine
RIGHT = 30.0  # three times the sum of the chunks


def exits(state: Any, chunk: float) -> Any:
    sys.exit(3)


def exits_at_once(state: Any, chunk: float) -> Any:
    os._exit(3)


def crashes(state: Any, chunk: float) -> Any:
    ctypes.string_at(0)


def interrupts(state: Any, chunk: float) -> Any:
    raise KeyboardInterrupt


def closes_descriptors(state: Any, chunk: float) -> Any:
    os.closerange(3, 256)
    return np.array([chunk])


def eats_memory(state: Any, chunk: float) -> Any:
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    return np.ones(1 << 40)


def hangs(state: Any, chunk: float) -> Any:
    time.sleep(1000)


def hangs_in_one_task(state: Any, chunk: float) -> Any:
    return np.array([chunk]) if chunk != 3.0 else time.sleep(1000)


def forks_and_dies(state: Any, chunk: float) -> Any:
    """The child keeps every descriptor of the worker open."""
    if os.fork() == 0:
        time.sleep(20)
        os._exit(0)
    os._exit(1)


def forks(state: Any, chunk: float) -> Any:
    """The child returns from the task too, and must not be taken for a worker."""
    os.fork()
    return np.array([chunk])


def job(compute: Any, name: str = "") -> Job:
    return Job([1.0, 2.0, 3.0, 4.0], compute, np.zeros(1), lambda s, total, i: s + total, 3, name)


def good(name: str = "good") -> Job:
    return job(lambda state, chunk: np.array([chunk]), name)


KILLERS = {
    exits: "SystemExit: 3",
    interrupts: "KeyboardInterrupt",
    eats_memory: "MemoryError",
    exits_at_once: "ended its worker, 4 times",
    crashes: "ended its worker, 4 times",
    closes_descriptors: "ended its worker, 4 times",
    forks_and_dies: "ended its worker, 4 times",
}


@pytest.mark.parametrize(("compute", "reason"), KILLERS.items(), ids=[kind.__name__ for kind in KILLERS])
def test_a_compute_that_ends_its_worker_ends_its_job_only(compute: Any, reason: str) -> None:
    deliveries = list(run([good("a"), job(compute, "bad"), good("b")], PAIR))
    assert [delivery.name for delivery in deliveries] == ["a", "bad", "b"]
    assert reason in str(deliveries[1].error)
    assert [float(delivery.state[0]) for delivery in deliveries] == [RIGHT, 0.0, RIGHT]


@pytest.mark.parametrize("compute", [hangs, hangs_in_one_task])
def test_a_compute_that_hangs_is_given_up_when_its_patience_is_over(compute: Any) -> None:
    deliveries = list(run([good("a"), job(compute, "bad"), good("b")], PAIR, patience=0.5))
    assert "did not come back within 0.5 s, 3 times" in str(deliveries[1].error)
    assert float(deliveries[2].state[0]) == RIGHT


def test_a_compute_that_forks_gives_the_right_answer_once() -> None:
    deliveries = list(run([job(forks), good()], PAIR))
    assert [float(delivery.state[0]) for delivery in deliveries] == [RIGHT, RIGHT]


def test_killers_do_not_use_up_the_replacements_of_others(engine: str) -> None:
    """Many more workers die than may die by themselves, without a job in hand."""
    with Pool(PAIR, engine=engine) as pool:
        count = 3 if engine == "local" else 2
        futures = [pool.submit(job(exits_at_once, f"bad {n}")) for n in range(count)]
        last = pool.submit(good())
        for future in futures:
            error = future.exception(120)
            assert isinstance(error, JobFailed)
            assert "ended its worker" in str(error)
        delivery: Delivery = last.result(120)
        assert float(delivery.state[0]) == RIGHT


def test_a_step_in_place_changes_neither_the_start_nor_the_next_run() -> None:
    def step(state: Any, total: Any, iteration: int) -> Any:
        state += total
        return state

    start = np.zeros(1)
    adding = Job([1.0, 3.0], lambda state, chunk: np.array([chunk]), start, step, 3)
    assert [float(run(adding, PAIR).state[0]) for _ in range(3)] == [12.0, 12.0, 12.0]
    assert start[0] == 0.0
