"""What an iteration costs besides the work: results, mixing, the state, encoding and decoding."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from judged_choices import (
    CLUSTER,
    FEW,
    GRADIENT,
    LINEAR,
    STREAM,
    WORK,
    the_choice,
)

import deadheat as dh
from deadheat.tuning import Choice


def best_of(workload: dh.Workload, search: dh.Search, condition: dh.Switching | None = None) -> Choice:
    return dh.tune(workload, CLUSTER, STREAM, search, condition=condition).best


def test_fine_tasks_stop_paying_where_each_result_costs() -> None:
    search = dh.Search(("uncoded",), (5, 10, 20, 50, 100, 200), policies=("optimal",))
    parts = [
        best_of(replace(GRADIENT, per_result=seconds), search).spec.critical
        for seconds in (0.0, 1e-4, 1e-3, 1e-2, 1e-1)
    ]
    assert parts[0] == 200
    assert parts == sorted(parts, reverse=True)
    assert len(set(parts)) >= 4
    assert parts[-1] == 5


def test_a_result_costs_its_worker_its_size_over_the_bandwidth() -> None:
    workload = replace(GRADIENT, result=3e5, bandwidth=1e8, per_result=1e-3)
    search = dh.Search(("uncoded", "communication-efficient"), (10,), (1.0, 1.2), policies=("optimal",))
    for choice in dh.tune(workload, CLUSTER, STREAM, search):
        parts = dict(choice.shape.settings).get("parts", 1)
        assert isinstance(parts, int)
        mixed = 3e5 * choice.shape.cost.mix / workload.speed  # a weighted sum of d vectors
        assert choice.spec.seconds_per_task == pytest.approx(1e-3 + 3e-3 / parts + mixed)
    blocks = dh.tune(replace(LINEAR, result=3e5, bandwidth=1e8), CLUSTER, STREAM, replace(search, families=("mds",)))
    assert blocks.best.spec.seconds_per_task == pytest.approx(3e-3 / 10)  # a block of the result, not a full vector


def test_shared_chunks_send_nothing() -> None:
    # With reuse a worker computes kappa + s chunks and sends kappa results: only these cost.
    workload = replace(GRADIENT, per_result=0.02)
    choice = the_choice(
        dh.tune(workload, CLUSTER, STREAM, dh.Search(("cyclic",), (10,), (1.2,), ("optimal",))),
        "cyclic",
        10,
        12,
        reuse=True,
    )
    rng, draws = np.random.default_rng(3), 20_000
    arrivals = []
    for worker, load in zip(CLUSTER, choice.split.loads, strict=True):
        pieces = rng.exponential(worker.mean * WORK / 12, (draws, 2 + load))
        pieces[:, 2:] += 0.02
        arrivals.append(worker.comm + np.cumsum(pieces, axis=1)[:, 2:])
    ended = np.sort(np.concatenate(arrivals, axis=1), axis=1)[:, 9]
    assert abs(choice.iteration_mean - ended.mean()) <= 4 * ended.std() / math.sqrt(draws)


def test_communication_efficient_codes_win_where_links_are_slow() -> None:
    search = dh.Search(
        ("uncoded", "cyclic", "communication-efficient"), (5, 10, 20), (1.0, 1.2, 1.5, 2.0), ("optimal",)
    )
    workload = replace(GRADIENT, result=1e6, bandwidth=1e6)
    assert best_of(workload, search).family == "communication-efficient"
    assert best_of(replace(workload, bandwidth=1e12), search).family != "communication-efficient"


def test_the_state_makes_every_worker_farther() -> None:
    search = dh.Search(("uncoded",), (10,), policies=("optimal",))
    near, far = (
        dh.tune(replace(GRADIENT, state=state, bandwidth=1e6), CLUSTER, STREAM, search, gamma=0.0).best
        for state in (0.0, 2e5)
    )
    assert near.split.loads.tolist() == far.split.loads.tolist()  # of the mean alone, all are equally farther
    assert far.iteration_mean == pytest.approx(near.iteration_mean + 0.2, rel=1e-6)


def test_the_master_counts() -> None:
    search = replace(FEW, families=("uncoded", "mds"), policies=("optimal",))
    free = dh.tune(LINEAR, CLUSTER, STREAM, search)
    workload = replace(LINEAR, result=2e5, data=4e9, speed=1e9, update=0.003)
    dear = dh.tune(workload, CLUSTER, STREAM, search)
    for choice in dear:
        before, spare = (
            the_choice(free, choice.family, choice.spec.critical, choice.spec.total),
            choice.spec.total - choice.spec.critical,
        )
        assert choice.overhead.update == 0.003
        assert choice.overhead.decode == pytest.approx(spare * 2e5 / 1e9)  # systematic: only lost blocks are solved for
        assert choice.overhead.encode == pytest.approx(spare * 4e9 / 1e9 / STREAM.iterations)  # once a job
        assert choice.iteration_mean == pytest.approx(before.iteration_mean + choice.overhead.total, rel=1e-9)
        assert choice.delay > before.delay
    assert (free.best.family, dear.best.family) == ("mds", "uncoded")


def test_a_gradient_is_decoded_from_k_results() -> None:
    workload = replace(GRADIENT, result=1e6, speed=1e9)
    ranking = dh.tune(workload, CLUSTER, STREAM, dh.Search(("cyclic",), (10,), (1.2,), ("optimal",)))
    assert [choice.overhead.decode for choice in ranking] == pytest.approx([10 * 1e6 / 1e9] * len(ranking))


def test_mixing_chunk_results_is_not_free() -> None:
    search = dh.Search(("cyclic",), (50,), (1.1,), ("optimal",))
    free, dear = (
        the_choice(dh.tune(replace(GRADIENT, result=size), CLUSTER, STREAM, search), "cyclic", 50, 55, reuse=True)
        for size in (0.0, 1e6)
    )
    assert dear.spec.seconds_per_task == pytest.approx(6e6 / GRADIENT.speed)
    assert dear.delay > free.delay
