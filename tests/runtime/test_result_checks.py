"""Wrong results: found, replaced, and their worker named; right ones are never suspected."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from descent import COLUMNS, descent, off
from flipped_bits import FOUR, LIAR, flipped, flipping_run, noisy_descent

import deadheat as dh
from deadheat.coding import Code, Mixture
from deadheat.reporting.run_report import remarks
from deadheat.runtime import Job, JobFailed, in_series, run
from deadheat.runtime.result_checks import ResultChecks
from deadheat.simulation import VirtualEngine

ITERATIONS = 250
CODES = {
    "uncoded": None,
    "replication": dh.codes.replication(12, 2),
    "repetition": dh.codes.fractional_repetition(12, 2),
    "cyclic": dh.codes.cyclic(12, 2),
    "reed-solomon": dh.codes.reed_solomon(12, 2),
    "in parts": dh.codes.communication_efficient(12, 2, 2),
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
def test_a_worker_that_flips_bits_is_named_and_the_answer_is_the_serial_one(code: Code | None, seed: int) -> None:
    job = noisy_descent(ITERATIONS)
    done, flips = flipping_run(job, code, seed, checks=1 / 20)
    assert flips
    assert np.abs(done.state - in_series(job)).max() < 1e-10
    assert done.driver.master.banned == {LIAR}
    guilty = done.reports[LIAR]
    said = f"w1: {guilty.failed_checks} of {guilty.checks} checks failed; its results were replaced; it gets no more"
    assert any(sentence.startswith(said) for sentence in remarks(done.outcome))
    assert guilty.state == "wrong results"


def test_without_checks_the_same_flips_go_into_the_answer() -> None:
    """The negative control: the checks above have something to find."""
    wrong = [
        off(flipping_run(descent(12, 20), None, seed, every=2.0, checks=0)[0].state, 20) > 1e-6 for seed in range(4)
    ]
    assert any(wrong)


def test_a_job_that_used_unchecked_results_of_a_liar_begins_anew() -> None:
    done, _ = flipping_run(descent(12, ITERATIONS), None, seed=3, checks=1 / 20)
    assert done.driver.master.banned == {LIAR}
    assert off(done.state, ITERATIONS) < 1e-12
    assert any("was begun anew" in remark for remark in done.driver.remarks)
    assert len(done.record.iterations) > ITERATIONS
    assert done.deliveries[0].iterations == ITERATIONS


class Stubborn(VirtualEngine):
    """Workers that add their own number to every result, those in `liars`."""

    liars: tuple[int, ...] = (1,)

    def wait(self, timeout: float | None) -> list[Any]:
        from dataclasses import replace

        from deadheat.scheduling import Finished

        return [
            replace(e, value=e.value + e.worker) if isinstance(e, Finished) and e.worker in self.liars else e
            for e in super().wait(timeout)
        ]


def stubborn(workers: int, liars: tuple[int, ...], **settings: Any) -> Any:
    cluster = dh.Cluster(list(FOUR)[:workers])
    job = descent(12, 20)
    engine = Stubborn(cluster, dh.split(cluster, job.program(None, np.inf).spec), seed=0)
    engine.liars = liars
    return run(job, cluster, None, engine, checks=1 / 4, **settings)


def test_of_three_the_one_who_is_always_wrong_is_outvoted() -> None:
    done = stubborn(3, (1,))
    assert off(done.state, 20) < 1e-9
    assert done.driver.master.banned == {1}


def test_of_two_nobody_can_tell_and_that_is_said() -> None:
    with pytest.raises(JobFailed, match=r"workers \[0, 1\] give different results for task \d+, each again and again"):
        _ = stubborn(2, (1,)).state


def test_results_that_are_never_twice_the_same_are_not_checked_and_that_is_said() -> None:
    """Noise in the user's own function is no fault of a worker."""
    rng = np.random.default_rng(0)
    job = Job(list(range(12)), lambda w, c: rng.normal(size=3), np.zeros(3), lambda w, total, i: w + total, 30)
    engine = VirtualEngine(FOUR, dh.split(FOUR, job.program(None, np.inf).spec), seed=0)
    done = run(job, FOUR, None, engine, checks=1 / 4).wait()
    assert not done.driver.master.banned
    assert done.deliveries[0].error is None
    assert any("gives other results from time to time" in remark for remark in done.driver.remarks)


