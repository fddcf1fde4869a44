"""Shared memory where it is small, missing or left behind: data travels another way, and folders are swept."""

from __future__ import annotations

import fcntl
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each_engine import PAIR
from processes import script

import deadheat as dh
from deadheat.runtime import run
from deadheat.runtime.engines.memory_folders import LOCK, PREFIX, VARIABLE, YOUNG, MemoryFolders, new_folders
from deadheat.runtime.engines.shared_memory import Arena, ArenaReader, pack, unpack

SIZE = 64 << 20
LARGE = 100_000_000 // 8  # doubles: 100 MB


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A shared memory of 64 MB, as containers have by default, and a temporary folder of its own."""
    place, temporary = tmp_path / "shm", tmp_path / "tmp"
    place.mkdir()
    temporary.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", place], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    monkeypatch.setenv(VARIABLE, str(place))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def plus_one(state: Any, chunk: float) -> Any:
    return state + chunk


def test_states_and_results_that_are_larger_than_the_shared_memory_arrive(small: Path) -> None:
    """100 MB to two workers and back from each, three times."""
    job = dh.Job([1.0, 1.0], plus_one, np.arange(float(LARGE)), lambda s, total, i: total / 2, 3)
    state = run(job, PAIR).state
    assert np.array_equal(state, np.arange(float(LARGE)) + 3)
    assert list(small.iterdir()) == []


def test_what_does_not_fit_goes_to_disk_and_then_through_the_pipe(small: Path) -> None:
    folders, reader = new_folders(), ArenaReader()
    memory, disk = folders.paths
    arena, values = Arena(folders), [np.full(4_500_000, float(number)) for number in range(3)]  # 36 MB each
    places = [pack(value, arena) for value in values]
    assert [Path(place[1][0]).parent for place in places] == [Path(memory), Path(disk), Path(disk)]
    full = Arena(MemoryFolders((memory,)))
    places += [pack(values[2], full), pack(values[0], full)]
    assert [place[0] for place in places] == ["shared"] * 3 + ["object"] * 2
    for place, value in zip(places, [*values, values[2], values[0]], strict=True):
        assert np.array_equal(unpack(place, reader), value)
    arena.close()
    folders.remove()


def test_where_no_folder_can_be_made_everything_goes_through_the_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "missing"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing too"))
    job = dh.Job([1.0, 1.0], plus_one, np.zeros(300_000), lambda s, total, i: total / 2, 3)
    assert np.array_equal(run(job, PAIR).state, np.full(300_000, 3.0))


def test_folders_are_for_their_user_only() -> None:
    folders = new_folders()
    assert len(folders.paths) == 2
    assert {os.stat(path).st_mode & 0o777 for path in folders.paths} == {0o700}
    folders.remove()
    assert not any(Path(path).exists() for path in folders.paths)


def test_only_folders_whose_master_is_gone_are_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    abandoned, held, young, old, foreign = (
        tmp_path / name for name in (f"{PREFIX}a", f"{PREFIX}b", f"{PREFIX}c", f"{PREFIX}d", "deadheat-results")
    )
    for folder in (abandoned, held, young, old, foreign):
        folder.mkdir()
    for folder in (abandoned, held):
        (folder / LOCK).touch()
        (folder / "123-0").write_bytes(b"x" * 1000)
    os.utime(old, (time.time() - 2 * YOUNG,) * 2)
    os.utime(foreign, (0, 0))
    with (held / LOCK).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folders = new_folders()
    assert not abandoned.exists()
    assert not old.exists()
    assert (held / "123-0").exists()
    assert young.exists()
    assert foreign.exists()
    folders.remove()


def test_what_a_killed_master_and_killed_workers_leave_is_swept_by_the_next_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All at once, as when the system runs out of memory: nobody is left to clean up."""
    for name in (VARIABLE, "TMPDIR"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "TMPDIR"))
    master = script(
        tmp_path,
        """
        import os, signal
        import deadheat as dh
        engine = dh.engines.LocalEngine(2)
        print(*engine._folders.paths, flush=True)
        for worker in (0, 1):
            os.kill(engine.pid(worker), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
        """,
    )
    out, _ = master.communicate(timeout=60)
    folders = [Path(path) for path in out.split()]
    assert len(folders) == 2
    assert all(folder.exists() for folder in folders)
    new_folders().remove()
    assert not any(folder.exists() for folder in folders)


def test_nobody_complains_of_leaked_shared_memory(tmp_path: Path) -> None:
    """Not at the end of a run, nor when a worker dies that had large results."""
    user = script(
        tmp_path,
        """
        import numpy as np
        import deadheat as dh
        job = dh.Job([np.ones(200_000)] * 4, lambda s, c: s + c, np.zeros(200_000), lambda s, t, i: t / 4, 6)
        under_way = dh.run(job, dh.Cluster.from_columns([1e-3] * 2, 1e-4))
        under_way.driver.engine.kill(1)
        print(under_way.state[0])
        """,
    )
    out, complaints = user.communicate(timeout=60)
    assert (out, complaints) == ("6.0\n", "")
