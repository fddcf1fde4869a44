"""A real worker process that computes wrongly: one that is found though it could vouch for itself."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each_engine import PAIR, TRIO
from processes import script

import deadheat as dh
from deadheat.runtime import Job, Run, run

ITERATIONS = 60
RIGHT = 21.0 * ITERATIONS
FAR = dh.Cluster.from_columns([1e-3, 1.0, 1.0], 1e-3, comm=[1e-3, 0.3, 0.3])
UNEQUAL = dh.Cluster.from_columns([1e-3] * 3, 1e-4, comm=[1e-4, 5e-2, 5e-2])


def with_a_liar(place: Path) -> Job:
    """The first process that comes along adds a half to every chunk, always."""
    name = str(place / "liar")

    def compute(state: Any, chunk: float) -> Any:
        try:
            with open(name, "x") as file:
                file.write(str(os.getpid()))
        except FileExistsError:
            pass
        with open(name) as file:
            lies = file.read() == str(os.getpid())
        return np.array([chunk + 0.5 * lies])

    chunks = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    return Job(chunks, compute, np.zeros(1), lambda s, total, i: s + total, ITERATIONS)


def found(done: Run) -> bool:
    return [report.state for report in done.reports].count("wrong results") == 1


@pytest.mark.parametrize(
    ("cluster", "code", "settings"),
    [
        (FAR, None, {"checks": 1.0}),  # one worker has the whole load
        (
            UNEQUAL,
            dh.codes.cyclic(6, 1),
            {"checks": 1.0},
        ),  # a wrong chunk is wrong in all tasks of its worker: they fit
        (UNEQUAL, dh.codes.reed_solomon(6, 1), {"checks": 1.0}),
        (TRIO, dh.codes.cyclic(6, 2), {"checks": 0.2}),
        (TRIO, dh.codes.replication(3, 3), {"checks": 0.2, "policy": "uniform", "adapt": False}),
        (TRIO, dh.codes.fractional_repetition(6, 2), {"checks": 0.2}),
        (None, dh.codes.replication(3, 2), {"workers": 3, "checks": 0.2}),  # the third is asked, not a copy's own maker
        (None, None, {"workers": 3, "checks": 0.05}),
    ],
    ids=["whole load", "cyclic", "Reed-Solomon", "cyclic, balanced", "copies", "repetition", "third", "uncoded"],
)
def test_it_is_named_and_its_numbers_are_in_no_answer(
    cluster: dh.Cluster | None, code: Any, settings: dict[str, Any], tmp_path: Path
) -> None:
    done = run(with_a_liar(tmp_path), cluster, code, **settings)
    assert done.state[0] == pytest.approx(RIGHT, abs=1e-9)
    assert found(done) or cluster is None  # after a probe the liar may be left without a share, and harms nobody


def test_coarse_random_numbers_convict_nobody() -> None:
    """Two of three draws are often equal."""
    for seed in range(3):
        draws = Job(
            list(range(12)), lambda s, c: np.array([float(np.random.default_rng().binomial(20, 0.5))]), np.zeros(1),
            lambda s, total, i: s + total, 60, f"draws {seed}",
        )  # fmt: skip
        done = run(draws, TRIO, checks=0.1).wait()
        assert done.deliveries[0].error is None
        assert not done.driver.master.banned
        assert any("from time to time" in remark for remark in done.driver.remarks)


def test_recycled_samples_are_not_compared() -> None:
    def sample(state: Any, seed: int) -> Any:
        return np.random.default_rng(seed).normal(size=4)

    rollouts = dh.jobs.Rollouts(sample, 0, lambda s, x, i: s + 1, 60, 8, 14, recycle=True)
    done = run(rollouts, TRIO, schedule="top-up", checks=0.5)
    assert done.state == 60
    assert not done.driver.master.banned


def test_a_product_that_overflows_ends_its_job_and_accuses_nobody() -> None:
    bad = dh.jobs.MatrixJob(np.eye(20) * 1e200, np.full(20, 1e200), lambda s, p, i: p, 3, name="overflow")
    good = Job([1.0, 2.0], lambda s, c: np.array([c]), np.zeros(1), lambda s, total, i: s + total, 3)
    first, second = run([bad, good], PAIR)
    assert "finite" in str(first.error)
    assert float(second.state[0]) == 9.0


def test_a_fork_does_not_touch_its_parents_run(tmp_path: Path) -> None:
    user = script(
        tmp_path,
        """
import os
import numpy as np
import deadheat as dh
job = dh.Job([1.0, 2.0], lambda s, c: np.array([c]), np.zeros(1), lambda s, t, i: s + t, 20)
run = dh.run(job, dh.Cluster.from_columns([1e-3] * 2, 1e-4))
child = os.fork()
try:
    print("child" if child == 0 else "parent", run.state[0], flush=True)
except dh.DeadheatError as error:
    print("child" if child == 0 else "parent", type(error).__name__, flush=True)
if child:
    os.waitpid(child, 0)
""",
    )
    said, complaints = user.communicate(timeout=60)
    assert sorted(said.splitlines()) == ["child NotOurs", "parent 60.0"], complaints


def test_two_threads_may_wait_for_one_run() -> None:
    job = Job([1.0, 2.0], lambda s, c: np.array([c]), np.zeros(1), lambda s, total, i: s + total, 30)
    shared, states = run(job, PAIR), []
    threads = [threading.Thread(target=lambda: states.append(float(shared.state[0]))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert states == [90.0, 90.0]


def test_a_pool_finishes_what_was_submitted_when_its_script_ends(tmp_path: Path) -> None:
    user = script(
        tmp_path,
        """
import numpy as np
import deadheat as dh
pool = dh.Pool(dh.Cluster.from_columns([1e-3] * 2, 1e-4))
job = dh.Job([1.0, 2.0], lambda s, c: np.array([c]), np.zeros(1), lambda s, t, i: s + t, 5)
for _ in range(3):
    pool.submit(job).add_done_callback(lambda future: print(future.result().state[0], flush=True))
""",
    )
    said, complaints = user.communicate(timeout=60)
    assert said.splitlines() == ["15.0"] * 3, complaints
    assert user.returncode == 0
