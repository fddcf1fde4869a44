"""Codes that cut results into parts: results of any shape, size and type come back whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from coded_tasks import in_process

import deadheat as dh
from deadheat.engines import VirtualEngine
from deadheat.model import AnyArray
from deadheat.runtime import Delivery, run

CLUSTER = dh.Cluster.from_columns([1.0, 2.0, 0.5], [0.5, 1.0, 0.5], 0.1)
in_parts = pytest.mark.parametrize("parts", [2, 4])


def job_of(chunks: Any) -> dh.Job:
    """Two iterations that add up all chunks; the state is the last sum."""

    def compute(state: Any, chunk: AnyArray) -> AnyArray:
        return np.asarray(chunk)

    return dh.Job(chunks, compute, None, lambda state, total, iteration: total, 2)


def delivered(job: dh.Job, code: Any) -> Delivery:
    engine = VirtualEngine(CLUSTER, dh.uniform(CLUSTER, dh.CodeSpec.of(code.critical, code.total)), seed=1)
    (delivery,) = run(job, CLUSTER, code, engine).wait().deliveries
    return delivery


@in_parts
@pytest.mark.parametrize("shape", [(7,), (7, 1), (1, 7), (2, 3), (1,), (), (3, 2, 5)], ids=str)
def test_results_of_any_shape(shape: tuple[int, ...], parts: int) -> None:
    chunks = np.random.default_rng(1).normal(size=(8, *shape))
    code = dh.codes.communication_efficient(8, 2, parts)
    for total in (in_process(job_of(list(chunks)), code), delivered(job_of(list(chunks)), code).state):
        assert np.shape(total) == shape
        np.testing.assert_allclose(total, chunks.sum(axis=0), rtol=1e-8, atol=1e-9)


@in_parts
@pytest.mark.parametrize("kind", [np.float32, np.int64, np.complex128], ids=["float32", "int64", "complex128"])
def test_results_of_any_type(kind: Any, parts: int) -> None:
    chunks = (10 * np.random.default_rng(1).normal(size=(8, 7, 1))).astype(kind)
    if kind is np.complex128:
        chunks = chunks * np.exp(1j * np.arange(8.0))[:, None, None]
    total = in_process(job_of(list(chunks)), dh.codes.communication_efficient(8, 2, parts))
    np.testing.assert_allclose(total, chunks.sum(axis=0), rtol=1e-4 if kind is np.float32 else 1e-8, atol=1e-4)


@pytest.mark.parametrize(("parts", "odd"), [(1, 8), (1, 1), (4, 8)])
def test_results_of_several_sizes_are_an_error_and_not_a_sum(parts: int, odd: int) -> None:
    """Seven and eight numbers are both two in each of 4 parts; one number would be added to each of seven."""
    chunks = [np.ones(odd if number == 3 else 7) for number in range(8)]
    code = dh.codes.communication_efficient(8, 2, parts) if parts > 1 else dh.codes.cyclic(8, 2)
    assert delivered(job_of(chunks), code).error is not None
