"""Products, transforms and matrices that are coded: right results, what coding costs, and encodings that are shared."""

from __future__ import annotations

import gc
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from coded_tasks import in_process
from scipy import sparse

import deadheat as dh
from deadheat.jobs import MatrixJob, ProductJob, TransformJob, in_series
from deadheat.jobs.matrix_jobs import Encoding, blocks
from deadheat.model import AnyArray as Array
from deadheat.runtime import run
from deadheat.runtime.chunk_library import memory_key

THREE = dh.Cluster.from_columns([1e-6, 2e-6, 3e-6], 1e-6)


# Products and transforms


PRODUCTS = {
    "plain": None,
    "uncoded": dh.codes.uncoded(6, "product"),
    "replication": dh.codes.replication(4, 2, "product"),
    "polynomial": dh.codes.polynomial(3, 2, 9),
    "matdot": dh.codes.matdot(3, 7),
    "polydot": dh.codes.polydot(2, 2, 14),
    "entangled": dh.codes.entangled(2, 3, 2, 16),
    "entangled, circle": dh.codes.entangled(2, 2, 2, 12, "circle"),
    "product": dh.codes.product(3),
}


@pytest.mark.parametrize("name", [*PRODUCTS])
def test_a_product_of_shapes_that_do_not_fit(name: str) -> None:
    rng = np.random.default_rng(6)
    left, right = rng.normal(size=(10, 7)), rng.normal(size=(7, 5))
    result = in_process(ProductJob(left, right), PRODUCTS[name])
    assert result.shape == (10, 5)
    assert np.abs(result - left @ right).max() < 1e-9


@pytest.mark.parametrize("name", ["plain", "polynomial"])
@pytest.mark.parametrize("both", [False, True], ids=["left", "both"])
def test_a_product_of_sparse_matrices(name: str, both: bool) -> None:
    rng = np.random.default_rng(6)
    left, right = rng.normal(size=(10, 7)), rng.normal(size=(7, 5))
    result = in_process(ProductJob(sparse.csr_array(left), sparse.csr_array(right) if both else right), PRODUCTS[name])
    result = result.toarray() if sparse.issparse(result) else result
    assert np.abs(result - left @ right).max() < 1e-9


def test_products_on_workers() -> None:
    rng = np.random.default_rng(7)
    left, right = rng.normal(size=(100, 71)), rng.normal(size=(71, 50))
    names = ["polynomial", "matdot", "entangled", "product", "polydot"]
    done = run([ProductJob(left, right, name) for name in names], THREE, [PRODUCTS[name] for name in names]).wait()
    assert [delivery.name for delivery in done.deliveries] == names
    for delivery in done.deliveries:
        assert delivery.error is None
        assert delivery.state.shape == (100, 50)
        assert np.abs(delivery.state - left @ right).max() < 1e-7


def test_a_transform() -> None:
    rng = np.random.default_rng(8)
    real, both = rng.normal(size=960), rng.normal(size=960) + 1j * rng.normal(size=960)
    assert np.abs(in_process(TransformJob(real), dh.codes.fft(6, 10)) - np.fft.fft(real)).max() < 1e-8
    (done,) = run(TransformJob(both, "transform"), THREE).wait().deliveries
    assert np.abs(done.state - np.fft.fft(both)).max() < 1e-8
    assert done.iterations == 1


