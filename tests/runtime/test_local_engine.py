"""The local engine: its processes end with the master, know the user's script without running it, use one thread."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each_engine import PAIR
from processes import alive, script, shared_memory, soon

from deadheat.runtime import Job, LocalEngine, run
from deadheat.runtime.conformance import started
from deadheat.runtime.engines.worker_process import ONE_THREAD

# The end of the master


def test_workers_end_when_the_master_is_killed(tmp_path: Path) -> None:
    """No process is left, and no shared memory: the workers remove the master's, too."""
    master = script(
        tmp_path,
        """
        import time
        import numpy as np
        import deadheat as dh

        def compute(state, chunk):
            time.sleep(0.01)
            return state + chunk

        def step(state, total, iteration):
            if iteration == 4:
                print(*(under_way.driver.engine.pid(w) for w in (0, 1)), flush=True)
            return total / 4

        job = dh.Job([np.ones(100_000)] * 4, compute, np.zeros(100_000), step, 10**6)
        under_way = dh.run(job, workers=2)
        under_way.wait()
        """,
    )
    assert master.stdout is not None
    workers = [int(word) for word in master.stdout.readline().split()]
    assert len(workers) == 2
    assert all(map(alive, workers))
    used = shared_memory(master.pid).union(*map(shared_memory, workers))
    kept = [Path("/dev/shm") / name for name in used if "deleted" not in name]
    assert kept
    assert all(place.exists() for place in kept)
    master.kill()
    master.communicate()
    assert soon(lambda: not any(map(alive, workers)))
    assert soon(lambda: not any(place.exists() for place in kept))


def test_workers_end_with_the_engine_and_do_not_hear_interrupts() -> None:
    """Control-C in a terminal reaches all processes: it is the master's business."""
    with started(LocalEngine, 2) as engine:
        pids = [engine.pid(w) or 0 for w in (0, 1)]
        os.kill(pids[0], signal.SIGINT)
        assert engine.wait(0.3) == []
        assert all(map(alive, pids))
    assert not any(map(alive, pids))
    assert engine.pid(0) is None


# The user's script


def test_a_script_without_a_main_guard(tmp_path: Path) -> None:
    """Its functions, lambdas, closures and classes reach the workers, and it is run once only."""
    done = script(
        tmp_path,
        """
        import json
        from dataclasses import dataclass
        import numpy as np
        import deadheat as dh

        print("begun")
        RATE = 0.5

        @dataclass
        class Model:
            weights: np.ndarray
            steps: int = 0

        def compute(model, chunk):
            assert isinstance(model, Model)
            return RATE * (chunk + model.weights)

        def step(model, total, iteration):
            return Model(model.weights + total, model.steps + 1)

        def by_closure(by):
            class Inner(Model):
                pass
            return lambda state, chunk: Inner(by * chunk).weights + state

        jobs = [
            dh.Job([np.ones(size), np.ones(size)], compute, Model(np.zeros(size)), step, 3) for size in (3, 5000)
        ] + [
            dh.Job([1.0, 2.0], lambda state, chunk: RATE * chunk + state, 0.0, lambda s, total, i: float(total), 2),
            dh.Job([1.0, 2.0], by_closure(10.0), 0.0, lambda s, total, i: float(total), 1),
            dh.Job([1.0, 2.0], lambda state, chunk: Model(chunk), 0.0, lambda s, total, i: total, 1, "odd"),
        ]
        *models, plain, closure, odd = dh.run(jobs, workers=2)
        print(json.dumps({
            "models": [
                [end.error, float(end.state.weights.max()), end.state.steps, type(end.state) is Model]
                for end in models
            ],
            "lambda": [plain.error, plain.state],
            "closure": [closure.error, closure.state],
            "result": odd.error,
        }))
        """,
    )
    out, complaints = done.communicate(timeout=60)
    assert done.returncode == 0, complaints
    begun, last = out.splitlines()  # once: no worker has run the script
    assert begun == "begun"
    printed = json.loads(last)
    assert printed["models"] == [[None, 7.0, 3, True]] * 2
    assert printed["lambda"] == [None, 4.5]
    assert printed["closure"] == [None, 30.0]
    assert "numbers" in printed["result"]  # a job is a sum: a class of one's own is no result


def test_a_worker_computes_with_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ONE_THREAD:
        monkeypatch.setenv(name, "3")

    def limited(state: Any, chunk: int) -> Any:
        return np.array([os.environ[name] == "1" for name in ONE_THREAD], float)

    done = run(Job([0, 1], limited, None, lambda s, total, i: total, 1), PAIR)
    assert done.state.tolist() == [2.0] * len(ONE_THREAD)
    assert all(os.environ[name] == "3" for name in ONE_THREAD)  # here nothing has changed
