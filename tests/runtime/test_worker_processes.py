"""Processes of local workers: started anywhere, found dead whatever holds their pipes, ended without a trace."""

from __future__ import annotations

import json
import os
import signal
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each_engine import PAIR
from processes import alive, children, descriptors, script, soon

import deadheat as dh
from deadheat.runtime import LocalEngine, Pool
from deadheat.runtime.conformance import started, until
from deadheat.runtime.engines.worker_process import WorkerProcess
from deadheat.scheduling import Compute, Engine, Event, Finished, Install, Joined, Lost, Program, Ticket, Token

# Where and how they are started


def test_the_main_module_and_the_environment_are_never_swapped() -> None:
    """Another thread that pickles or starts processes while workers start sees them as they are."""
    script, environment, stop = sys.modules["__main__"], dict(os.environ), threading.Event()
    seen: set[bool] = set()

    def look() -> None:
        while not stop.is_set():
            seen.add(sys.modules["__main__"] is script and dict(os.environ) == environment)

    watcher = threading.Thread(target=look)
    watcher.start()
    with LocalEngine(3):
        pass
    stop.set()
    watcher.join()
    assert seen == {True}


TOTAL = """
import multiprocessing
import numpy as np
import deadheat as dh

def total(state, chunk):
    return np.array([chunk])

def answer():
    job = dh.Job([1.0, 2.0], total, np.zeros(1), lambda s, t, i: t, 2)
    return dh.run(job, dh.Cluster.from_columns([1e-3] * 2, 1e-4)).state[0]
"""


@pytest.mark.parametrize(
    "body",
    [
        """
        def send(pipe):
            pipe.send(answer())

        here, there = multiprocessing.Pipe()
        process = multiprocessing.get_context("fork").Process(target=send, args=(there,), daemon=True)
        process.start()
        print(here.recv())
        process.join()
        """,
        """
        outer = dh.Job([1.0, 2.0], lambda state, chunk: np.array([answer()]), np.zeros(1), lambda s, t, i: t / 2, 1)
        print(dh.run(outer, dh.Cluster.from_columns([1.0], 0.1)).state[0])
        """,
        """
        import joblib
        print(joblib.Parallel(n_jobs=2)(joblib.delayed(answer)() for _ in range(2))[1])
        """,
    ],
    ids=["in a daemonic process", "in a task of another run", "in a worker of joblib"],
)
def test_a_run_inside_another_process(tmp_path: Path, body: str) -> None:
    inside = script(tmp_path, TOTAL + textwrap.dedent(body))
    out, complaints = inside.communicate(timeout=60)
    assert (inside.returncode, complaints) == (0, "")
    assert out == "3.0\n"


# How they end


class Act(Program):
    """Does what a test wants in its first task; the others return their number."""

    def __init__(self, action: Callable[[], object]) -> None:
        super().__init__(dh.codes.uncoded(1))
        self.action = action

    def run(self, task: int, token: Token) -> Any:
        if task == 0:
            self.action()
        return np.array([float(task)])


def acted(engine: Engine, action: Callable[[], object], kind: type = Lost) -> Any:
    """The first event of a kind after a worker's first task has done that, with a task behind it."""
    engine.send(0, Install(0, Act(action)))
    engine.send(0, Compute(Ticket(0, 0), (0, 1), None))
    return until(engine, 1, kind)[0]


def close_all() -> None:
    os.closerange(3, 256)


def reuse() -> None:
    """Close everything, and let files have the numbers."""
    os.closerange(3, 256)
    for _ in range(50):
        os.open(os.devnull, os.O_RDWR)


def fork_and_die() -> None:
    if os.fork():
        os._exit(3)
    time.sleep(60)


