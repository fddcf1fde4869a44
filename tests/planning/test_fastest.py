"""The fastest split: the least E[T_itr] under purging, never worse than Theorem 2."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import deadheat as dh
from deadheat import theory
from deadheat.paper import worked_example as paper


def _mean(cluster: dh.Cluster, split: dh.Split) -> float:
    return theory.iteration_law(cluster, split).mean


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _compositions(total - first, parts - 1):
            yield (first, *rest)


def test_without_redundancy_it_beats_theorem_2() -> None:
    cluster, spec, stream = paper.cluster(), paper.spec(1.0), paper.stream()
    assert dh.forecast(cluster, dh.split(cluster, spec), stream).delay == pytest.approx(69.52, abs=0.01)
    fastest = dh.fastest(cluster, spec)
    assert dh.forecast(cluster, fastest, stream).delay == pytest.approx(63.70, abs=0.01)
    assert fastest.loads.tolist() == [12, 18, 5, 1, 14]
    assert fastest.policy == "fastest"


def test_with_the_papers_redundancy_both_coincide() -> None:
    assert dh.fastest(paper.cluster(), paper.spec()).loads.tolist() == [13, 18, 7, 3, 14]


@pytest.mark.parametrize("family", ["gamma", "shifted-exponential", "lognormal", "weibull", "deterministic"])
def test_it_is_never_worse_than_theorem_2(family: str) -> None:
    rng = np.random.default_rng(12)
    gains = []
    for _ in range(5):
        size = int(rng.integers(2, 6))
        mean = 10 ** rng.uniform(-1, 1, size)
        std = 0.0 if family == "deterministic" else mean * rng.uniform(0.2, 1.0, size)
        cluster = dh.Cluster.from_columns(mean, std, rng.uniform(0.0, 2.0, size), law=family)
        spec = dh.CodeSpec.of(int(rng.integers(6, 13)), 12)
        theorem, fastest = dh.split(cluster, spec), dh.fastest(cluster, spec)
        assert fastest.loads.sum() == 12
        assert (fastest.loads >= 0).all()
        gains.append(_mean(cluster, theorem) / _mean(cluster, fastest))
    assert min(gains) >= 1 - 1e-9
    if family != "deterministic":  # without chance and with tasks to spare, rounding seldom matters
        assert max(gains) > 1.001  # and somewhere it is better


@pytest.mark.parametrize("seed", range(8))
def test_on_tiny_cases_nothing_is_faster(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mean = 10 ** rng.uniform(-0.5, 0.5, 3)
    cluster = dh.Cluster.from_columns(mean, mean * rng.uniform(0.1, 1.5, 3), rng.uniform(0.0, 2.0, 3))
    total = int(rng.integers(3, 9))
    spec = dh.CodeSpec.of(int(rng.integers(2, total + 1)), total)
    best = min(theory.IterationLaw(cluster.tasks(spec), loads, spec.critical).mean for loads in _compositions(total, 3))
    # 1e-6: exchanges that gain less than 1e-7 of the mean are not made.
    assert _mean(cluster, dh.fastest(cluster, spec)) == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("family", ["lognormal", "weibull", "shifted-exponential"])
def test_on_a_tiny_case_of_another_law_nothing_is_faster(family: str) -> None:
    cluster = dh.Cluster(dh.Worker(m, 0.6 * m, c, law=family) for m, c in ((1.0, 0.5), (1.6, 0.0), (0.7, 1.5)))
    spec = dh.CodeSpec.of(5, 7)
    best = min(theory.IterationLaw(cluster.tasks(spec), loads, 5).mean for loads in _compositions(7, 3))
    assert _mean(cluster, dh.fastest(cluster, spec)) == pytest.approx(best, rel=1e-5)  # as far as a convolution tells


def test_it_respects_capacity() -> None:
    free = dh.Cluster.from_columns([1.0, 1.5, 2.0], [1.0, 1.5, 2.0], 0.1)
    capped = dh.Cluster.from_columns([1.0, 1.5, 2.0], [1.0, 1.5, 2.0], 0.1, capacity=[3.0, 4.0, np.inf])
    spec = dh.CodeSpec.of(10, 12)
    assert dh.fastest(free, spec).loads[0] > 3
    found = dh.fastest(capped, spec)
    assert found.loads.tolist() == [3, 4, 5]
    allowed = [k for k in _compositions(12, 3) if k[0] <= 3 and k[1] <= 4]
    best = min(theory.IterationLaw(capped.tasks(spec), loads, 10).mean for loads in allowed)
    assert _mean(capped, found) == pytest.approx(best, rel=1e-6)


def test_too_little_capacity_is_refused() -> None:
    cluster = dh.Cluster.from_columns([1.0, 1.0], 1.0, capacity=2.0)
    with pytest.raises(dh.BadInput) as caught:
        dh.fastest(cluster, dh.CodeSpec(5))
    assert caught.value.field == "capacity"


def test_one_worker_and_one_task() -> None:
    assert dh.fastest(dh.Cluster([dh.Worker(1.0, 1.0)]), dh.CodeSpec(7)).loads.tolist() == [7]
    slow_and_near = dh.Cluster.from_columns([2.0, 1.0], 0.0, [0.0, 0.5])
    assert dh.fastest(slow_and_near, dh.CodeSpec(1)).loads.tolist() == [0, 1]


def test_at_a_tie_nobody_gives_back_what_it_does_not_have() -> None:
    """Two workers finish at the same moment, and a third one is so far that it has nothing."""
    cluster = dh.Cluster.from_columns([6e-3, 2e-3, 2e-3], [1e-3, 1e-3, 5e-4], [0.0, 1e-3, 5e-3])
    found = dh.fastest(cluster, dh.CodeSpec.of(5, 8, 2.0, shared_chunks=3))
    assert found.loads.min() == 0
    assert found.loads.sum() == 8
