"""What `run`, `Pool` and `measure` refuse: each option that cannot be meant is named, before any worker is started."""

from __future__ import annotations

from typing import Any

import pytest
from descent import descent, gradient, off, step
from each_engine import PAIR

import deadheat as dh
from deadheat.runtime import Job, LocalEngine, Options, Pool, run
from deadheat.runtime.run import EndedEarly
from deadheat.scheduling import Static
from deadheat.simulation import VirtualEngine

BAD: dict[str, tuple[dict[str, Any], str]] = {
    "cluster": ({"cluster": 2}, "cluster = 2: not a Cluster"),
    "code": ({"code": "cyclic"}, "code = 'cyclic': not a code"),
    "engine": ({"engine": "rey"}, "did you mean 'ray'"),
    "engine, no engine": ({"engine": 5}, "engine = 5: not an engine"),
    "workers": ({"workers": 0}, "workers = 0"),
    "workers, half": ({"workers": 1.5}, "workers = 1.5"),
    "workers, others than the cluster": ({"cluster": PAIR, "workers": 3}, "workers = 3: the cluster has 2"),
    "policy": ({"policy": "optimum"}, "did you mean 'optimal'"),
    "policy, no function": ({"policy": 5}, "policy = 5"),
    "schedule": ({"schedule": "statc"}, "did you mean 'static'"),
    "schedule, a class": ({"schedule": Static}, "not a schedule"),
    "gamma": ({"gamma": -1.0}, "gamma = -1"),
    "gamma, text": ({"gamma": "1"}, "gamma = '1'"),
    "work": ({"work": 0.0}, "work = 0"),
    "work, not finite": ({"work": float("inf")}, "work = inf"),
    "emulate": ({"emulate": True}, "nothing to emulate"),
    "seed": ({"seed": -1, "cluster": PAIR, "emulate": True}, "seed = -1"),
    "seed, text": ({"seed": "x"}, "seed = 'x'"),
    "quotas on Ray": ({"quotas": [0.5, 0.5], "engine": "ray"}, "only local workers"),
    "quotas": ({"quotas": [0.5], "workers": 2}, "for 2 workers"),
    "address": ({"address": "auto"}, "address = 'auto': of no use without Ray"),
    "memory": ({"memory": "1e9"}, "memory = '1e9'"),
    "memory, none": ({"memory": 0}, "memory = 0"),
    "memory, not a number": ({"memory": float("nan")}, "memory = nan"),
}


