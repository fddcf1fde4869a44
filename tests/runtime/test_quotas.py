"""CPU quotas: a worker gets its share of a core, also after it was replaced, and nothing is left behind."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.runtime import LocalEngine, NoQuotas
from deadheat.runtime.conformance import started, until
from deadheat.runtime.engines.quota import ROOT, Quota
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
