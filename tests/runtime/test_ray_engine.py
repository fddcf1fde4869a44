"""What only Ray has: several nodes, actors without the user's modules, a Ray of one's own; and no Ray at all."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from descent import descent, off
from each_engine import PAIR

import deadheat as dh
from deadheat.runtime import Job, RayEngine, run

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def two_nodes(ray_cluster: None) -> Iterator[None]:
    """One more node for the Ray of these tests: a raylet of its own on this machine."""
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster(shutdown_at_exit=False)
    cluster.head_node = ray._private.worker.global_worker.node
    node = cluster.add_node(num_cpus=1)
    yield
    cluster.remove_node(node)
    end = time.monotonic() + 30
    alive: Any = ray.nodes
    while sum(node["Alive"] for node in alive()) > 1 and time.monotonic() < end:
        time.sleep(0.1)


def test_an_actor_on_every_node_of_a_ray_cluster(two_nodes: None) -> None:
    def raylets(w: Any, chunk: int) -> Any:
        where = np.zeros(6)
        where[chunk] = os.getppid()  # a worker's process is a child of its node's raylet
        return where

    jobs = [descent(12, 4), Job(range(6), raylets, None, lambda state, total, i: total.tolist(), 1)]
    with RayEngine(None) as engine:
        assert engine.workers == 2
        first, second = run(jobs, engine=engine, policy="uniform", adapt=False).wait().deliveries
    assert off(first.state, 4) < 1e-9
    assert len(set(second.state[:3])) == len(set(second.state[3:])) == 1
    assert len(set(second.state)) == 2


SCRIPT = """
    import deadheat as dh
    print("begun")
    RATE = 0.5
    def compute(state, chunk):
        return RATE * chunk + state
    (end,) = dh.run(dh.Job([1.0, 2.0], compute, 0.0, lambda s, total, i: float(total), 2), workers=2, engine="ray")
    print(end.error, end.state)
    import ray
    print(ray.is_initialized())
"""


def printed(folder: Path, **environment: str) -> list[str]:
    file = folder / "script.py"
    file.write_text(textwrap.dedent(SCRIPT))
    settings = {**os.environ, **environment}
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=120, env=settings)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_script_without_a_main_guard(tmp_path: Path) -> None:
    """It starts a Ray of its own, and leaves none behind."""
    assert printed(tmp_path) == ["begun", "None 4.5", "False"]


def test_a_script_on_a_machine_where_a_ray_runs(ray_cluster: None, tmp_path: Path) -> None:
    """As on a node of a cluster, where Ray finds it by itself (`ray start`, RAY_ADDRESS)."""
    import ray

    assert printed(tmp_path, RAY_ADDRESS=ray.get_runtime_context().gcs_address)[:2] == ["begun", "None 4.5"]


def test_what_the_actors_cannot_read_is_said(
    ray_cluster: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A state, a function and a chunk of a module that is not installed there; the fourth job goes on."""
    monkeypatch.setattr("deadheat.scheduling.estimates.LEAST_SILENCE", 0.5)
    (tmp_path / "only_here.py").write_text("class Kept:\n    pass\n\ndef compute(state, chunk):\n    return chunk\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("only_here")

    def plain(state: object, chunk: float) -> float:
        return 1.0

    jobs = [
        Job([1.0], plain, module.Kept(), lambda s, total, i: s, 2, "state"),
        Job([1.0, 2.0], module.compute, 0.0, lambda s, total, i: s, 2, "function"),
        Job([module.Kept()], plain, 0.0, lambda s, total, i: s, 2, "chunk"),
        descent(6, 3),
    ]
    *bad, good = run(jobs, PAIR, engine="ray").wait().deliveries
    for delivery in bad:
        assert delivery.error is not None
        assert "No module named 'only_here'" in delivery.error, delivery.name
    assert off(good.state, 3) < 1e-9


# Without Ray


def without_ray(*lines: str) -> subprocess.CompletedProcess[str]:
    """Run lines of code where Ray is not installed."""
    text = "\n".join(["import sys", "sys.modules['ray'] = None", "import deadheat as dh", *lines])
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)


JOB = "job = dh.Job([1.0, 2.0], lambda s, c: c, 0.0, lambda s, t, i: float(t), 1)"
INSTALL = "pip install 'deadheat[ray]'"


@pytest.mark.parametrize("call", ["dh.run(job, workers=2, engine='ray')", "dh.Pool(workers=2, engine='ray')"])
def test_without_ray_one_is_told_what_to_install(call: str) -> None:
    """By an error of ours."""
    done = without_ray(JOB, f"try: {call}", "except dh.DeadheatError as error: print(type(error).__name__, error)")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("RayMissing")
    assert INSTALL in done.stdout


def test_without_ray_all_else_works() -> None:
    """A negative control."""
    done = without_ray(JOB, "print(dh.run(job, workers=2).state)")
    assert (done.returncode, done.stdout.strip()) == (0, "3.0"), done.stderr


def test_without_ray_the_command_says_so_in_one_line() -> None:
    file = EXAMPLES / "worked-example.toml"
    arguments = ["run", str(file), "--engine", "ray", "--jobs", "1", "--emulate"]
    done = without_ray("from deadheat.cli import main", f"main({arguments!r})")
    assert done.returncode == 1
    assert done.stderr.strip() == f"deadheat: engine 'ray' needs Ray, which is not installed: {INSTALL}"


def test_workers_are_checked_before_ray_is_started() -> None:
    with pytest.raises(dh.BadInput, match="workers = 0"):
        RayEngine(0)
