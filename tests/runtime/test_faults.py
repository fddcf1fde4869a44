"""Garbage of workers, errors in the user's functions, what cannot be sent: each is named, and the next job goes on."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import each_engine
import numpy as np
import pytest
from descent import COLUMNS, descent, off

from deadheat.runtime import Job, JobFailed, Pool

pool = each_engine.pool
PATIENCE = 60.0


def failure(pool: Pool, job: Job) -> JobFailed:
    """Why a job could not be finished; one that is submitted with it is not touched by that."""
    bad, good = pool.submit(job), pool.submit(descent(6, 3, "good"))
    error = bad.exception(PATIENCE)
    assert isinstance(error, JobFailed), error
    assert off(good.result(PATIENCE).state, 3) < 1e-9
    return error


def only_here(place: str) -> bool:
    """Whether this process is the one that is to go wrong: the first that asks."""
    try:
        os.close(os.open(place, os.O_CREAT | os.O_EXCL))
        Path(place).write_text(str(os.getpid()))
    except FileExistsError:
        pass
    return Path(place).read_text() == str(os.getpid())


GARBAGE = {"nan": np.full(COLUMNS, np.nan), "shape": np.zeros(3), "text": "rubbish", "none": None}


@pytest.mark.parametrize("garbage", list(GARBAGE.values()), ids=list(GARBAGE))
def test_garbage_of_one_worker_never_becomes_an_answer(pool: Pool, garbage: Any, tmp_path: Path) -> None:
    place = str(tmp_path / "who")

    def compute(w: Any, chunk: Any) -> Any:
        from descent import gradient

        return garbage if only_here(place) else gradient(w, chunk)

    done = pool.submit(descent(12, 4, compute=compute)).result(PATIENCE)
    assert off(done.state, 4) < 1e-9


def test_garbage_of_all_is_said(pool: Pool) -> None:
    assert "cannot be used" in str(failure(pool, descent(6, 3, "bad", lambda w, chunk: "rubbish")))


def test_results_that_are_not_finite_never_become_an_answer(pool: Pool) -> None:
    error = failure(pool, descent(6, 3, "bad", lambda w, chunk: np.full(COLUMNS, np.nan)))
    assert "not finite" in str(error)
    assert np.array_equal(error.delivery.state, np.zeros(COLUMNS))  # no step was made with them


def test_numbers_beyond_all_bounds_are_named(pool: Pool) -> None:
    assert "smaller rate" in str(failure(pool, descent(6, 50, "wild", lambda w, chunk: np.full(8, 1e308))))


def test_a_job_that_fails_says_why_and_the_next_goes_on(pool: Pool) -> None:
    def broken(w: Any, chunk: Any) -> Any:
        raise ValueError("a bad\nchunk")

    error = failure(pool, descent(6, 3, "bad", broken))
    assert "ValueError: a bad chunk" in str(error)  # in one line
    assert "test_faults.py" in str(error)
    assert error.delivery.name == "bad"


def test_a_step_that_raises_ends_its_job_only(pool: Pool) -> None:
    def wrong(w: Any, total: Any, iteration: int) -> Any:
        raise ZeroDivisionError("no rate")

    assert "iteration 0: ZeroDivisionError: no rate" in str(failure(pool, descent(6, 3, "bad", step=wrong)))


def test_a_share_that_raises_ends_its_job_only(pool: Pool) -> None:
    def wrong(state: Any) -> Any:
        raise ZeroDivisionError("no part")

    job = Job([1.0], lambda state, chunk: chunk, 0.0, lambda s, total, i: total, 2, "bad", share=wrong)
    assert "ZeroDivisionError: no part" in str(failure(pool, job))


def test_a_result_that_cannot_be_sent_fails_its_job_only(pool: Pool) -> None:
    bad = Job([[1.0], [2.0]], lambda state, chunk: (x for x in chunk), 0.0, lambda s, total, i: total, 3, "bad")
    assert "generator" in str(failure(pool, bad))


def test_a_job_that_cannot_be_sent_fails_alone(pool: Pool) -> None:
    lock = threading.Lock()

    def locked(state: Any, chunk: float) -> float:
        return chunk if lock else 0.0

    error = failure(pool, Job([1.0, 2.0], locked, 0.0, lambda s, total, i: total, 2, "bad"))
    assert "lock" in str(error)
    assert "cannot be sent" in str(error)


def test_a_state_that_cannot_be_sent_fails_alone(pool: Pool) -> None:
    """It becomes so in the second iteration."""
    job = Job([1.0], lambda state, chunk: chunk, 0.0, lambda s, total, i: threading.Lock(), 3, "bad")
    error = failure(pool, job)
    assert "lock" in str(error)
    assert error.delivery.iterations == 1