@pytest.fixture
def no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be meant is said before a worker is started."""

    def start(*_: object) -> None:
        raise AssertionError("a worker is started")

    monkeypatch.setattr(LocalEngine, "_start", start)


@pytest.mark.parametrize(("settings", "words"), list(BAD.values()), ids=list(BAD))
def test_every_option_is_checked(settings: dict[str, Any], words: str, no_workers: None) -> None:
    with pytest.raises(dh.BadInput, match=words) as caught:
        run(descent(6, 2), **settings)
    assert str(caught.value).count("\n") == 0


@pytest.mark.parametrize("name", ["cluster", "policy", "schedule", "work", "memory", "gamma"])
def test_a_pool_and_a_measurement_check_the_same(name: str, no_workers: None) -> None:
    settings, words = BAD[name]
    with pytest.raises(dh.BadInput, match=words):
        Pool(**settings)
    if name in ("cluster", "work", "memory"):
        with pytest.raises(dh.BadInput, match=words):
            dh.measure(descent(6, 2), seconds=1.0, **settings)


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), "long"])
def test_a_measurement_takes_some_time(seconds: Any, no_workers: None) -> None:
    with pytest.raises(dh.BadInput, match="seconds"):
        dh.measure(descent(6, 2), seconds=seconds)


ARRIVALS: dict[str, tuple[dict[str, Any], str]] = {
    "order": ({"arrivals": [0.3, 0.0]}, "in the order of their arrival"),
    "negative": ({"arrivals": [-1.0, 0.0]}, "arrivals = -1"),
    "nan": ({"arrivals": [float("nan"), 0.0]}, "arrivals"),
    "count": ({"arrivals": [0.0]}, "for 2 jobs"),
    "codes": ({"code": [None]}, "for 2 jobs"),
}


@pytest.mark.parametrize(("settings", "words"), list(ARRIVALS.values()), ids=list(ARRIVALS))
def test_arrivals_and_codes_fit_the_jobs(settings: dict[str, Any], words: str, no_workers: None) -> None:
    with pytest.raises(dh.BadInput, match=words):
        run([descent(6, 1), descent(6, 1)], PAIR, **settings)


CODES: dict[str, tuple[Any, str]] = {
    "linear": (dh.codes.mds(4, 5), "for linear work, and a job sums over chunks"),
    "chunks": (dh.codes.cyclic(20, 3), "needs 20"),
}


@pytest.mark.parametrize(("code", "words"), list(CODES.values()), ids=list(CODES))
def test_a_code_fits_the_job(code: Any, words: str, no_workers: None) -> None:
    with pytest.raises(dh.BadInput, match=words):
        run(descent(6, 2), PAIR, code)


def test_tasks_that_share_chunks_stay_where_they_are(no_workers: None) -> None:
    with pytest.raises(dh.BadInput, match="must stay where they were planned"):
        run(descent(6, 2), PAIR, dh.codes.cyclic(6, 2, reuse=True), schedule="pull")


def test_what_is_no_job(no_workers: None) -> None:
    for job in ("x", 5, Job, None):
        with pytest.raises(dh.BadInput, match="not a job"):
            run(job)  # type: ignore[arg-type]
    jobs: list[Job] = []
    for nothing in (jobs, iter(jobs)):
        with pytest.raises(dh.BadInput, match="nothing to run"):
            run(nothing)
    with pytest.raises(dh.BadInput, match="not a job"):
        run([descent(6, 1), "x"])  # type: ignore[list-item]


JOBS: dict[str, tuple[dict[str, Any], str]] = {
    "chunks": ({"chunks": 5}, "chunks = 5: not a list"),
    "no chunks": ({"chunks": []}, "no data"),
    "compute": ({"compute": 5}, "compute = 5: not a function"),
    "step": ({"step": None}, "step = None: not a function"),
    "iterations": ({"iterations": 0}, "iterations = 0"),
}


@pytest.mark.parametrize(("settings", "words"), list(JOBS.values()), ids=list(JOBS))
def test_what_a_job_needs(settings: dict[str, Any], words: str) -> None:
    good: dict[str, Any] = {"chunks": [1.0], "compute": gradient, "start": 0.0, "step": step, "iterations": 1}
    with pytest.raises(dh.BadInput, match=words):
        dh.Job(**(good | settings))


def test_an_engine_of_ones_own_cannot_be_emulated_or_of_another_size() -> None:
    engine = VirtualEngine(PAIR, dh.split(PAIR, dh.CodeSpec(6)))
    with pytest.raises(dh.BadInput, match="give them emulations"):
        run(descent(6, 1), PAIR, engine=engine, emulate=True)
    with pytest.raises(dh.BadInput, match="the engine has 2"):
        run(descent(6, 1), dh.Cluster.from_columns([1e-3] * 3, 0.0), engine=engine)
    with pytest.raises(dh.BadInput, match="the engine has 2"):
        run(descent(6, 1), workers=3, engine=engine)
    assert off(run(descent(6, 2), PAIR, engine=engine).state, 2) < 1e-9  # none of these has used it up


def test_options_say_how_workers_are_made_unequal() -> None:
    assert Options().emulation == ""
    assert Options(cluster=PAIR, emulate=True).emulation == "task times are stretched to the laws given"
    assert "and CPU quotas limit them" in Options(cluster=PAIR, emulate=True, quotas=[0.5, None]).emulation
    assert Options(workers=3).guessed
    assert len(Options(workers=3).declared) == 3
    assert not Options(cluster=PAIR).guessed


# Runs that are asked for what is not there


def test_the_state_of_a_job_that_failed_is_not_given() -> None:
    def wrong(w: Any, chunk: Any) -> Any:
        raise ValueError("two\nlines")

    engine = VirtualEngine(PAIR, dh.split(PAIR, dh.CodeSpec(6)))
    with pytest.raises(dh.JobFailed, match="two lines") as caught:
        _ = run(descent(6, 2, "bad", wrong), PAIR, engine=engine).state
    assert "\n" not in str(caught.value)
    assert caught.value.delivery.name == "bad"


def test_a_run_that_was_ended_early_says_so() -> None:
    under_way = run([descent(6, 2), descent(6, 2)], PAIR)
    for _ in under_way:
        break
    under_way.close()
    with pytest.raises(EndedEarly, match="after 1 jobs"):
        under_way.wait()


def test_measuring_says_what_went_wrong() -> None:
    def wrong(w: Any, chunk: Any) -> Any:
        raise ValueError("a torn chunk")

    with pytest.raises(dh.DeadheatError, match="a torn chunk"):
        dh.measure(descent(6, 2, compute=wrong), workers=1, seconds=0.5)


def test_measuring_what_cannot_be_sent_says_so() -> None:
    import threading

    lock = threading.Lock()

    def locked(w: Any, chunk: Any) -> Any:
        return lock and chunk

    with pytest.raises(dh.DeadheatError, match="cannot be sent"):
        dh.measure(descent(6, 2, compute=locked), workers=1, seconds=2.0)


def test_measured_workers_are_as_they_are() -> None:
    cluster = dh.Cluster([dh.Worker(1.0, 0.1, 0.5, name="quick"), dh.Worker(4.0, 0.4, 0.5, name="slow")])
    engine = VirtualEngine(cluster, dh.split(cluster, dh.CodeSpec(12)), seed=1)
    measured = dh.measure(descent(12, 1), cluster, engine=engine, seconds=500.0)
    assert list(measured.samples) == ["quick", "slow"]
    assert measured.silent == []
    for (name, sample), truth in zip(measured.samples.items(), cluster, strict=True):
        assert sample.mean.mean == pytest.approx(truth.mean, rel=0.1), name
        assert sample.latency.mean == pytest.approx(0.5)
        assert sample.std == pytest.approx(truth.std, rel=0.5)