def test_what_products_and_transforms_refuse() -> None:
    with pytest.raises(dh.BadInput, match=r"right.*give 3 rows"):
        ProductJob(np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(dh.BadInput, match=r"left.*not finite"):
        ProductJob(np.full((2, 2), np.inf), np.ones((2, 2)))
    with pytest.raises(dh.BadInput, match=r"code.*products"):
        ProductJob(np.eye(3), np.eye(3)).program(dh.codes.mds(2, 3), math.inf)
    with pytest.raises(dh.BadInput, match=r"signal.*pad it"):
        TransformJob(np.ones(30)).program(dh.codes.fft(4, 6), math.inf)
    with pytest.raises(dh.BadInput, match=r"codes\.fft"):
        TransformJob(np.ones(30)).program(dh.codes.mds(5, 6), math.inf)


def test_a_signal_that_is_not_finite_is_refused() -> None:
    with pytest.raises(dh.BadInput, match="signal"):
        TransformJob(np.full(30, np.nan)).program(dh.codes.fft(5, 6), math.inf)


# What coding costs


def test_a_code_in_plain_blocks_and_parities_costs_its_parities() -> None:
    matrix = np.random.default_rng(9).normal(size=(60, 30))
    job = MatrixJob(matrix, np.ones(30), lambda state, product, iteration: product, 1)
    assert job.encoding is None
    assert np.abs(in_process(job, dh.codes.mds(5, 8)) - matrix @ np.ones(30)).max() < 1e-9
    cost: Any = job.encoding
    assert (cost.plain, cost.coded) == (matrix.nbytes, matrix.nbytes * 8 // 5)
    assert cost.seconds > 0
    in_process(job, dh.codes.replication(5, 2, "linear"))
    cost = job.encoding
    assert (cost.plain, cost.coded) == (matrix.nbytes, matrix.nbytes)


def test_when_an_encoding_has_paid() -> None:
    cost = Encoding(6.0, 100, 150)
    assert cost.break_even(0.5, 0.3) == pytest.approx(30.0)
    assert cost.break_even(0.3, 0.5) == math.inf
    assert cost.break_even(0.3, 0.3) == math.inf


def test_blocks_without_padding_are_views() -> None:
    matrix = np.arange(24.0).reshape(6, 4)
    assert all(np.shares_memory(block, matrix) for block in blocks(matrix, 3, 2))
    assert [block.shape for block in blocks(matrix, 4, 3)] == [(2, 2)] * 12


# Encodings that are shared


def keep_product(state: Any, product: Array, iteration: int) -> Array:
    return product


def times_ones(matrix: Any) -> MatrixJob:
    return MatrixJob(matrix, np.ones(matrix.shape[1]), keep_product, 1)


def test_jobs_under_way_share_the_encoding_of_their_matrix() -> None:
    """Also at the workers: chunks with the same memory are sent once."""
    matrix, code = np.random.default_rng(10).normal(size=(30, 8)), dh.codes.mds(5, 8)
    first, second = times_ones(matrix).program(code, math.inf), descending(matrix).program(code, math.inf)
    for place in range(8):
        assert memory_key(first.chunks[place]) == memory_key(second.chunks[place])
        assert np.shares_memory(first.chunks[place][0], second.chunks[place][0])
    others = times_ones(matrix.copy()).program(code, math.inf), times_ones(matrix).program(dh.codes.mds(5, 7), math.inf)
    for other in others:
        assert not np.shares_memory(first.chunks[6][0], other.chunks[6][0])  # a parity


def descending(matrix: Array) -> MatrixJob:
    """Another job on the same matrix."""
    return MatrixJob(matrix, np.zeros(matrix.shape[1]), lambda state, product, iteration: state - product[:8], 3)


def test_a_matrix_that_was_changed_after_its_jobs_is_encoded_afresh() -> None:
    matrix, code = np.random.default_rng(10).normal(size=(30, 8)), dh.codes.mds(5, 8)
    first, second = times_ones(matrix).program(code, math.inf), times_ones(matrix).program(code, math.inf)
    parity = first.chunks[7][0].copy()
    del first, second
    gc.collect()
    matrix *= 2
    assert np.array_equal(times_ones(matrix).program(code, math.inf).chunks[7][0], 2 * parity)


@pytest.mark.parametrize("name", ["matdot", "entangled", "product"])
def test_another_matrix_in_the_same_place_is_encoded_afresh(name: str) -> None:
    """Jobs under way whose matrices nobody else holds: the next one's may be given the same address."""
    rng, under_way = np.random.default_rng(11), []
    for _ in range(20):
        left, right = rng.normal(size=(12, 9)), rng.normal(size=(9, 6))
        expected = left @ right
        job = ProductJob(left, right)
        under_way.append(job.program(PRODUCTS[name], math.inf))
        assert np.abs(in_process(job, PRODUCTS[name]) - expected).max() < 1e-9
        del job, left, right


def test_a_stream_of_products_of_which_only_the_run_knows() -> None:
    def jobs() -> Iterator[ProductJob]:
        rng = np.random.default_rng(12)
        for number in range(30):
            yield ProductJob(rng.normal(size=(12, 9)), rng.normal(size=(9, 6)), str(number))

    expected = [job.left @ job.right for job in jobs()]
    wrong = [
        delivery.name
        for delivery in run(jobs(), THREE, PRODUCTS["matdot"])
        if delivery.error is not None or np.abs(delivery.state - expected[delivery.job]).max() > 1e-9
    ]
    assert wrong == []


@pytest.mark.parametrize("kind", ["product", "transform", "matrix"])
def test_a_series_is_the_plain_result(kind: str) -> None:
    rng = np.random.default_rng(13)
    left, right, signal = rng.normal(size=(10, 7)), rng.normal(size=(7, 5)), rng.normal(size=96)
    if kind == "product":
        assert np.abs(in_series(ProductJob(left, right)) - left @ right).max() < 1e-9
    elif kind == "transform":
        assert np.abs(in_series(TransformJob(signal)) - np.fft.fft(signal)).max() < 1e-9
    else:
        assert np.abs(in_series(times_ones(left)) - left.sum(axis=1)).max() < 1e-12
