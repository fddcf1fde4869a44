"""What `run` and `Pool` refuse, and runs that are asked for what is not there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from descent import descent, gradient, serial, step

import deadheat as dh
from deadheat.runtime import LocalEngine
from deadheat.runtime.checkpoints import Unreadable
from deadheat.runtime.job import Job
from deadheat.runtime.runs import EndedEarly, run

PAIR = dh.Cluster.from_columns([1e-3] * 2, 1e-4)


def test_a_run_that_is_done_can_be_run_again_from_its_checkpoint(tmp_path: Path) -> None:
    for _ in range(2):
        assert np.abs(run(descent(6, 3, "one"), PAIR, checkpoint=tmp_path).state - serial(3)).max() < 1e-12


def test_a_checkpoint_of_another_job_is_not_taken(tmp_path: Path) -> None:
    run(descent(6, 3), PAIR, checkpoint=tmp_path).wait()
    with pytest.raises(Unreadable, match="remove it"):
        run(descent(6, 4), PAIR, checkpoint=tmp_path)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"arrivals": [0.3, 0.0]}, "in the order of their arrival"),
        ({"arrivals": [-1.0, 0.0]}, "arrivals = -1"),
        ({"arrivals": [float("nan"), 0.0]}, "arrivals"),
        ({"arrivals": [0.0]}, "for 2 jobs"),
        ({"cluster": 2}, "cluster = 2: not a Cluster"),
        ({"code": "cyclic"}, "not a code"),
        ({"memory": "1e9"}, "memory"),
        ({"quotas": [0.5], "engine": "ray"}, "only local workers"),
    ],
    ids=["order", "negative", "nan", "count", "cluster", "code", "memory", "quotas"],
)
def test_what_cannot_be_meant(given: dict[str, Any], words: str) -> None:
    with pytest.raises(dh.BadInput, match=words):
        run([descent(6, 2), descent(6, 2)], **given)


def test_what_is_no_job() -> None:
    with pytest.raises(dh.BadInput, match="not a job"):
        run("x")  # type: ignore[arg-type]
    with pytest.raises(dh.BadInput, match="chunks"):
        dh.Job(5, gradient, 0.0, step, 1)  # type: ignore[arg-type]


def test_an_engine_of_ones_own_cannot_be_emulated_or_of_another_size() -> None:
    with LocalEngine(2) as engine:
        with pytest.raises(dh.BadInput, match="give them emulations"):
            run(descent(6, 1), PAIR, engine=engine, emulate=True)
        with pytest.raises(dh.BadInput, match="the engine has 2"):
            run(descent(6, 1), dh.Cluster.from_columns([1e-3] * 3, 0.0), engine=engine)


def test_the_state_of_a_job_that_failed_is_not_given() -> None:
    def wrong(w: Any, chunk: Any) -> Any:
        raise ValueError("two\nlines")

    given = descent(6, 2)
    with pytest.raises(dh.JobFailed, match="two lines") as caught:
        _ = run(Job(given.chunks, wrong, given.start, step, 2, "bad"), PAIR).state
    assert "\n" not in str(caught.value)
    assert caught.value.delivery.name == "bad"


def test_a_run_that_was_ended_early_says_so() -> None:
    under_way = run([descent(6, 2), descent(6, 2)], PAIR)
    for _ in under_way:
        break
    under_way.close()
    with pytest.raises(EndedEarly, match="after 1 jobs"):
        under_way.wait()


def test_measuring_says_what_went_wrong() -> None:
    def wrong(w: Any, chunk: Any) -> Any:
        raise ValueError("a torn chunk")

    given = descent(6, 2)
    with pytest.raises(dh.DeadheatError, match="a torn chunk"):
        dh.measure(Job(given.chunks, wrong, given.start, step, 2), workers=1, seconds=2.0)


def test_a_pool_waits_for_its_workers() -> None:
    """With a cluster that is declared, too: nobody does the first iteration alone."""
    with dh.Pool(PAIR) as pool:
        assert np.abs(pool.submit(descent(12, 2)).result(timeout=60).state - serial(2)).max() < 1e-12


def test_numbers_beyond_all_bounds_are_named() -> None:
    given = descent(6, 50)
    job = Job(given.chunks, lambda w, chunk: np.full(8, 1e308), given.start, step, 50)
    (done,) = run(job, PAIR).wait().deliveries
    assert done.error is not None
    assert "smaller rate" in done.error
