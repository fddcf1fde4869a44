"""What the tuner ranks can be run: every shape of every family, by a job of its kind, gives the plain result."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from coded_tasks import in_process

import deadheat as dh
from deadheat.coding import FAMILIES
from deadheat.engines import VirtualEngine
from deadheat.jobs import MatrixJob, ProductJob, in_series
from deadheat.model import AnyArray
from deadheat.model.workload import WORKLOADS
from deadheat.runtime import Workable, run
from deadheat.tuning import Choice

CLUSTER = dh.Cluster.from_columns([1.0, 2.0, 0.5], [0.5, 1.0, 0.5], 0.1)
STREAM = dh.Stream.poisson(1e-4, 2)
SEARCH = dh.Search(critical=(6, 9), redundancy=(1.0, 1.34, 1.5, 2.0), policies=("optimal",))
PRESET = dh.Search(critical=(50,), redundancy=(1.1,), policies=("optimal",))  # the paper's one size
RANKED = [(kind, name) for kind in WORKLOADS for name, family in FAMILIES.items() if kind in family.kinds]
RNG = np.random.default_rng(0)
CHUNKS = RNG.normal(size=(120, 7))
MATRIX, LEFT, RIGHT = RNG.normal(size=(103, 40)), RNG.normal(size=(41, 31)), RNG.normal(size=(31, 29))


def squares(state: float, chunk: AnyArray) -> AnyArray:
    """A result of 7 x 7 numbers: no number of parts divides it."""
    return state * np.outer(chunk, chunk)


def add(state: float, total: AnyArray, iteration: int) -> Any:
    return state + float(total.sum())


def keep(state: Any, product: AnyArray, iteration: int) -> AnyArray:
    return product


def job_of(kind: str) -> Workable:
    if kind == "gradient":
        return dh.Job(list(CHUNKS), squares, 1.0, add, 2)
    return MatrixJob(MATRIX, np.ones(40), keep, 1) if kind == "linear" else ProductJob(LEFT, RIGHT)


def plain(kind: str) -> AnyArray:
    if kind == "gradient":
        total = float((CHUNKS.T @ CHUNKS).sum())
        first = 1.0 + total
        return np.array(first + first * total)
    return MATRIX.sum(axis=1) if kind == "linear" else LEFT @ RIGHT


@cache
def choices(kind: str, family: str) -> tuple[Choice, ...]:
    search = PRESET if family == "paper" else SEARCH
    named = dh.Search((family,), search.critical, search.redundancy, search.policies)
    return dh.tune(dh.Workload(kind, 100.0), CLUSTER, STREAM, named).choices


def test_every_kind_has_families() -> None:
    assert {kind for kind, _ in RANKED} == set(WORKLOADS)
    assert {"short-dot", "communication-efficient"} <= {family for _, family in RANKED}


@pytest.mark.parametrize("kind", WORKLOADS)
def test_a_series_is_the_plain_result(kind: str) -> None:
    np.testing.assert_allclose(in_series(job_of(kind)), plain(kind), rtol=1e-9)


@pytest.mark.parametrize(("kind", "family"), RANKED)
def test_every_ranked_shape_gives_the_plain_result(kind: str, family: str) -> None:
    """In this process, from the last results that suffice; an approximate code needs all of them for that."""
    assert choices(kind, family)
    for choice in choices(kind, family):
        code = choice.shape.build()
        assert (code.kind, code.total) == (kind, choice.spec.total)
        result = in_process(job_of(kind), code, all_results=not code.exact)
        np.testing.assert_allclose(result, plain(kind), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("kind", "family"), RANKED)
def test_the_best_choice_of_a_family_runs(kind: str, family: str) -> None:
    """On sampled time, with the choice's split and schedule: whatever results come first."""
    choice = choices(kind, family)[0]
    code = choice.shape.build()
    engine = VirtualEngine(CLUSTER, choice.split, seed=3, iterations=2)
    (done,) = run(job_of(kind), CLUSTER, code, engine, policy=choice.policy, schedule=choice.schedule).wait().deliveries
    assert done.error is None
    if code.exact:
        np.testing.assert_allclose(done.state, plain(kind), rtol=1e-6, atol=1e-6)
    else:  # half of the chunks may be missed in each of two steps
        assert 0.25 < done.state / float(plain(kind)) < 1.75
