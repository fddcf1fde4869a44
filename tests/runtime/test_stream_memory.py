"""Memory does not grow with the number of jobs: neither at the master nor at the workers."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from each_engine import PAIR

from deadheat.runtime import Job, run

WARM, JOBS = 1000, 4000
ALLOWED = 50e6 * (JOBS - WARM) / 19_000  # bytes: 50 MB for 20,000 jobs, of which the first 1,000 warm up


def resident(pid: int) -> int:
    """Bytes of a process's memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()


def short_jobs(count: int) -> Iterator[Job]:
    """One or two iterations over two tiny chunks."""
    for value in range(count):
        data = np.full(4, float(value))
        yield Job([data, data + 1], lambda s, c: c[:1], 0.0, lambda s, total, i: float(total[0]), 1 + value % 2)


def test_short_jobs_by_the_thousand() -> None:
    """20,000 took 117 s on two busy cores and the master grew by 11 MB (2026-11-17); the test takes a fifth of them."""
    before: list[int] = []
    after: list[int] = []
    under_way = run(short_jobs(JOBS), PAIR)
    pids = [under_way.driver.engine.pid(worker) or 0 for worker in (0, 1)]
    for place, delivery in enumerate(under_way, 1):
        assert delivery.error is None
        assert delivery.state == 2 * place - 1
        if place in (WARM, JOBS - 1):
            (before if place == WARM else after).extend(map(resident, (os.getpid(), *pids)))
    assert len(under_way.deliveries) == JOBS
    for name, first, last in zip(("master", "worker 0", "worker 1"), before, after, strict=True):
        assert last - first < ALLOWED, f"{name}: {first / 1e6:.1f} MB, then {last / 1e6:.1f} MB"
