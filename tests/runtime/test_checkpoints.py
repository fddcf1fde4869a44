"""Checkpoints: a run that was killed goes on from there, and what is not this run's is refused."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from descent import descent, off, step
from each_engine import PAIR
from processes import script

import deadheat as dh
from deadheat.runtime import Checkpoints, Converged, Job, run
from deadheat.runtime.checkpoint import BadCheckpoint, Saved
from deadheat.simulation import VirtualEngine

MASTER = f"""
    import sys, time
    sys.path.insert(0, {str(Path(__file__).parent)!r})
    import descent as d
    import deadheat as dh

    def step(w, total, iteration):
        time.sleep(0.05)
        print(iteration, flush=True)
        return d.step(w, total, iteration)

    jobs = [d.descent(6, 10, name, step=step) for name in ("a", "b")]
    dh.run(jobs, workers=2, checkpoint=sys.argv[1]).wait()
"""


def virtual() -> VirtualEngine:
    return VirtualEngine(PAIR, dh.split(PAIR, dh.CodeSpec(6)))


class Counted:
    """Gradient steps, and in which iterations they were made."""

    def __init__(self) -> None:
        self.iterations: list[int] = []

    def __call__(self, w: Any, total: Any, iteration: int) -> Any:
        self.iterations.append(iteration)
        return step(w, total, iteration)


def test_a_killed_master_goes_on_from_its_checkpoints(tmp_path: Path) -> None:
    folder = tmp_path / "saved"
    master = script(tmp_path, MASTER, str(folder))
    assert master.stdout is not None
    for _ in range(14):  # into the second job
        master.stdout.readline()
    master.kill()
    master.communicate()
    steps = Counted()
    again = [descent(6, 10, name, step=steps) for name in ("a", "b")]
    first, second = run(again, workers=2, checkpoint=folder).wait().deliveries
    for delivery in (first, second):
        assert delivery.iterations == 10
        assert off(delivery.state, 10) < 1e-12
    assert 0 < len(steps.iterations) <= 8  # the first job and the begun half of the second were not done again


def test_a_run_that_is_done_can_be_run_again_from_its_checkpoint(tmp_path: Path) -> None:
    for iterations in ([0, 1, 2], []):
        steps = Counted()
        done = run(descent(6, 3, "one", step=steps), PAIR, engine=virtual(), checkpoint=tmp_path)
        assert off(done.state, 3) < 1e-12
        assert steps.iterations == iterations


def test_progress_counts_jobs_that_were_over(tmp_path: Path) -> None:
    run(descent(6, 3, "one"), PAIR, engine=virtual(), checkpoint=tmp_path).wait()
    again = run([descent(6, 3, "one"), descent(6, 3, "two")], PAIR, engine=virtual(), checkpoint=tmp_path).wait()
    assert [delivery.name for delivery in again.deliveries] == ["one", "two"]
    assert again.eta.progress == 1.0
    assert (again.outcome.jobs, again.outcome.iterations) == (2, 3)


def test_a_job_that_converged_stays_over(tmp_path: Path) -> None:
    def stop(w: Any, total: Any, iteration: int) -> Any:
        return Converged(step(w, total, iteration))

    for _ in range(2):
        (delivery,) = run(descent(6, 9, step=stop), PAIR, engine=virtual(), checkpoint=tmp_path)
        assert delivery.iterations == 1
        assert off(delivery.state, 1) < 1e-12


def test_checkpoints_may_be_rare(tmp_path: Path) -> None:
    """Every third iteration, and the last."""
    saved: list[int] = []

    class Noted(Checkpoints):
        def save(self, job: int, saved_job: Saved) -> None:
            saved.append(saved_job.iteration)
            super().save(job, saved_job)

    run(descent(6, 8), PAIR, engine=virtual(), checkpoint=Noted(tmp_path, every=3)).wait()
    assert saved == [3, 6, 8]


def test_a_checkpoint_of_another_job_is_not_taken(tmp_path: Path) -> None:
    run(descent(6, 3), PAIR, engine=virtual(), checkpoint=tmp_path).wait()
    with pytest.raises(BadCheckpoint, match="remove it"):
        run(descent(6, 4), PAIR, engine=virtual(), checkpoint=tmp_path).wait()


def test_a_checkpoint_of_another_job_in_a_stream_is_said_in_its_delivery(tmp_path: Path) -> None:
    run([descent(6, 3), descent(6, 3, "b")], PAIR, engine=virtual(), checkpoint=tmp_path).wait()
    jobs = [descent(6, 3), descent(6, 4, "b"), descent(6, 3, "c")]
    first, second, third = run(jobs, PAIR, engine=virtual(), checkpoint=tmp_path).wait().deliveries
    assert (first.error, third.error) == (None, None)
    assert second.error is not None
    assert "remove it" in second.error


def test_a_torn_checkpoint_is_named(tmp_path: Path) -> None:
    run(descent(6, 3), PAIR, engine=virtual(), checkpoint=tmp_path).wait()
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-5])
    with pytest.raises(BadCheckpoint, match=file.name):
        run(descent(6, 3), PAIR, engine=virtual(), checkpoint=tmp_path).wait()


def test_a_state_that_cannot_be_saved_ends_its_job_only(tmp_path: Path) -> None:
    def locked(state: Any, total: Any, iteration: int) -> Any:
        return threading.Lock()

    bad = Job([1.0] * 6, lambda state, chunk: chunk, 0.0, locked, 3, "bad")
    first, second = run([bad, descent(6, 3)], PAIR, engine=virtual(), checkpoint=tmp_path).wait().deliveries
    assert first.error is not None
    assert "cannot be saved" in first.error
    assert off(second.state, 3) < 1e-9


def test_a_checkpoint_that_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(dh.BadInput, match="checkpoint"):
        run(descent(6, 3), PAIR, engine=virtual(), checkpoint=tmp_path / "file")
    with pytest.raises(dh.BadInput, match="every"):
        Checkpoints(tmp_path, every=0)
