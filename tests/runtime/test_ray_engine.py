"""The Ray engine: code and states reach the actors, workers come and go; without Ray one is told what to install."""

from __future__ import annotations

import importlib
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from descent import descent, gradient, serial, step

import deadheat as dh
from deadheat.runtime.driver import Converged, NoWorkers
from deadheat.runtime.engines.ray import RayEngine
from deadheat.runtime.job import Job
from deadheat.runtime.messages import Assign, Command, Deliver, Event, Finished, Joined, Lost, Resolved, Ticket
from deadheat.runtime.runs import run

PAIR = dh.Cluster.from_columns([1e-3] * 2, 1e-4)
EXAMPLES = Path(__file__).parents[2] / "examples"


def slow_gradient(w: Any, chunk: Any) -> Any:
    time.sleep(0.005)
    return gradient(w, chunk)


def test_workers_come_and_go_during_a_run(ray_cluster: None) -> None:
    """One more after the third iteration; when it has brought a result, the first leaves; then some more, and done."""
    engine = RayEngine(2)
    seen: dict[str, int] = {}
    first_left: list[float] = []
    orders: list[tuple[int, float]] = []

    def listener(news: Event | Command, at: float) -> None:
        match news:
            case Resolved(ticket=Ticket(iteration=3)):
                seen["added"] = engine.add()
            case Finished(worker=2) if not first_left:
                first_left.append(at)
                engine.leave(0)
            case Assign(worker=worker):
                orders.append((worker, at))
            case Lost(worker=worker):
                seen["lost"] = worker

    def until_both_have_worked(w: Any, total: Any, iteration: int) -> Any:
        new = step(w, total, iteration)
        after = [worker for worker, at in orders if first_left and at > first_left[0]]
        return Converged(new) if min(after.count(1), after.count(2)) >= 10 else new

    given = descent(12, 5000)
    with engine:
        job = Job(given.chunks, slow_gradient, given.start, until_both_have_worked, 5000)
        done = run(job, PAIR, engine=engine, listeners=[listener]).wait()
    (delivery,) = done.deliveries
    assert delivery.iterations < 5000
    assert np.abs(delivery.state - serial(delivery.iterations)).max() < 1e-9
    assert seen == {"added": 2, "lost": 0}
    reports = done.reports
    assert [one.name for one in reports] == ["w1", "w2", "joined-3"]
    assert reports[0].state == "lost"
    assert reports[2].done >= 10
    assert sum(at > first_left[0] for worker, at in orders if worker == 0) <= 1  # the news of it takes a moment
    with pytest.raises(dh.BadInput, match="not there"):
        engine.leave(0)


def test_who_is_not_replaced_stays_away(ray_cluster: None) -> None:
    heard: list[Event | Command] = []
    engine = RayEngine(2, replace=False)

    def listener(news: Event | Command, at: float) -> None:
        heard.append(news)
        match news:
            case Resolved(ticket=Ticket(job=0, iteration=2)):
                engine.kill(0)
            case Deliver(job=0):
                engine.kill(1)

    with engine:
        deliveries = iter(run([descent(12, 30), descent(12, 10**6)], PAIR, engine=engine, listeners=[listener]))
        assert np.abs(next(deliveries).state - serial(30)).max() < 1e-9
        with pytest.raises(NoWorkers, match="1 jobs are not done"):
            next(deliveries)
    assert sum(isinstance(news, Joined) for news in heard) == 2
    assert sorted(news.worker for news in heard if isinstance(news, Lost)) == [0, 1]


class Model:
    """A state of a class of one's own."""

    def __init__(self, weights: Any, steps: int = 0) -> None:
        self.weights, self.steps = weights, steps


