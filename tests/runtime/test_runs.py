"""Real runs on emulated workers, on local processes and on Ray: the right answer, in the time foretold."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from descent import COLUMNS, descent, gradient, serial, step

import deadheat as dh
from deadheat.paper import worked_example
from deadheat.runtime.driver import Converged, JobFailed
from deadheat.runtime.job import Job
from deadheat.runtime.messages import Assign, Deliver, Finished, Resolve
from deadheat.runtime.pools import Pool
from deadheat.runtime.runs import Run, run

SCALE = 7.587  # of the worked example's times: an iteration takes 0.1 s instead of 0.7587
CODE = dh.codes.cyclic(55, 5)
WORK = 2827440 / CODE.cost.work  # so that a task has the worked example's work


@pytest.fixture(params=["local", "ray"])
def engine(request: pytest.FixtureRequest) -> str:
    """Every test on both."""
    if request.param == "ray":
        request.getfixturevalue("ray_cluster")
    return str(request.param)


def workers() -> dh.Cluster:
    given = worked_example.cluster()
    return dh.Cluster([dh.Worker(w.mean / SCALE, w.std / SCALE, w.comm / SCALE, w.name) for w in given])


def emulated(engine: str, policy: str, iterations: int, **more: Any) -> Run:
    cluster = workers()
    return run(
        descent(55, iterations), cluster, CODE, engine, policy=policy, work=WORK, emulate=True, adapt=False, **more
    )


@pytest.mark.parametrize("policy", ["optimal", "uniform"])
def test_emulated_workers_bring_the_right_answer(engine: str, policy: str) -> None:
    """How long it takes is measured in benchmarks/bench_runs.py."""
    done = emulated(engine, policy, 5, seed=1).wait()
    assert np.abs(done.deliveries[0].state - serial(5)).max() < 1e-9
    assert len(done.record.iterations) == 5
    assert min(done.record.iterations) > min(workers().comm)


class KillAt:
    """Kills a worker at a moment of the run."""

    def __init__(self, moment: str, worker: int = 1) -> None:
        self.moment, self.worker, self.engine = moment, worker, None
        self.seen, self.killed = 0, False

    def __call__(self, news: object, at: float) -> None:
        if self.killed or self.engine is None:
            return
        match self.moment, news:
            case "before its first task", Assign(worker=self.worker):
                self.kill()
            case "between tasks", Finished(worker=self.worker):
                self.seen += 1
                if self.seen == 2:
                    self.kill()
            case "at the K-th result", Resolve():
                self.kill()

    def kill(self) -> None:
        self.killed = True
        self.engine.kill(self.worker)  # type: ignore[attr-defined]


@pytest.mark.parametrize("moment", ["before its first task", "between tasks", "at the K-th result"])
@pytest.mark.parametrize("code", [None, CODE], ids=["uncoded", "coded"])
def test_a_worker_that_is_killed_costs_no_job(engine: str, moment: str, code: dh.Code | None) -> None:
    cut = KillAt(moment)
    cluster = dh.Cluster.from_columns([1e-3] * 3, 1e-4)
    under_way = run(descent(55, 8), cluster, code, engine, adapt=False, listeners=[cut])
    cut.engine = under_way.driver.engine  # type: ignore[assignment]
    under_way.wait()
    assert cut.killed
    (done,) = under_way.deliveries
    assert done.error is None
    assert done.iterations == 8
    assert np.abs(done.state - serial(8)).max() < 1e-9


def test_a_worker_that_is_killed_while_idle(engine: str) -> None:
    killed: list[float] = []

    def after_the_first(news: object, at: float) -> None:
        if isinstance(news, Deliver) and not killed:
            killed.append(at)
            under_way.driver.engine.kill(0)  # type: ignore[attr-defined]

    jobs = [descent(12, 4, "first"), descent(12, 4, "second")]
    under_way = run(jobs, workers=2, engine=engine, arrivals=[0.0, 2.0], listeners=[after_the_first])
    first, second = under_way.wait().deliveries
    assert killed
    assert (first.name, second.name) == ("first", "second")
    for done in (first, second):
        assert done.error is None
        assert np.abs(done.state - serial(4)).max() < 1e-9


def broken(w: Any, chunk: Any) -> Any:
    raise ValueError("a bad chunk")


def not_a_number(w: Any, chunk: Any) -> Any:
    return np.full(COLUMNS, np.nan)


def test_a_job_that_fails_says_why_and_the_next_goes_on(engine: str) -> None:
    good = descent(6, 3, "good")
    bad = Job(good.chunks, broken, good.start, step, 3, "bad")
    first, second = run([bad, good], workers=2, engine=engine).wait().deliveries
    assert first.error is not None
    assert "ValueError: a bad chunk" in first.error
    assert second.error is None
    assert np.abs(second.state - serial(3)).max() < 1e-9


def test_results_that_are_not_finite_never_become_an_answer(engine: str) -> None:
    given = descent(6, 3)
    bad = Job(given.chunks, not_a_number, given.start, step, 3)
    (done,) = run(bad, workers=2, engine=engine).wait().deliveries
    assert done.error is not None
    assert np.array_equal(done.state, np.zeros(COLUMNS))  # no step was made with them


def stop_after_three(w: Any, total: Any, iteration: int) -> Any:
    new = step(w, total, iteration)
    return Converged(new) if iteration == 2 else new


def test_a_job_may_converge_early(engine: str) -> None:
    given = descent(6, 50)
    (done,) = run(Job(given.chunks, gradient, given.start, stop_after_three, 50), workers=2, engine=engine)
    assert done.iterations == 3
    assert np.abs(done.state - serial(3)).max() < 1e-12


def slow_but_polite(w: Any, chunk: Any, token: Any) -> Any:
    end = time.perf_counter() + 0.05
    while time.perf_counter() < end:
        token.check()
    return gradient(w, chunk)


def test_purging_reaches_into_a_task(engine: str) -> None:
    given = descent(12, 5)
    job = Job(given.chunks, slow_but_polite, given.start, step, 5)
    done = run(job, workers=3, code=dh.codes.cyclic(12, 4), engine=engine).wait()
    assert np.abs(done.state - serial(5)).max() < 1e-9
    assert sum(done.record.purged.values()) > 0


def test_a_pool_takes_jobs_like_concurrent_futures() -> None:
    with Pool(workers=2) as pool:
        futures = [pool.submit(descent(6, k)) for k in (1, 2, 3)]
        given = descent(6, 2)
        failing = pool.submit(Job(given.chunks, broken, given.start, step, 2, "bad"))
        for k, future in zip((1, 2, 3), futures, strict=True):
            assert np.abs(future.result(timeout=60).state - serial(k)).max() < 1e-9
        with pytest.raises(JobFailed, match=r"bad: .*a bad chunk"):
            failing.result(timeout=60)


def test_a_killed_master_goes_on_from_its_checkpoints(tmp_path: Path) -> None:
    script = textwrap.dedent(f"""
        import sys, time
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from descent import descent, gradient
        from deadheat.runtime.job import Job
        from deadheat.runtime.runs import run
        import descent as d

        def step(w, total, iteration):
            time.sleep(0.05)
            print(iteration, flush=True)
            return d.step(w, total, iteration)

        if __name__ == "__main__":
            made = [descent(6, 10, name) for name in ("a", "b")]
            jobs = [Job(j.chunks, gradient, j.start, step, 10, j.name) for j in made]
            run(jobs, workers=2, checkpoint=sys.argv[1]).wait()
    """)
    file = tmp_path / "master.py"
    file.write_text(script)
    folder = tmp_path / "saved"
    master = subprocess.Popen([sys.executable, str(file), str(folder)], stdout=subprocess.PIPE, text=True)
    assert master.stdout is not None
    for _ in range(14):  # into the second job
        master.stdout.readline()
    master.kill()
    master.wait()
    jobs = [descent(6, 10, name) for name in ("a", "b")]
    steps: list[int] = []

    def counted(w: Any, total: Any, iteration: int) -> Any:
        steps.append(iteration)
        return step(w, total, iteration)

    again = [Job(j.chunks, gradient, j.start, counted, 10, j.name) for j in jobs]
    first, second = run(again, workers=2, checkpoint=folder).wait().deliveries
    for done in (first, second):
        assert done.iterations == 10
        assert np.abs(done.state - serial(10)).max() < 1e-12
    assert 0 < len(steps) <= 8  # the first job and the begun half of the second were not done again
    master.stdout.close()


def test_the_trace_has_every_job_and_task() -> None:
    done = run([descent(6, 3), descent(6, 3)], workers=2).wait()
    trace = done.trace
    assert len(trace) == 2
    assert (trace.delay >= trace.service).all()
    assert trace.timeline is not None
    assert np.count_nonzero(trace.timeline.done) >= 36
    assert (trace.timeline.end >= trace.timeline.begin).all()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"engine": "rey"}, "did you mean 'ray'"),
        ({"schedule": "statc"}, "did you mean 'static'"),
        ({"code": dh.codes.mds(4, 5)}, "a Job is a sum over chunks"),
        ({"code": dh.codes.cyclic(20, 3)}, "needs 20"),
        ({"emulate": True}, "nothing to emulate"),
        ({"workers": 0}, "workers = 0"),
    ],
    ids=["engine", "schedule", "linear", "chunks", "emulate", "workers"],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(dh.BadInput, match=words):
        run(descent(6, 2), **given)
