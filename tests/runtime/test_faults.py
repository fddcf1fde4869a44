"""Workers that hang or return garbage, steps that raise, jobs of different codes, a Ray cluster of several nodes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from descent import COLUMNS, descent, gradient, serial, step

import deadheat as dh
from deadheat.runtime.job import Job
from deadheat.runtime.messages import Dismiss, Finished, Lost
from deadheat.runtime.runs import Run, run

EQUAL = dh.Cluster.from_columns([1e-3] * 3, 1e-4)


@pytest.fixture(params=["local", "ray"])
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "ray":
        request.getfixturevalue("ray_cluster")
    return str(request.param)


class Halt:
    """Stops a worker's process, without ending it, when it brings its third result."""

    def __init__(self) -> None:
        self.run: Run | None = None
        self.seen, self.dismissed, self.lost = 0, 0, 0

    def __call__(self, news: object, at: float) -> None:
        match news:
            case Finished(worker=1):
                self.seen += 1
                if self.seen == 3 and self.run is not None:
                    os.kill(self.pid(), signal.SIGSTOP)
            case Dismiss(worker=1):
                self.dismissed += 1
            case Lost(worker=1):
                self.lost += 1

    def pid(self) -> int:
        assert self.run is not None
        engine: Any = self.run.driver.engine
        return int(engine.pid(1))


def test_a_worker_that_hangs_is_taken_for_lost(engine: str) -> None:
    halt = Halt()
    halt.run = run(descent(30, 12), EQUAL, engine=engine, adapt=False, listeners=[halt])
    (done,) = halt.run.wait().deliveries
    assert done.error is None
    assert np.abs(done.state - serial(12)).max() < 1e-9
    assert halt.dismissed >= 1


def only_here(place: str) -> bool:
    """Whether this process is the one that is to go wrong: the first that asks."""
    try:
        os.close(os.open(place, os.O_CREAT | os.O_EXCL))
        Path(place).write_text(str(os.getpid()))
    except FileExistsError:
        pass
    return Path(place).read_text() == str(os.getpid())


@pytest.mark.parametrize(
    "garbage", [np.full(COLUMNS, np.nan), np.zeros(3), "rubbish", None], ids=["nan", "shape", "text", "none"]
)
def test_garbage_of_one_worker_never_becomes_an_answer(engine: str, garbage: Any, tmp_path: Path) -> None:
    given, place = descent(12, 4), str(tmp_path / "who")

    def compute(w: Any, chunk: Any) -> Any:
        return garbage if only_here(place) else gradient(w, chunk)

    job = Job(given.chunks, compute, given.start, step, 4)
    (done,) = run(job, EQUAL, engine=engine, adapt=False).wait().deliveries
    assert done.error is None
    assert np.abs(done.state - serial(4)).max() < 1e-9


def test_garbage_of_all_is_said(engine: str) -> None:
    given = descent(6, 3)
    job = Job(given.chunks, lambda w, chunk: "rubbish", given.start, step, 3, "bad")
    (done,) = run(job, EQUAL, engine=engine).wait().deliveries
    assert done.error is not None
    assert "cannot be used" in done.error


def test_a_step_that_raises_ends_its_job_only() -> None:
    given = descent(6, 3)

    def wrong(w: Any, total: Any, iteration: int) -> Any:
        raise ZeroDivisionError("no rate")

    bad = Job(given.chunks, gradient, given.start, wrong, 3, "bad")
    first, second = run([bad, given], EQUAL).wait().deliveries
    assert first.error is not None
    assert "ZeroDivisionError: no rate" in first.error
    assert second.error is None
    assert np.abs(second.state - serial(3)).max() < 1e-9


def test_jobs_of_different_codes_in_one_stream(engine: str) -> None:
    codes = [dh.codes.cyclic(12, 3), None, dh.codes.fractional_repetition(12, 2), dh.codes.cyclic(6, 1, reuse=True)]
    jobs = [descent(12, 4, f"job {n}") for n in range(len(codes))]
    done = run(jobs, EQUAL, codes, engine).wait()
    assert [d.name for d in done.deliveries] == ["job 0", "job 1", "job 2", "job 3"]
    for delivery in done.deliveries:
        assert delivery.error is None
        assert np.abs(delivery.state - serial(4)).max() < 1e-9
    assert len(done.outcome.compared) == 3


@pytest.mark.parametrize("schedule", ["static", "top-up", "pull"])
def test_every_schedule_brings_the_same_answer(engine: str, schedule: str) -> None:
    done = run(descent(12, 5), EQUAL, dh.codes.cyclic(12, 3), engine, schedule=schedule)
    assert np.abs(done.state - serial(5)).max() < 1e-9


def test_one_code_for_each_job_or_one_for_all() -> None:
    with pytest.raises(dh.BadInput, match="for 2 jobs"):
        run([descent(6, 1), descent(6, 1)], EQUAL, [None])


def test_an_actor_on_every_node_of_a_ray_cluster() -> None:
    """Three nodes on this machine, each with its own raylet; the answer is that of a serial run."""
    pytest.importorskip("ray")
    script = textwrap.dedent(f"""
        import sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        import numpy as np, ray
        from ray.cluster_utils import Cluster
        import deadheat as dh
        from deadheat.runtime import RayEngine
        from descent import descent, serial

        nodes = Cluster(initialize_head=True, head_node_args={{"num_cpus": 1}})
        nodes.add_node(num_cpus=1)
        nodes.add_node(num_cpus=1)
        nodes.wait_for_nodes()
        ray.init(address=nodes.address, log_to_driver=False, logging_level=40,
                 runtime_env={{"env_vars": {{"PYTHONPATH": {str(Path(__file__).parent)!r}}}}})
        engine = RayEngine(None)
        done = dh.run(descent(12, 4), engine=engine).wait()
        print(len(engine), bool(np.abs(done.state - serial(4)).max() < 1e-9))
        engine.close()
        ray.shutdown()
        nodes.shutdown()
    """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.split() == ["3", "True"], done.stderr[-2000:]
