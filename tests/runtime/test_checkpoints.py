"""Checkpoints: a run that was killed goes on from there, and what is not this run's is refused."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import threading
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from descent import descent, off, step
from each_engine import PAIR
from processes import script

import deadheat as dh
from deadheat.coding import Code
from deadheat.errors import NotConverged
from deadheat.jobs import conjugate_gradients
from deadheat.runtime import Checkpoints, Converged, Job, run
from deadheat.runtime.checkpoint import BadCheckpoint, Saved
from deadheat.simulation import VirtualEngine

MASTER = f"""
    import sys, time
    sys.path.insert(0, {str(Path(__file__).parent)!r})
    from descent import descent
    import deadheat as dh

    def told(message, at):
        if type(message).__name__ == "Resolved":
            time.sleep(0.05)
            print(message.ticket.iteration, flush=True)

    jobs = [descent(6, 10, name) for name in ("a", "b")]
    dh.run(jobs, workers=2, checkpoint=sys.argv[1], listeners=[told]).wait()
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
    again = run([descent(6, 10, name) for name in ("a", "b")], workers=2, checkpoint=folder).wait()
    for delivery in again.deliveries:
        assert delivery.iterations == 10
        assert off(delivery.state, 10) < 1e-12
    # the first job and the begun half of the second were not done again
    assert 0 < again.outcome.iterations <= 8


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


# Whose checkpoint it is


def summed(chunks: list[float], start: float = 0.0, factor: float = 1.0, iterations: int = 2, name: str = "") -> Job:
    """Adds up its chunks, again and again."""
    return Job(chunks, lambda s, c: np.array(c), start, lambda s, total, i: s + factor * float(total), iterations, name)


def delivered(job: Job, folder: Path | Checkpoints, code: Code | None = None) -> Any:
    (delivery,) = run(job, PAIR, code, engine=virtual(), checkpoint=folder).wait().deliveries
    assert delivery.error is None
    return delivery.state


OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "data": ("other data", {"chunks": [10.0, 20.0, 40.0]}),
    "start": ("another start", {"start": 1.0}),
    "function": ("other functions", {"factor": 2.0}),
    "name": ("named 'x'", {"name": "y"}),
}


@pytest.mark.parametrize("what", [*OTHERS])
def test_a_checkpoint_of_another_job_is_not_taken(tmp_path: Path, what: str) -> None:
    """Each has the same shape, the same code and the same length."""
    words, other = OTHERS[what]
    mine: dict[str, Any] = {"chunks": [1.0, 2.0, 4.0], "name": "x"}
    assert delivered(summed(**mine), tmp_path) == 14.0
    with pytest.raises(BadCheckpoint, match=rf"{words}.*remove it"):
        delivered(summed(**mine | other), tmp_path)
    assert delivered(summed(**mine), tmp_path) == 14.0


def test_a_checkpoint_under_another_code_is_not_taken(tmp_path: Path) -> None:
    chunks = [1.0, 2.0, 4.0]
    assert delivered(summed(chunks), tmp_path, dh.codes.cyclic(3, 1)) == pytest.approx(14.0)
    with pytest.raises(BadCheckpoint, match="another code"):
        delivered(summed(chunks), tmp_path)


def test_a_checkpoint_of_another_job_in_a_stream_is_said_in_its_delivery(tmp_path: Path) -> None:
    run([descent(6, 3), descent(6, 3, "b")], PAIR, engine=virtual(), checkpoint=tmp_path).wait()
    jobs = [descent(6, 3), descent(6, 3, "b", step=Counted()), descent(6, 3, "c")]
    first, second, third = run(jobs, PAIR, engine=virtual(), checkpoint=tmp_path).wait().deliveries
    assert (first.error, third.error) == (None, None)
    assert second.error is not None
    assert "remove it" in second.error


@pytest.mark.parametrize("every", [1, 2])
def test_a_job_goes_on_with_more_iterations(tmp_path: Path, every: int) -> None:
    """It had used up its iterations, and is not begun anew."""
    for iterations, done in ((3, [0, 1, 2]), (5, [3, 4])):
        steps = Counted()
        state = delivered(descent(6, iterations, step=steps), Checkpoints(tmp_path, every))
        assert off(state, iterations) < 1e-12
        assert steps.iterations == done


def test_a_job_does_not_go_back_to_fewer_iterations(tmp_path: Path) -> None:
    """The state of five iterations is not the answer of three."""
    delivered(descent(6, 5), tmp_path)
    with pytest.raises(BadCheckpoint, match="5 iterations done, and 3 are asked for"):
        delivered(descent(6, 3), tmp_path)


def test_a_solver_that_ran_out_of_iterations_goes_on_to_the_solution(tmp_path: Path) -> None:
    matrix, right = np.diag(np.arange(1.0, 31.0)), np.ones(30)
    store = Checkpoints(tmp_path)
    for iterations in (5, 100):
        job = conjugate_gradients(matrix, right, iterations=iterations)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            state = run(job, PAIR, checkpoint=store).state
    assert np.abs(state.x - 1 / np.arange(1.0, 31.0)).max() < 1e-8


# The file


SAVED = Saved("a-b-c-d", "one", 7, {"w": np.arange(3.0)}, over=False)


