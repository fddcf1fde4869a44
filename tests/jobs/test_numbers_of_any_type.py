"""Jobs on numbers of any type: the same answer, of the same type, under every code that can do the work."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from coded_tasks import in_process
from scipy import sparse

import deadheat as dh
from deadheat.coding import Code, Mixture
from deadheat.engines import VirtualEngine
from deadheat.jobs import MatrixJob, ProductJob, in_series
from deadheat.model import AnyArray
from deadheat.runtime import run

RNG = np.random.default_rng(0)
CLUSTER = dh.Cluster.from_columns([1.0, 2.0, 0.5], [0.5, 1.0, 0.5], 0.1)
codes = dh.codes
SUMS: dict[str, Code | None] = {
    "series": None,
    "uncoded, 8": codes.uncoded(8),
    "uncoded, groups": codes.uncoded(3),
    "replication": codes.replication(4, 2),
    "repetition": codes.fractional_repetition(8, 1),
    "cyclic": codes.cyclic(8, 2),
    "cyclic, groups": codes.cyclic(3, 1),
    "cyclic MDS": codes.cyclic_mds(8, 2),
    "Reed-Solomon": codes.reed_solomon(8, 3),
    "in parts": codes.communication_efficient(8, 2, 3),
    "paper": codes.paper_example(),
}
LINEAR: dict[str, Code | None] = {
    "series": None,
    "replication": codes.replication(3, 2, "linear"),
    "repetition": codes.fractional_repetition(6, 1, "linear"),
    "mds": codes.mds(5, 8),
    "mds circle": codes.mds(4, 7, "circle"),
    "mds chebyshev": codes.mds(5, 8, "chebyshev"),
    "short-dot": codes.short_dot(5, 8, 2),
    "lt": codes.lt(5, 10),
    "ldpc": codes.ldpc(5, 10),
    "product": codes.product(2, 2, "linear"),
}
PRODUCTS: dict[str, Code | None] = {
    "series": None,
    "replication": codes.replication(4, 2, "product"),
    "polynomial": codes.polynomial(2, 3, 8),
    "product": codes.product(2),
    "matdot": codes.matdot(3, 7),
    "polydot": codes.polydot(2, 2, 13),
    "entangled": codes.entangled(2, 2, 2, 11),
    "entangled circle": codes.entangled(2, 2, 2, 11, "circle"),
}
each_sum = pytest.mark.parametrize("code", SUMS.values(), ids=SUMS)
each_linear = pytest.mark.parametrize("code", LINEAR.values(), ids=LINEAR)
each_product = pytest.mark.parametrize("code", PRODUCTS.values(), ids=PRODUCTS)


def sum_of(chunks: Any) -> dh.Job:
    return dh.Job(list(chunks), lambda state, chunk: chunk, None, lambda state, total, iteration: total, 1)


def complex_numbers(*shape: int) -> AnyArray:
    return RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)


@each_sum
@pytest.mark.parametrize(("kind", "number"), [(np.int8, 100), (np.int32, 2**30), (np.uint8, 255), (np.bool_, True)])
def test_small_whole_numbers_do_not_wrap(kind: Any, number: int, code: Code | None) -> None:
    total = in_process(sum_of([np.full(4, number, kind)] * 8), code)
    assert (total.dtype, total.tolist()) == (np.float64, [8.0 * number] * 4)


@each_sum
def test_complex_chunks_keep_their_imaginary_part(code: Code | None) -> None:
    chunks = complex_numbers(8, 5)
    total = in_process(sum_of(chunks), code)
    assert total.dtype == np.complex128
    np.testing.assert_allclose(total, chunks.sum(axis=0), rtol=0, atol=1e-10)


@each_sum
def test_complex_chunks_whose_sum_is_real_stay_complex(code: Code | None) -> None:
    chunks = [np.array([1.0 + 1j * (-1) ** k]) for k in range(8)]
    total = in_process(sum_of(chunks), code)
    assert total.dtype == np.complex128
    np.testing.assert_allclose(total, [8.0], rtol=0, atol=1e-10)


@each_sum
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.complex64, np.longdouble])
def test_a_sum_has_the_type_of_its_terms(kind: Any, code: Code | None) -> None:
    chunks = RNG.standard_normal((8, 5)).astype(kind)
    total = in_process(sum_of(chunks), code)
    assert total.dtype == kind
    np.testing.assert_allclose(
        total.astype(complex), chunks.astype(complex).sum(axis=0), atol=4 * np.finfo(kind).eps + 1e-9
    )


@each_sum
def test_a_type_does_not_depend_on_how_chunks_are_grouped(code: Code | None) -> None:
    chunks: list[Any] = [np.ones(3, np.float32), np.ones(3, np.int8), *[np.ones(3, np.float32)] * 6]
    total = in_process(sum_of(chunks), code)
    assert total.dtype == np.float64
    np.testing.assert_allclose(total, [8.0] * 3, rtol=1e-6)


def test_small_whole_numbers_on_workers() -> None:
    """Mixtures go through messages as well."""
    code = codes.cyclic(8, 2)
    engine = VirtualEngine(CLUSTER, dh.uniform(CLUSTER, dh.CodeSpec.of(code.critical, code.total)), seed=1)
    (done,) = run(sum_of([np.full(2, 100, np.int8)] * 8), CLUSTER, code, engine).wait().deliveries
    assert (done.error, done.state.tolist()) == (None, [800.0, 800.0])


def test_large_whole_numbers_are_refused_with_a_remedy() -> None:
    for code in (None, codes.uncoded(2), codes.cyclic(4, 1)):
        with pytest.raises(dh.BadInput, match=r"2\^53.*give floats"):
            in_process(sum_of([np.array([2**53 + 3])] * 4), code)
    with pytest.raises(dh.BadInput, match=r"2\^53"):
        in_process(sum_of([np.array([2**52])] * 4), codes.uncoded(2))


@pytest.mark.parametrize("code", [codes.uncoded(2), codes.cyclic(4, 1), codes.cyclic(2, 1)], ids=["2", "4", "groups"])
@pytest.mark.parametrize("odd", [(1,), (), (3, 1)])
def test_parts_of_other_shapes_are_refused_and_named(code: Code, odd: tuple[int, ...]) -> None:
    chunks = [np.ones(3), np.ones(odd), np.ones(3), np.ones(3)]
    with pytest.raises(dh.BadInput, match=r"chunk .* is of another shape than that of chunk") as refused:
        in_process(sum_of(chunks), code)
    assert str(odd) in str(refused.value)
    assert "(3,)" in str(refused.value)


def test_a_compute_may_use_one_array_again_and_again() -> None:
    buffer = np.empty(3)

    def compute(state: Any, chunk: AnyArray) -> AnyArray:
        buffer[:] = chunk
        return buffer

    for code in SUMS.values():
        job = dh.Job([np.full(3, 2.0**k) for k in range(8)], compute, None, lambda state, total, iteration: total, 1)
        np.testing.assert_allclose(in_process(job, code), [255.0] * 3)


# Matrices


def keep(state: Any, product: AnyArray, iteration: int) -> AnyArray:
    return product


@each_linear
def test_complex_matrices_and_vectors(code: Code | None) -> None:
    real, comp = RNG.standard_normal((23, 16)), complex_numbers(23, 16)
    for matrix, vector in ((comp, RNG.standard_normal(16)), (real, complex_numbers(16)), (comp, complex_numbers(16))):
        product = in_process(MatrixJob(matrix, vector, keep, 1), code)
        assert product.dtype == np.complex128
        np.testing.assert_allclose(product, matrix @ vector, rtol=0, atol=1e-8)
    product = in_process(MatrixJob(real, np.ones(16), keep, 1), code)
    assert product.dtype == np.float64
    np.testing.assert_allclose(product, real.sum(axis=1), rtol=0, atol=1e-8)


@each_product
def test_products_of_complex_matrices(code: Code | None) -> None:
    left, right = complex_numbers(9, 7), complex_numbers(7, 8)
    for a, b in ((left, right), (left, right.real.copy()), (left.imag.copy(), right)):
        product = in_process(ProductJob(a, b), code)
        assert product.dtype == np.complex128
        np.testing.assert_allclose(product, a @ b, rtol=0, atol=1e-8)
    product = in_process(ProductJob(left.real.copy(), right.real.copy()), code)
    assert product.dtype == np.float64
    np.testing.assert_allclose(product, left.real @ right.real, rtol=0, atol=1e-8)


@each_linear
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_matrices_of_small_whole_numbers_do_not_wrap(make: Any, code: Code | None) -> None:
    matrix, vector = np.full((20, 16), 100, np.int8), np.full(16, 100, np.int8)
    product = in_process(MatrixJob(make(matrix), vector, keep, 1), code)
    assert product.dtype == np.float64
    np.testing.assert_allclose(product, [160_000.0] * 20, rtol=1e-9)


@each_product
def test_products_of_small_whole_numbers_do_not_wrap(code: Code | None) -> None:
    product = in_process(ProductJob(np.full((8, 6), 100, np.int8), np.full((6, 9), 100, np.int8)), code)
    np.testing.assert_allclose(product, np.full((8, 9), 60_000.0), rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_type_of_a_product_is_that_of_its_matrix(dtype: Any) -> None:
    matrix, vector = RNG.standard_normal((23, 16)).astype(dtype), np.ones(16, dtype)
    for code in LINEAR.values():
        assert in_process(MatrixJob(matrix, vector, keep, 1), code).dtype == dtype


@cache
def single() -> tuple[AnyArray, AnyArray]:
    return RNG.standard_normal((600, 100)).astype(np.float32), RNG.standard_normal(100).astype(np.float32)


@pytest.mark.parametrize("code", [codes.short_dot(97, 98, 48), codes.lt(300, 420)], ids=["short-dot", "lt"])
def test_codes_that_single_precision_cannot_carry_work_in_double_and_say_what_it_costs(code: Code) -> None:
    """They never decoded; their blocks take twice the memory now."""
    matrix, vector = single()
    job = MatrixJob(matrix, vector, keep, 1)
    product = in_process(job, code)
    assert product.dtype == np.float32
    np.testing.assert_allclose(product, matrix.astype(float) @ vector, rtol=1e-5, atol=1e-5)
    assert job.encoding is not None
    plain = dh.jobs.matrix_jobs.encoded(code, [(matrix.astype(float), [matrix.astype(float)[:2]] * code.chunks)])
    assert job.encoding.coded > 1.9 * job.encoding.plain
    assert plain.data is None  # doubles are coded as they are


def test_codes_that_single_precision_carries_stay_in_single() -> None:
    matrix, vector = single()
    program = MatrixJob(matrix, vector, keep, 1).program(codes.mds(50, 60), float("inf"))
    assert {block.dtype for (block,) in program.chunks} == {np.dtype(np.float32)}
    program.begin(vector, 0)
    assert not isinstance(program.run(59, dh.scheduling.Token(lambda: False)), Mixture)


def test_a_serial_run_of_whole_numbers_is_the_plain_sum() -> None:
    assert in_series(sum_of([np.int8(100)] * 8)) == 800
