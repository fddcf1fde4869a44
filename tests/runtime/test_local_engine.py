"""The local engine: its processes end with the master, know the script without running it, come, go and are slowed."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from descent import descent, gradient, serial, step

import deadheat as dh
from deadheat.runtime.conformance import started, until
from deadheat.runtime.driver import Converged, NoWorkers
from deadheat.runtime.engines.local import ONE_THREAD, LocalEngine
from deadheat.runtime.engines.quotas import ROOT
from deadheat.runtime.job import Job
from deadheat.runtime.messages import (
    Assign,
    Command,
    Deliver,
    Event,
    Finished,
    Joined,
    Lost,
    Open,
    Order,
    Resolved,
    Ticket,
)
from deadheat.runtime.pools import Pool
from deadheat.runtime.runs import run

PAIR = dh.Cluster.from_columns([1e-3] * 2, 1e-4)


def script(folder: Path, text: str) -> subprocess.Popen[str]:
    """A user's script, as a user starts it."""
    file = folder / "script.py"
    file.write_text(textwrap.dedent(text))
    return subprocess.Popen([sys.executable, str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be noted does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def shelves(pid: int) -> set[str]:
    """The shared memory that a process has mapped; what was given back since is marked by the system."""
    lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    return {line.partition("/dev/shm/")[2] for line in lines if "/dev/shm/" in line}


def soon(happens: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Whether it happens within so many seconds."""
    end = time.monotonic() + seconds
    while not happens() and time.monotonic() < end:
        time.sleep(0.01)
    return happens()


# The end of the master


def test_workers_end_when_the_master_is_killed(tmp_path: Path) -> None:
    """No process is left, and no shared memory: what it held is taken away by the tracker of multiprocessing."""
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
    used = shelves(master.pid).union(*map(shelves, workers))
    kept = [Path("/dev/shm") / name for name in used if "deleted" not in name]
    assert kept
    assert all(place.exists() for place in kept)
    master.kill()
    master.communicate()
    assert soon(lambda: not any(map(alive, workers)))
    assert soon(lambda: not any(place.exists() for place in kept))


def test_workers_end_with_the_engine() -> None:
    with started(LocalEngine, 2) as engine:
        assert isinstance(engine, LocalEngine)
        pids = [engine.pid(w) or 0 for w in (0, 1)]
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

        said = {}
        for name, size in (("class", 3), ("large class", 5000)):
            job = dh.Job([np.ones(size), np.ones(size)], compute, Model(np.zeros(size)), step, 3)
            (end,) = dh.run(job, workers=2)
            said[name] = [end.error, float(end.state.weights.max()), end.state.steps, type(end.state) is Model]
        job = dh.Job([1.0, 2.0], lambda state, chunk: RATE * chunk + state, 0.0, lambda s, total, i: float(total), 2)
        (end,) = dh.run(job, workers=2)
        said["lambda"] = [end.error, end.state]
        job = dh.Job([1.0, 2.0], by_closure(10.0), 0.0, lambda s, total, i: float(total), 1)
        (end,) = dh.run(job, workers=2)
        said["closure"] = [end.error, end.state]
        job = dh.Job([1.0, 2.0], lambda state, chunk: Model(chunk), 0.0, lambda s, total, i: total, 1, "odd")
        (end,) = dh.run(job, workers=2)
        said["result"] = end.error
        print(json.dumps(said))
        """,
    )
    out, complaints = done.communicate(timeout=60)
    assert done.returncode == 0, complaints
    begun, last = out.splitlines()  # once: no worker has run the script
    assert begun == "begun"
    said = json.loads(last)
    assert said["class"] == said["large class"] == [None, 7.0, 3, True]
    assert said["lambda"] == [None, 4.5]
    assert said["closure"] == [None, 30.0]
    assert "numbers" in said["result"]  # a job is a sum: a class of one's own is no result


def test_a_worker_computes_with_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ONE_THREAD:
        monkeypatch.setenv(name, "3")

    def told(state: Any, chunk: int) -> Any:
        return np.array([os.environ[name] == "1" for name in ONE_THREAD], float)

    done = run(Job([0, 1], told, None, lambda s, total, i: total, 1), PAIR)
    assert done.state.tolist() == [2.0] * len(ONE_THREAD)
    assert all(os.environ[name] == "3" for name in ONE_THREAD)  # here nothing has changed


@pytest.mark.parametrize("way", ["keyword", "default"])
def test_only_a_third_argument_that_is_asked_for_is_a_token(way: str) -> None:
    def scaled(state: Any, chunk: float, scale: float) -> float:
        return scale * chunk

    compute = functools.partial(scaled, scale=2.0) if way == "keyword" else lambda s, chunk, scale=2.0: scale * chunk
    (done,) = run(Job([1.0, 2.0], compute, 0.0, lambda s, total, i: float(total), 1), PAIR)
    assert done.error is None
    assert done.state == 6.0


# Workers that come and go


def slow_gradient(w: Any, chunk: Any) -> Any:
    time.sleep(0.005)
    return gradient(w, chunk)


def test_workers_come_and_go_during_a_run() -> None:
    """One more after the third iteration; when it has brought a result, the first leaves; then some more, and done."""
    engine = LocalEngine(2)
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
    assert max(at for worker, at in orders if worker == 0) <= first_left[0]
    with pytest.raises(dh.BadInput, match="not there"):
        engine.leave(0)


def test_who_is_not_replaced_stays_away() -> None:
    """The other one does the first job alone; after its own death nobody is left for the second."""
    heard: list[Event | Command] = []
    engine = LocalEngine(2, replace=False)

    def listener(news: Event | Command, at: float) -> None:
        heard.append(news)
        match news:
            case Resolved(ticket=Ticket(job=0, iteration=2)):
                engine.kill(0)
            case Deliver(job=0):
                engine.kill(1)

    with engine:
        under_way = run([descent(12, 30), descent(12, 10**6)], PAIR, engine=engine, listeners=[listener])
        deliveries = iter(under_way)
        assert np.abs(next(deliveries).state - serial(30)).max() < 1e-9
        with pytest.raises(NoWorkers, match="1 jobs are not done"):
            next(deliveries)
        assert engine.gone
    assert sum(isinstance(news, Joined) for news in heard) == 2
    assert [news.worker for news in heard if isinstance(news, Lost)] == [0, 1]


@pytest.mark.timeout(40)
def test_an_engine_serves_a_second_run_or_says_no() -> None:
    with LocalEngine(2) as engine:
        assert np.abs(run(descent(6, 3), PAIR, engine=engine).state - serial(3)).max() < 1e-9
        with contextlib.suppress(dh.DeadheatError):
            assert np.abs(run(descent(6, 3), PAIR, engine=engine).state - serial(3)).max() < 1e-9


def test_tasks_that_take_longer_than_declared_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deadheat.runtime.estimates.LEAST_SILENCE", 0.3)

    def long(state: Any, chunk: float) -> float:
        time.sleep(0.7)
        return chunk

    one = dh.Cluster.from_columns([1e-3], 1e-4)
    (done,) = run(Job([1.0], long, 0.0, lambda s, total, i: float(total), 1), one)
    assert done.error is None
    assert done.state == 1.0


# What cannot be sent


def test_a_result_that_cannot_be_sent_fails_its_job_only() -> None:
    good = descent(6, 3, "good")
    bad = Job([[1.0], [2.0]], lambda state, chunk: (x for x in chunk), 0.0, lambda s, total, i: total, 3, "bad")
    first, second = run([bad, good], PAIR).wait().deliveries
    assert first.error is not None
    assert "generator" in first.error
    assert second.error is None
    assert np.abs(second.state - serial(3)).max() < 1e-9


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_job_that_cannot_be_sent_fails_alone() -> None:
    lock = threading.Lock()

    def locked(state: Any, chunk: float) -> float:
        return chunk if lock else 0.0

    with Pool(workers=2) as pool:
        bad = pool.submit(Job([1.0, 2.0], locked, 0.0, lambda s, total, i: total, 2, "bad"))
        good = pool.submit(descent(6, 2, "good"))
        error = bad.exception(timeout=10)
        assert error is not None
        assert "lock" in str(error)
        assert np.abs(good.result(timeout=10).state - serial(2)).max() < 1e-9


# Shared memory


def test_the_data_of_jobs_that_are_over_is_let_go() -> None:
    def mean(state: Any, chunk: Any) -> Any:
        return np.array([chunk.mean()])

    held: list[int] = []

    def listener(news: Event | Command, at: float) -> None:
        pid = engine.pid(0)
        if isinstance(news, Deliver) and pid is not None:
            held.append(len(shelves(pid)))

    jobs = [Job([np.ones(1_000_000)] * 4, mean, np.zeros(1), lambda s, total, i: total, 2) for _ in range(6)]
    with LocalEngine(1) as engine:
        run(jobs, dh.Cluster.from_columns([1e-3], 1e-4), engine=engine, listeners=[listener]).wait()
    assert len(held) == 6
    assert max(held) <= 2 * held[0]  # this job's, and perhaps the last one's


class Sized:
    """Results of 0.6 MB."""

    def begin(self, state: Any) -> None:
        """Nothing to begin."""

    def run(self, task: int, token: Any) -> Any:
        return np.full(75_000, float(task))


def test_late_results_of_a_shelf_that_grew_do_no_harm() -> None:
    with started(LocalEngine, 1) as engine:
        engine.send(0, Open(0, Sized()))
        engine.send(0, Order(Ticket(0, 0), tuple(range(8)), None))
        time.sleep(0.5)  # the master steps, and has read nothing yet
        engine.send(0, Order(Ticket(0, 1), (9,), None))
        time.sleep(0.5)
        found = until(engine, 9, Finished)
        assert found[-1].ticket == Ticket(0, 1)
        assert (found[-1].value == 9.0).all()


class Deaf:
    """Its first iteration holds the interpreter for a while, as some calls into C do: nothing is heard meanwhile."""

    def begin(self, state: Any) -> None:
        self.state = state

    def run(self, task: int, token: Any) -> Any:
        if self.state["number"] == 0:
            sum(range(30_000_000))
        return np.array([float(self.state["number"])])


def test_a_worker_that_hears_late_is_not_lost_for_the_job() -> None:
    def state(number: int) -> dict[str, Any]:
        return {"number": number, "words": ["word"] * (600 + 1000 * number * 7919 % 3001)}

    with started(LocalEngine, 1) as engine:
        engine.send(0, Open(0, Deaf()))
        engine.send(0, Order(Ticket(0, 0), (0,), state(0)))
        time.sleep(0.2)
        for number in range(1, 8):
            engine.send(0, Order(Ticket(0, number), (0,), state(number)))
        answer: Event | None = None
        end = time.monotonic() + 30
        while answer is None and time.monotonic() < end:
            answer = next((e for e in engine.wait(1.0) if getattr(e, "ticket", None) == Ticket(0, 7)), None)
        assert isinstance(answer, Finished), answer
        assert answer.value[0] == 7.0


# Quotas


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


class Burn:
    """Work for the processor, some 30 ms of it."""

    def begin(self, state: Any) -> None:
        """Nothing to begin."""

    def run(self, task: int, token: Any) -> Any:
        """Work, and say for how long it was on a core and how long it took."""
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
        assert isinstance(engine, LocalEngine)
        assert len(groups()) == 1
        for number in range(2):
            results: dict[int, list[Any]] = {0: [], 1: []}
            for worker in (0, 1):
                engine.send(worker, Open(number, Burn()))
                engine.send(worker, Order(Ticket(number, 0), tuple(range(5)), None))
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
    ],
    ids=str,
)
def test_bad_quotas_are_refused(quotas: list[Any], words: str) -> None:
    with pytest.raises(dh.BadInput, match=words):
        LocalEngine(2, quotas=quotas)
    assert not groups()


def test_quotas_are_for_local_workers() -> None:
    with pytest.raises(dh.BadInput, match="only local workers"):
        run(descent(6, 2), workers=2, engine="ray", quotas=[0.5, 0.5])


def test_a_quota_beyond_all_measure_leaves_nothing_behind(root: None) -> None:
    with pytest.raises(dh.DeadheatError):
        LocalEngine(2, quotas=[0.5, 1e12])
    assert not groups()


def test_an_interrupt_is_the_masters_business() -> None:
    """Workers do not hear of it: control-C in a terminal reaches all processes."""
    with started(LocalEngine, 1) as engine:
        assert isinstance(engine, LocalEngine)
        pid = engine.pid(0)
        assert pid is not None
        os.kill(pid, signal.SIGINT)
        assert engine.wait(0.3) == []
        assert alive(pid)