def test_lambdas_closures_and_classes_reach_the_actors(ray_cluster: None) -> None:
    by = np.full(3, 10.0)

    class Inner(Model):
        pass

    jobs = [
        Job([1.0, 2.0], lambda state, chunk: chunk * by + state, np.zeros(3), lambda s, total, i: total, 2),
        Job(
            [np.ones(3), np.ones(3)],
            lambda model, chunk: Inner(chunk).weights + model.weights,
            Inner(np.zeros(3)),
            lambda model, total, i: Inner(model.weights + total, model.steps + 1),
            2,
        ),
        Job(
            [np.ones(30_000), np.ones(30_000)],
            lambda model, chunk: chunk + model.weights,
            Model(np.zeros(30_000)),
            lambda model, total, i: Model(model.weights + total, model.steps + 1),
            2,
        ),
    ]
    first, second, third = run(jobs, PAIR, engine="ray").wait().deliveries
    assert [one.error for one in (first, second, third)] == [None] * 3
    assert first.state.tolist() == [90.0] * 3  # 30, then 2 x 30 + 30
    assert isinstance(second.state, Inner)
    assert (second.state.weights.tolist(), second.state.steps) == ([8.0] * 3, 2)
    assert (third.state.weights == 8.0).all()


def test_a_script_without_a_main_guard(tmp_path: Path) -> None:
    """It starts a Ray of its own, and leaves none behind."""
    file = tmp_path / "script.py"
    text = """
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
    file.write_text(textwrap.dedent(text))
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["begun", "None 4.5", "False"]


def test_a_state_that_the_actors_cannot_read_says_why(
    ray_cluster: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is of a module that is not installed there."""
    monkeypatch.setattr("deadheat.runtime.estimates.LEAST_SILENCE", 0.5)
    (tmp_path / "only_here.py").write_text("class Kept:\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    kept = importlib.import_module("only_here").Kept()
    job = Job([1.0], lambda state, chunk: chunk, kept, lambda s, total, i: s, 2)
    (done,) = run(job, dh.Cluster.from_columns([1e-3], 1e-4), engine="ray")
    assert done.error is not None
    assert "only_here" in done.error


def test_work_that_the_actors_cannot_read_says_why(
    ray_cluster: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "also_only_here.py").write_text("def compute(state, chunk):\n    return chunk\n")
    monkeypatch.syspath_prepend(tmp_path)
    compute = importlib.import_module("also_only_here").compute
    job = Job([1.0, 2.0], compute, 0.0, lambda s, total, i: s, 2)
    (done,) = run(job, PAIR, engine="ray")
    assert done.error is not None
    assert "also_only_here" in done.error


def test_a_result_that_cannot_be_sent_fails_its_job_only(ray_cluster: None) -> None:
    good = descent(6, 3, "good")
    bad = Job([[1.0], [2.0]], lambda state, chunk: (x for x in chunk), 0.0, lambda s, total, i: total, 3, "bad")
    first, second = run([bad, good], PAIR, engine="ray").wait().deliveries
    assert first.error is not None
    assert "generator" in first.error
    assert second.error is None
    assert np.abs(second.state - serial(3)).max() < 1e-9


# Without Ray


def without_ray(*lines: str) -> subprocess.CompletedProcess[str]:
    """Run lines of code where Ray is not installed."""
    text = "\n".join(["import sys", "sys.modules['ray'] = None", "import deadheat as dh", *lines])
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)


JOB = "job = dh.Job([1.0, 2.0], lambda s, c: c, 0.0, lambda s, t, i: float(t), 1)"
INSTALL = "pip install 'deadheat[ray]'"


@pytest.mark.parametrize("call", ["dh.run(job, workers=2, engine='ray')", "dh.Pool(workers=2, engine='ray')"])
def test_without_ray_one_is_told_what_to_install(call: str) -> None:
    done = without_ray(JOB, call)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("deadheat.runtime.engines.ray.RayMissing")
    assert INSTALL in done.stderr


def test_without_ray_the_error_is_one_of_ours() -> None:
    done = without_ray(
        JOB, "try: dh.run(job, workers=2, engine='ray')", "except dh.DeadheatError as error: print(error)"
    )
    assert done.returncode == 0
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