def stored(folder: Path) -> tuple[Checkpoints, Path]:
    store = Checkpoints(folder)
    store.save(4, SAVED)
    (file,) = folder.iterdir()
    return store, file


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    store, file = stored(tmp_path)
    assert file.stat().st_mode & 0o777 == 0o600
    loaded = store.load(4, "one", "a-b-c-d", iterations=9)
    assert loaded is not None
    assert (loaded.iteration, loaded.over, loaded.converged) == (7, False, False)
    assert loaded.state["w"].tolist() == [0.0, 1.0, 2.0]
    over = store.load(4, "one", "a-b-c-d", iterations=7)
    assert over is not None
    assert over.over
    assert store.load(3, "one", "a-b-c-d", iterations=7) is None


def test_a_torn_checkpoint_is_named(tmp_path: Path) -> None:
    store, file = stored(tmp_path)
    content = file.read_bytes()
    file.write_bytes(content[:-5])
    with pytest.raises(BadCheckpoint, match=rf"{file.name}.*torn"):
        store.load(4, "one", "a-b-c-d", 9)


def test_a_flipped_bit_is_noticed(tmp_path: Path) -> None:
    """In a number of the state, which the pickle alone would hand over."""
    store, file = stored(tmp_path)
    content = bytearray(file.read_bytes())
    content[content.index(np.float64(2.0).tobytes()) + 6] ^= 1
    file.write_bytes(content)
    with pytest.raises(BadCheckpoint, match="changed"):
        store.load(4, "one", "a-b-c-d", 9)


@pytest.mark.parametrize(
    "content", [pickle.dumps(("one", 7, None, False)), b"", b"notes\n"], ids=["old", "empty", "text"]
)
def test_a_file_of_another_format_says_what_to_do(tmp_path: Path, content: bytes) -> None:
    store, file = stored(tmp_path)
    file.write_bytes(content)
    with pytest.raises(BadCheckpoint, match=r"another version.*remove it"):
        store.load(4, "one", "a-b-c-d", 9)


class Trap:
    """Says when it is unpickled."""

    sprung: ClassVar[list[int]] = []

    def __reduce__(self) -> Any:
        return Trap.sprung.append, (1,)


def test_the_state_of_another_job_is_not_even_unpickled(tmp_path: Path) -> None:
    store = Checkpoints(tmp_path)
    store.save(0, replace(SAVED, state=Trap()))
    with pytest.raises(BadCheckpoint, match="other data"):
        store.load(0, "one", "a-x-c-d", 9)
    assert Trap.sprung == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to others")
def test_a_file_of_another_user_is_not_read(tmp_path: Path) -> None:
    store, file = stored(tmp_path)
    os.chown(file, 12345, 12345)
    with pytest.raises(BadCheckpoint, match="another user"):
        store.load(4, "one", "a-b-c-d", 9)


# The folder


def test_what_a_killed_process_left_half_written_is_swept(tmp_path: Path) -> None:
    killed = """
        import os, signal, sys
        from deadheat.runtime.checkpoint import Checkpoints, Saved

        class Deadly:
            def __reduce__(self):
                os.kill(os.getpid(), signal.SIGKILL)

        Checkpoints(sys.argv[1]).save(0, Saved("a-b-c-d", "one", 1, Deadly(), False))
    """
    folder = tmp_path / "saved"
    process = script(tmp_path, killed, str(folder))
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert [file.suffix for file in folder.iterdir()] == [".part"]
    Checkpoints(folder)
    assert list(folder.iterdir()) == []


def test_what_another_process_is_writing_is_left_alone(tmp_path: Path) -> None:
    class Curious:
        """A state during whose writing the folder is opened once more."""

        def __reduce__(self) -> Any:
            Checkpoints(tmp_path)
            return int, (5,)

    store = Checkpoints(tmp_path)
    store.save(0, replace(SAVED, state=Curious()))
    loaded = store.load(0, "one", "a-b-c-d", 9)
    assert loaded is not None
    assert loaded.state == 5


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("nothing can be mounted here")
    yield disk
    subprocess.run(["umount", disk], check=True)


def test_a_full_disk_leaves_the_last_checkpoint_and_nothing_else(small_disk: Path) -> None:
    store, file = stored(small_disk)
    with pytest.raises(OSError, match="No space left"):
        store.save(4, replace(SAVED, iteration=8, state=np.zeros(500_000)))
    assert list(small_disk.iterdir()) == [file]
    last = store.load(4, "one", "a-b-c-d", 9)
    assert last is not None
    assert last.iteration == 7


def test_a_folder_that_cannot_be_written_to(small_disk: Path) -> None:
    """It is refused at the door; one that becomes so raises at the next checkpoint."""
    store, file = stored(small_disk)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(dh.BadInput, match=r"checkpoint.*Read-only"):
        Checkpoints(small_disk)
    with pytest.raises(OSError, match="Read-only"):
        store.save(4, replace(SAVED, iteration=8))
    assert list(small_disk.iterdir()) == [file]


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
    with pytest.raises(dh.BadInput, match="checkpoint"):
        Checkpoints(Path("a\0b"))
    with pytest.raises(dh.BadInput, match="every"):
        Checkpoints(tmp_path, every=0)
