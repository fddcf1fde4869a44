"""First K of n: enough samples, none waited for, late ones dropped or recycled; n from the measured tail."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.jobs import Rollouts, in_series, redundancy_for
from deadheat.jobs.rollouts import FirstOf, RolloutProgram
from deadheat.scheduling import Token

WANTED, LATE = Token(lambda: False), Token(lambda: True)


def noisy(place: float, seed: int) -> Any:
    return 2 * (place - 2.0) + 0.1 * np.random.default_rng(seed).normal()


def test_any_k_samples_make_a_step() -> None:
    """On Ray too: test_jobs_on_ray.py."""
    seen: list[int] = []

    def step(place: float, slopes: Any, iteration: int) -> float:
        seen.append(len(slopes))
        return float(place - 0.2 * slopes.mean())

    job = Rollouts(noisy, 10.0, step, iterations=30, critical=6, total=9)
    done = dh.run(job, workers=3).wait().deliveries[0]
    assert done.error is None
    assert done.state == pytest.approx(2.0, abs=0.2)
    assert len(seen) == 30
    assert min(seen) >= 6


def test_the_state_is_the_users_own() -> None:
    """Of any type: workers sample from it as it is, and the step gets it back."""

    def sample(state: dict[str, float], seed: int) -> Any:
        return np.array([state["place"], state["steps"]])

    def step(state: dict[str, float], samples: Any, iteration: int) -> Any:
        assert samples.tolist() == [[state["place"], state["steps"]]] * len(samples)
        assert state["steps"] == iteration
        new = {"place": state["place"] / 2, "steps": state["steps"] + 1}
        return dh.Converged(new) if new["place"] < 1 else new

    job = Rollouts(sample, {"place": 8.0, "steps": 0}, step, iterations=30, critical=2, total=3)
    assert dh.run(job, workers=2).state == in_series(job) == {"place": 0.5, "steps": 4}


def test_a_slow_sample_is_not_waited_for() -> None:
    """One seed in the first iteration would take ten seconds."""

    def sometimes_slow(place: float, seed: int) -> Any:
        if seed == slowest:
            time.sleep(10)
        return np.zeros(1)

    slowest = int(np.random.SeedSequence([0, 0, 0]).generate_state(1)[0])
    job = Rollouts(sometimes_slow, 0.0, lambda s, samples, i: s, iterations=2, critical=4, total=8)
    cluster = dh.Cluster.from_columns([1e-3] * 2, 1e-4)
    began = time.perf_counter()
    assert dh.run(job, cluster, adapt=False).wait().deliveries[0].error is None
    assert time.perf_counter() - began < 9


def program_of(sample: Any, **settings: Any) -> RolloutProgram:
    return RolloutProgram(Rollouts(sample, None, lambda s, x, i: s, iterations=3, critical=2, total=3, **settings))


def test_late_samples_are_recycled_where_asked_for() -> None:
    for recycle, expected in ((True, 1.0), (False, 2.0)):
        program = program_of(lambda state, seed: np.array([state]), recycle=recycle)
        program.begin(1.0, 0)
        program.run(0, LATE)
        program.begin(2.0, 1)
        assert program.run(0, WANTED)[0] == expected
        assert program.run(1, WANTED)[0] == 2.0


def test_the_code_takes_what_comes() -> None:
    code = FirstOf(2, 4)
    assert not code.decodable({1})
    assert code.decodable({1, 3})
    assert code.decode({3: np.array([3.0]), 1: np.array([1.0])}).tolist() == [[1.0], [3.0]]


def test_seeds_are_fresh_and_repeatable() -> None:
    drawn: list[list[int]] = []
    for _ in range(2):
        program = program_of(lambda state, seed: np.array([seed]), seed=7)
        seeds = []
        for iteration in range(3):
            program.begin(None, iteration)
            seeds += [int(program.run(task, WANTED)[0]) for task in range(3)]
        drawn.append(seeds)
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) == 9


def test_heavier_tails_want_more_samples() -> None:
    steady = dh.Cluster.from_columns([1.0] * 4, 0.05)
    wild = dh.Cluster([dh.Worker(1.0, 3.0, law="lognormal") for _ in range(4)])
    assert redundancy_for(steady, 12) == 1.0
    assert 1.0 < redundancy_for(wild, 12) <= 3.0


def test_it_takes_no_code() -> None:
    job = Rollouts(noisy, 0.0, lambda s, samples, i: s, iterations=1, critical=2, total=3)
    with pytest.raises(dh.BadInput, match="need none"):
        dh.run(job, workers=1, code=dh.codes.uncoded(3))


def test_a_job_of_samples_may_converge() -> None:
    assert program_of(noisy, converges=True).converges
    assert not program_of(noisy).converges
