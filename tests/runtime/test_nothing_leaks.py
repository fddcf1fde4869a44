"""Many tiny jobs through one pool: descriptors, threads, shared memory and memory stay as they were.

DEADHEAT_LEAK_JOBS=5000 runs the full number, which takes a quarter of a minute.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from each_engine import PAIR
from processes import descriptors, shared_memory

from deadheat.runtime import Job, LocalEngine, Pool

JOBS = int(os.environ.get("DEADHEAT_LEAK_JOBS", "1200"))
WARM = min(500, JOBS // 3)  # jobs after which everything that is kept has been seen once
AT_ONCE = 50  # jobs that wait
GROWTH = 3000  # kilobytes that a process may have more at the end; it was 90 after 5000 jobs


@dataclass(frozen=True)
class Usage:
    """What the master and its workers hold."""

    descriptors: tuple[int, ...]
    mappings: tuple[int, ...]
    threads: int
    files: int
    kilobytes: tuple[int, ...]


def usage(engine: LocalEngine) -> Usage:
    pids = [os.getpid(), *(engine.pid(worker) or 0 for worker in (0, 1))]
    return Usage(
        descriptors=tuple(map(descriptors, pids)),
        mappings=tuple(len(shared_memory(pid)) for pid in pids),
        threads=threading.active_count(),
        files=sum(len(list(Path(folder).iterdir())) for folder in engine._folders.paths),
        kilobytes=tuple(map(resident, pids)),
    )


def resident(pid: int) -> int:
    """Kilobytes of a process's own memory; shared memory is counted by its files."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


def chunk_sum(state: Any, chunk: Any) -> Any:
    return state + chunk


def job(number: int) -> Job:
    """Chunks, states and results of 4 kB each: all go through shared memory."""
    data = np.full((2, 512), float(number))
    return Job(list(data), chunk_sum, np.zeros(512), lambda s, total, i: total, 1, f"number {number}")


def test_jobs_leave_nothing_behind() -> None:
    seen: list[Usage] = []
    with Pool(PAIR) as pool:
        engine = pool._driver.engine
        assert isinstance(engine, LocalEngine)
        futures = []
        for number in range(JOBS):
            futures.append(pool.submit(job(number)))
            if len(futures) == AT_ONCE:
                for offset, future in enumerate(futures, number + 1 - AT_ONCE):
                    assert future.result(60).state[0] == 2 * offset
                futures.clear()
            if number + 1 in (WARM // AT_ONCE * AT_ONCE, JOBS // AT_ONCE * AT_ONCE):
                seen.append(usage(engine))
        assert all(future.result(60).error is None for future in futures)
        begin, end = seen
    print(begin, end)  # shown by pytest -s, or when something fails
    slack = 3  # what is in hand when we look
    for before, after in zip(begin.descriptors, end.descriptors, strict=True):
        assert after <= before + slack
    for before, after in zip(begin.mappings, end.mappings, strict=True):
        assert after <= before + slack
    assert end.threads == begin.threads
    assert end.files <= begin.files + slack
    for before, after in zip(begin.kilobytes, end.kilobytes, strict=True):
        assert after - before < GROWTH