def write_everywhere() -> None:
    """As a stray write of a library in C would: into every socket that there is."""
    for name in os.listdir("/proc/self/fd"):
        link = Path(f"/proc/self/fd/{name}")
        if link.is_symlink() and "socket" in os.readlink(link):
            os.write(int(name), b"Segmentation fault? Not at all!")
    time.sleep(60)


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (close_all, "its pipe was closed by a task"),
        (reuse, "its pipe was closed by a task"),
        (fork_and_die, "exit code 3"),
        (write_everywhere, "it sent bytes that are no message"),
        (lambda: os.kill(os.getpid(), signal.SIGSEGV), "SIGSEGV"),
        (lambda: os._exit(7), "exit code 7"),
    ],
    ids=["closes its descriptors", "reuses them", "forks and dies", "writes garbage", "crashes", "exits"],
)
def test_a_worker_that_a_task_breaks_is_lost_and_replaced(action: Callable[[], object], reason: str) -> None:
    """Without waiting for its silence to become too long, and with the reason."""
    with started(LocalEngine, 1) as engine:
        assert isinstance(engine, LocalEngine)
        pid = engine.pid(0) or 0
        began = time.monotonic()
        acted(engine, action)
        assert time.monotonic() - began < 10.0
        assert reason in engine.reasons[0]
        until(engine, 1, Joined)
        assert engine.pid(0) not in (None, pid)
        assert soon(lambda: not children(pid))


def fork() -> None:
    """The child goes on in the same code as its parent: it returns."""
    if os.fork() == 0:
        time.sleep(0.2)


def test_a_child_that_a_task_forks_is_no_second_worker() -> None:
    with started(LocalEngine, 1) as engine:
        engine.send(0, Install(0, Act(fork)))
        engine.send(0, Compute(Ticket(0, 0), (0, 1, 2), None))
        heard: list[Event] = []
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            heard += engine.wait(0.1)
        assert [event.task for event in heard if isinstance(event, Finished)] == [0, 1, 2]
        pid = engine.pid(0) or 0
        assert soon(lambda: not any(map(alive, children(pid))))


def test_a_child_of_the_master_does_not_keep_workers_alive(tmp_path: Path) -> None:
    """It was forked while they ran, holds the master's ends of the pipes, and lives on when the master is killed."""
    master = script(
        tmp_path,
        """
        import os, time
        import deadheat as dh
        engine = dh.engines.LocalEngine(2)
        while len(engine.wait(0.5)) < 1:
            pass
        child = os.fork()
        if child == 0:
            time.sleep(60)
        print(engine.pid(0), engine.pid(1), child, *engine._folders.paths, flush=True)
        time.sleep(60)
        """,
    )
    assert master.stdout is not None
    one, other, child, *folders = master.stdout.readline().split()
    master.kill()
    assert soon(lambda: not alive(int(one)) and not alive(int(other)))
    assert soon(lambda: not any(Path(folder).exists() for folder in folders))
    assert alive(int(child))
    os.kill(int(child), signal.SIGKILL)
    master.communicate()


# Start and end of an engine


@pytest.mark.parametrize("signals", [signal.SIGSTOP, signal.SIGKILL], ids=["stopped", "killed"])
def test_closing_while_workers_start_is_quick_and_leaves_nothing(signals: int) -> None:
    before, threads, open_before = children(os.getpid()), threading.active_count(), descriptors(os.getpid())
    engine = LocalEngine(3)
    own = set(engine._folders.paths)
    for worker in (0, 1):
        os.kill(engine.pid(worker) or 0, signals)
    began = time.monotonic()
    engine.close()
    assert time.monotonic() - began < 3.0
    assert children(os.getpid()) - before == set()
    assert not any(Path(folder).exists() for folder in own)
    assert descriptors(os.getpid()) <= open_before
    assert threading.active_count() == threads


def test_a_worker_that_is_stopped_while_it_starts_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deadheat.runtime.engines.local_engine.START", 5.0)
    engine = LocalEngine(2)
    with engine:
        os.kill(engine.pid(0) or 0, signal.SIGSTOP)
        events = [*until(engine, 2, Joined)]
        assert {event.worker for event in events} == {0, 1}
        assert engine.reasons[0] == "it did not start in time"


