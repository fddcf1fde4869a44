"""CPU quotas: a worker gets its share of a core, also after it was replaced, and nothing is left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import alive, script, soon

import deadheat as dh
from deadheat.runtime import LocalEngine, NoQuotas
from deadheat.runtime.conformance import started, until
from deadheat.runtime.engines.quota import PREFIX, ROOT, Quota
from deadheat.scheduling import Compute, Finished, Install, Joined, Program, Ticket, Token


def groups() -> set[str]:
    """This process's control groups."""
    return {path.name for path in ROOT.glob(f"**/deadheat-{os.getpid()}-*")}


def can_limit() -> bool:
    root = ROOT / "cpu" if (ROOT / "cpu").is_dir() else ROOT
    trial = root / f"deadheat-{os.getpid()}-trial"
    try:
        trial.mkdir()
    except OSError:
        return False
    with contextlib.suppress(OSError):
        trial.rmdir()
    return True


@pytest.fixture
def root() -> Iterator[None]:
    """For tests that limit processes."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or not can_limit():
        pytest.skip("quotas need root and control groups")
    yield
    for name in groups():  # what a failing test has left
        for path in ROOT.glob(f"**/{name}"):
            path.rmdir()


class Burn(Program):
    """Work for the processor, some 30 ms of it."""

    def run(self, task: int, token: Token) -> Any:
        """For how long it was on a core, and how long it took."""
        cpu, wall = time.process_time(), time.perf_counter()
        sum(range(1_500_000))
        return np.array([time.process_time() - cpu, time.perf_counter() - wall])


def share(results: list[Any]) -> float:
    """The part of a core that a worker had: what else runs on the machine only makes it smaller."""
    cpu, wall = np.sum(results, axis=0)
    return float(cpu / wall)


def test_a_quota_makes_a_worker_slow(root: None) -> None:
    """A quarter of a core beside a whole one, at the same tasks at the same time; also after it was replaced."""
    with started(lambda workers: LocalEngine(workers, quotas=[None, 0.25]), 2) as engine:
        assert len(groups()) == 1
        for number in range(2):
            results: dict[int, list[Any]] = {0: [], 1: []}
            for worker in (0, 1):
                engine.send(worker, Install(number, Burn(dh.codes.uncoded(1))))
                engine.send(worker, Compute(Ticket(number, 0), tuple(range(5)), None))
            for event in until(engine, 10, Finished):
                results[event.worker].append(np.array(event.value))
            assert share(results[1]) < 0.35
            assert share(results[0]) > share(results[1])
            if number == 0:
                engine.kill(1)
                until(engine, 1, Joined)
    assert not groups()


@pytest.mark.parametrize(
    ("quotas", "words"),
    [
        ([0.5], "for 2 workers"),
        ([0.5, 0.0], "at least 0.01"),
        ([0.5, -1.0], "at least 0.01"),
        ([0.5, float("nan")], "not a finite number"),
        ([0.5, "half"], "not a number"),
        ([0.5, 1e12], "more than a machine has"),
    ],
    ids=str,
)
def test_bad_quotas_are_refused(quotas: list[Any], words: str) -> None:
    with pytest.raises(dh.BadInput, match=words):
        LocalEngine(2, quotas=quotas)
    assert not groups()


def test_where_one_group_cannot_be_made_the_others_are_removed(root: None, monkeypatch: pytest.MonkeyPatch) -> None:
    make = Quota.__init__

    def only_halves(quota: Quota, share: float) -> None:
        make(quota, share)
        if share != 0.5:
            quota.remove()
            raise NoQuotas("out of groups")

    monkeypatch.setattr(Quota, "__init__", only_halves)
    with pytest.raises(NoQuotas, match="leave quotas out"):
        LocalEngine(2, quotas=[0.5, 0.25])
    assert not groups()


def of(pid: int) -> list[Path]:
    return list(ROOT.glob(f"*/{PREFIX}{pid}-*")) + list(ROOT.glob(f"{PREFIX}{pid}-*"))


def limited(tmp_path: Path) -> tuple[subprocess.Popen[str], list[int]]:
    """A master with two workers in groups, and the workers' processes."""
    master = script(
        tmp_path,
        """
        import time
        import deadheat as dh
        with dh.engines.LocalEngine(2, quotas=[0.5, 0.5]) as engine:
            joined = 0
            while joined < 2:
                joined += len(engine.wait(1.0))
            print(engine.pid(0), engine.pid(1), flush=True)
            time.sleep(60)
        """,
    )
    assert master.stdout is not None
    return master, [int(word) for word in master.stdout.readline().split()]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL], ids=lambda how: how.name)
def test_groups_go_however_the_master_ends(root: None, tmp_path: Path, how: signal.Signals) -> None:
    master, workers = limited(tmp_path)
    assert len(of(master.pid)) == 2
    master.send_signal(how)
    master.communicate(timeout=60)
    assert soon(lambda: not any(map(alive, workers)))
    assert soon(lambda: not of(master.pid))


def test_groups_of_dead_masters_are_swept_by_the_next_engine(root: None, tmp_path: Path) -> None:
    """The workers were killed at the same time. Groups of a process that lives stay."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    parent = ROOT / "cpu" if (ROOT / "cpu").is_dir() else ROOT
    abandoned, own = parent / f"{PREFIX}{ended.pid}-7", Quota(0.5)
    abandoned.mkdir()
    LocalEngine(1).close()
    assert not abandoned.exists()
    assert own.group.exists()
    own.remove()


def test_names_that_a_dead_process_of_the_same_number_has_left_are_passed_over(root: None) -> None:
    first = Quota(0.5)
    number = int(first.group.name.rpartition("-")[2])
    taken = first.group.with_name(f"{PREFIX}{os.getpid()}-{number + 1}")
    taken.mkdir()
    second = Quota(0.5)
    assert second.group not in (first.group, taken)
    for group in (first.group, taken, second.group):
        group.rmdir()
