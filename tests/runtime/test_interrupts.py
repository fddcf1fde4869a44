"""Pools that are interrupted, dropped or left by an exception: what waits is cancelled, and nothing is left."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from descent import descent, off
from each_engine import PAIR
from processes import alive, children, script, soon

from deadheat.runtime import Job, LocalEngine, Pool
from deadheat.runtime.engines.roster import EngineClosed
from deadheat.runtime.run import EndedEarly

PATIENCE = 60.0
POOL = """
import time
import numpy as np
import deadheat as dh

def slow(state, chunk):
    time.sleep(600)

job = dh.Job([1.0, 2.0], slow, np.zeros(1), lambda s, t, i: t, 1)
"""
BODIES = {
    "while workers start": """
print("here", flush=True)
with dh.Pool(workers=3) as pool:
    pool.submit(job).result()
""",
    "while a job is waited for": """
with dh.Pool(workers=2) as pool:
    future = pool.submit(job)
    while len(pool._driver.engine._joined) < 2:
        time.sleep(0.01)
    print("here", flush=True)
    future.result()
""",
    "while the pool is closed": """
with dh.Pool(dh.Cluster.from_columns([1e-3] * 2, 1e-4)) as pool:
    pool.submit(job)
    while len(pool._driver.engine._joined) < 2:
        time.sleep(0.01)
    print("here", flush=True)
""",
    "in a pool that nobody closes": """
pool = dh.Pool(workers=2)
future = pool.submit(job)
while len(pool._driver.engine._joined) < 2:
    time.sleep(0.01)
print("here", flush=True)
future.result()
""",
}


@pytest.mark.parametrize("name", list(BODIES))
def test_control_c_leaves_nothing(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within seconds, though each task takes ten minutes: no process, no folder."""
    monkeypatch.setenv("DEADHEAT_SHM", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    user = script(tmp_path, POOL + BODIES[name])
    assert user.stdout is not None
    assert user.stdout.readline() == "here\n"
    if name == "while workers start":
        assert soon(lambda: bool(children(user.pid)))
    workers = children(user.pid)
    assert workers
    began = time.monotonic()
    user.send_signal(signal.SIGINT)
    _, complaints = user.communicate(timeout=PATIENCE)
    assert time.monotonic() - began < 15.0
    assert user.returncode == -signal.SIGINT
    assert complaints.splitlines()[-1] == "KeyboardInterrupt"
    assert soon(lambda: not any(map(alive, workers)))
    assert soon(lambda: not list(tmp_path.glob("deadheat-*")))


def hold(state: Any, chunk: float) -> Any:
    time.sleep(600)
    return np.array([chunk])


def test_an_exception_inside_the_with_cancels_what_waits() -> None:
    futures: list[Any] = []
    pids: list[int] = []
    pool = Pool(PAIR)

    def interrupted() -> None:
        with pool:
            futures.extend(pool.submit(Job([1.0, 2.0], hold, None, lambda s, t, i: t, 1)) for _ in range(4))
            assert soon(lambda: futures[0].running() and len(pool._driver) > 1)
            pids.extend(pool._driver.engine.pid(worker) or 0 for worker in (0, 1))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        interrupted()
    assert isinstance(futures[0].exception(PATIENCE), EndedEarly)
    with pytest.raises(CancelledError):
        futures[3].result(PATIENCE)
    assert not any(map(alive, pids))
    assert pool.closed
    with pytest.raises(RuntimeError, match="closed"):
        pool.submit(descent(6, 1))


def test_a_pool_that_is_dropped_finishes_its_jobs_and_ends_its_workers() -> None:
    threads, before = set(threading.enumerate()), children(os.getpid())
    future = Pool(PAIR).submit(descent(6, 3))
    gc.collect()
    assert off(future.result(PATIENCE).state, 3) < 1e-9
    assert soon(lambda: set(threading.enumerate()) <= threads)
    assert children(os.getpid()) <= before


def test_an_engine_can_be_closed_while_another_thread_waits() -> None:
    engine, errors = LocalEngine(1), []

    def wait() -> None:
        try:
            while True:
                engine.wait(None)
        except EngineClosed as error:
            errors.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.2)
    engine.close()
    waiting.join(PATIENCE)
    assert len(errors) == 1
    with pytest.raises(EngineClosed):
        engine.wait(0.0)


def test_a_pool_is_not_closed_by_its_own_callback() -> None:
    """A callback runs in the background's thread, which cannot wait for itself."""
    pool = Pool(PAIR)
    future = pool.submit(descent(6, 2))
    future.add_done_callback(lambda _: pool.close())
    assert off(future.result(PATIENCE).state, 2) < 1e-9
    pool.close()
    assert pool.closed