@pytest.mark.parametrize("at", [1, 2, 3])
def test_an_interrupt_while_workers_are_started_leaves_nothing(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    folders: list[str] = []
    start = LocalEngine._start

    def interrupted(engine: LocalEngine, worker: int) -> None:
        folders[:] = engine._folders.paths
        begun.append(worker)
        if len(begun) == at:
            raise KeyboardInterrupt
        start(engine, worker)

    before, open_before = children(os.getpid()), descriptors(os.getpid())
    monkeypatch.setattr(LocalEngine, "_start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        LocalEngine(3)
    assert folders
    assert not any(Path(folder).exists() for folder in folders)
    assert children(os.getpid()) <= before
    assert descriptors(os.getpid()) <= open_before


def test_a_close_that_is_interrupted_can_be_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control-C once more, while the first one ends the workers."""
    engine = LocalEngine(2)
    pids, folders = [engine.pid(worker) or 0 for worker in (0, 1)], engine._folders.paths
    with monkeypatch.context() as patch:
        patch.setattr(WorkerProcess, "reap", interrupt)
        with pytest.raises(KeyboardInterrupt):
            engine.close()
    engine.close()
    assert not any(map(alive, pids))
    assert not any(Path(folder).exists() for folder in folders)


def interrupt(process: WorkerProcess) -> str:
    raise KeyboardInterrupt


def test_an_engine_that_is_dropped_ends_its_workers() -> None:
    engine = LocalEngine(2)
    pids, folders = [engine.pid(worker) or 0 for worker in (0, 1)], engine._folders.paths
    del engine
    assert not any(map(alive, pids))
    assert not any(Path(folder).exists() for folder in folders)


def test_a_worker_that_cannot_start_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is imported there: five trials, with growing pauses, and no worker is left."""
    monkeypatch.setattr("deadheat.runtime.engines.worker_process.ENTRY", "import sys; sys.exit(9)")
    engine = LocalEngine(1)
    with engine:
        assert len(until(engine, 5, Lost)) == 5
        assert engine.exhausted
        assert engine.reasons == {0: "it ended with exit code 9"}


def test_without_a_pidfd_deaths_are_noticed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(pid: int, flags: int = 0) -> int:
        raise OSError("no such call")

    monkeypatch.setattr(os, "pidfd_open", missing)
    with started(LocalEngine, 1) as engine:
        assert acted(engine, fork_and_die).worker == 0
        until(engine, 1, Joined)


def test_estimators_work_in_a_search_over_two_processes(tmp_path: Path) -> None:
    search = script(
        tmp_path,
        """
        import json
        import numpy as np
        from sklearn.model_selection import GridSearchCV
        import deadheat as dh
        rng = np.random.default_rng(0)
        X = rng.normal(size=(200, 4)); y = (X[:, 0] > 0).astype(int)
        model = dh.sklearn.LogisticClassifier(workers=1, iterations=30, tolerance=1e-2)
        found = GridSearchCV(model, {"l2": [1e-4, 1.0]}, n_jobs=2, cv=2).fit(X, y)
        print(json.dumps([found.best_params_["l2"], found.best_score_]))
        """,
    )
    out, complaints = search.communicate(timeout=90)
    assert search.returncode == 0, complaints
    best, score = json.loads(out)
    assert score > 0.9
    assert best in (1e-4, 1.0)


def test_a_pool_in_a_forked_process_says_so() -> None:
    """The thread that serves it is not there: it would wait for ever."""
    with Pool(PAIR) as pool:
        reader, writer = os.pipe()
        if os.fork() == 0:
            try:
                pool.submit(dh.Job([1.0], lambda s, c: c, 0.0, lambda s, t, i: t, 1))
            except RuntimeError as error:
                os.write(writer, str(error).encode())
            pool._driver.engine.close()  # ends nothing: the workers are not its own
            os._exit(0)
        os.close(writer)
        assert b"forked" in os.read(reader, 1000)
        os.close(reader)
        os.wait()
        assert pool.submit(dh.Job([1.0, 2.0], lambda s, c: c, 0.0, lambda s, t, i: float(t), 1)).result(60).state == 3.0