def test_what_is_not_finite_in_a_copy_is_not_used() -> None:
    """A worker gives infinities: where another has computed the task too, its result is taken."""
    job = descent(12, 20)
    engine = Stubborn(FOUR, dh.split(FOUR, job.program(None, np.inf).spec), seed=0)
    engine.liars = ()
    done = run(job, FOUR, None, engine, checks=1.0).wait()
    assert off(done.state, 20) < 1e-12
    assert sum(report.checks for report in done.reports) > 100


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize("code", [dh.codes.cyclic(50, 4), dh.codes.replication(25, 2)], ids=["cyclic", "replication"])
def test_right_results_are_never_suspected(code: Code, dtype: type) -> None:
    """Some 10^5 checks in all, on results of many sizes that shrink as near convergence, on workers that round
    otherwise.

    Doubts are allowed (they only cost a task): a conviction is not. Copies differ by rounding, as on other machines.
    """
    rng = np.random.default_rng(0)
    eps = float(np.finfo(dtype).eps)
    program = Job(list(range(code.chunks)), lambda w, c: w, np.zeros(1), lambda w, t, i: w, 1).program(code, np.inf)
    checks, looked = ResultChecks(program, 1.0), 0
    for iteration in range(350):
        size = 10.0 ** rng.uniform(-3, 3) * 0.97**iteration
        plain = [size * rng.normal(size=12).astype(dtype) for _ in range(code.chunks)]
        results = {}
        for task in range(code.total):
            mixed = code.mix(task, plain).astype(np.result_type(dtype, np.float64))
            rounding = 1 + 4 * eps * rng.normal(size=mixed.shape)
            results[task] = [(task % 7, Mixture((mixed * rounding).astype(mixed.dtype), np.dtype(dtype), mixed.shape))]
        verdict = checks.judge(results, None)
        assert not verdict.wrong
        assert not verdict.undecided
        looked += verdict.passed.total()
    assert looked > 10_000


def test_one_wrong_result_of_a_linear_code_is_located() -> None:
    code = dh.codes.cyclic(20, 4)
    rng = np.random.default_rng(1)
    plain = [rng.normal(size=6) for _ in range(20)]
    program = Job(list(range(20)), lambda w, c: w, np.zeros(1), lambda w, t, i: w, 1).program(code, np.inf)
    located = []
    for _ in range(50):
        wrong = int(rng.integers(20))
        results = {task: [(task, code.mix(task, plain))] for task in range(20)}
        results[wrong] = [(wrong, results[wrong][0][1] + np.eye(6)[2] * 1e-3)]
        located.append(ResultChecks(program, 1.0).judge(results, None).doubted == {wrong})
    assert all(located)


def test_default_checks_cost_less_than_two_per_cent_of_the_work() -> None:
    for code in (None, dh.codes.cyclic(12, 2), dh.codes.replication(12, 2)):
        job = descent(12, 400)
        engine = VirtualEngine(FOUR, dh.split(FOUR, job.program(code, np.inf).spec), seed=0)
        done = run(job, FOUR, code, engine).wait()
        twice, _ = done.outcome.checked
        assert twice < 0.02
        assert sum(report.checks for report in done.reports) > 10


def test_flipping_flips_one_bit() -> None:
    rng = np.random.default_rng(0)
    value = np.arange(COLUMNS, dtype=np.float32)
    other = flipped(value, rng)
    assert np.count_nonzero(value.view(np.uint32) ^ other.view(np.uint32)) == 1
    assert off(in_series(descent(12, 3)), 3) < 1e-12
