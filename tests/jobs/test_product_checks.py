"""Products verify their own results: a wrong number is seen without redundancy, rounding is not taken for one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import deadheat as dh
from deadheat.coding import Code
from deadheat.jobs.block_operations import BlockOperation, TimesEachOther, TimesVector, Transformed, Witnesses
from deadheat.runtime import in_series

sys.path.insert(0, str(Path(__file__).parents[1] / "runtime"))
from flipped_bits import LIAR, flipping_run

RNG = np.random.default_rng(0)
DENSE, WIDE = RNG.normal(size=(50, 300)), RNG.normal(size=(300, 20))
SPARSE, SPARSE_WIDE = (sp.random_array(shape, density=0.1, rng=RNG, format="csr") for shape in ((50, 300), (300, 20)))
SIGNAL = RNG.normal(size=64) + 1j * RNG.normal(size=64)
CASES: dict[str, tuple[BlockOperation, Any, Any]] = {
    "dense": (TimesVector(), (DENSE,), WIDE[:, 0]),
    "several vectors": (TimesVector(), (DENSE,), WIDE),
    "sparse": (TimesVector(), (SPARSE,), WIDE[:, 0]),
    "complex": (TimesVector(), (DENSE * (1 + 2j),), WIDE[:, 0] * 1j),
    "single precision": (TimesVector(), (DENSE.astype(np.float32),), WIDE[:, 0].astype(np.float32)),
    "two matrices": (TimesEachOther(), (DENSE, WIDE), None),
    "two sparse matrices": (TimesEachOther(), (SPARSE, SPARSE_WIDE), None),
    "transform": (Transformed(), (SIGNAL,), None),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_right_results_pass_and_wrong_ones_do_not(case: tuple[BlockOperation, Any, Any]) -> None:
    operate, blocks, state = case
    witnesses, right = Witnesses(operate), operate(blocks, state)
    assert witnesses.agree(0, blocks, state, right)
    for wrong in (2.0, -1.0, 0.0, 1e30, np.inf, np.nan):
        changed = right.copy()
        place = int(np.argmax(np.abs(right)))
        changed.flat[place] *= wrong
        assert not witnesses.agree(0, blocks, state, changed), wrong
    assert not witnesses.agree(0, blocks, state, right[:-1])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_no_false_alarm_in_many_products(dtype: type) -> None:
    """Matrices of all shapes and sizes, also with rows that nearly cancel."""
    rng = np.random.default_rng(1)
    for number in range(3000):
        rows, columns = rng.integers(1, 80, 2)
        matrix = (10.0 ** rng.uniform(-8, 8) * rng.normal(size=(rows, columns))).astype(dtype)
        vector = (10.0 ** rng.uniform(-8, 8) * rng.normal(size=columns)).astype(dtype)
        if number % 3 == 0:
            matrix[:, -1] = -(matrix[:, :-1] @ vector[:-1]) / vector[-1]
        assert Witnesses(TimesVector()).agree(0, (matrix,), vector, matrix @ vector)


SIZES: dict[str, tuple[type, float, float]] = {
    "tiny": (np.float64, 1e-170, 1.0),
    "tiny vector": (np.float64, 1.0, 1e-165),
    "large": (np.float64, 1e160, 1.0),
    "large and small": (np.float64, 1e200, 1e-200),
    "small singles": (np.float32, 1e-10, 1e-24),
    "large singles": (np.float32, 1e20, 1.0),
    "halves": (np.float16, 60.0, 1.0),
    "complex": (np.complex64, 1e-15, 1e-15),
    "long": (np.longdouble, 1.0, 1.0),
    "long, large and small": (np.longdouble, 1e-300, 1e200),
}


FORMS = {"dense": np.asarray, "sparse": sp.csr_array, "sparse matrix": sp.csc_matrix}
SPARSE_TYPES = (np.float64, np.float32, np.complex64)


@pytest.mark.parametrize(
    ("form", "size"), [(f, s) for f in FORMS for s in SIZES if f == "dense" or SIZES[s][0] in SPARSE_TYPES]
)
def test_numbers_of_any_size_are_checked(form: str, size: str) -> None:
    """Neither is a right result refused, nor are zeros taken for one, where squares leave the range."""
    dtype, mine, other = SIZES[size]
    for seed in range(20):
        rng = np.random.default_rng(seed)
        matrix = FORMS[form]((dtype(mine) * rng.normal(size=(20, 30))).astype(dtype))
        vector = (dtype(other) * rng.uniform(1, 2, 30)).astype(dtype)
        right = matrix @ vector
        assert Witnesses(TimesVector()).agree(seed, (matrix,), vector, right)
        assert not Witnesses(TimesVector()).agree(seed, (matrix,), vector, -right)
        assert not Witnesses(TimesVector()).agree(seed, (matrix,), vector, 0 * right)


@pytest.mark.parametrize("signal", [np.complex64(1e-25), 1e-170, np.longdouble(1), 1e160], ids=str)
def test_transforms_of_any_size_are_checked(signal: Any) -> None:
    block = signal * RNG.normal(size=64).astype(signal.dtype if hasattr(signal, "dtype") else float)
    right = Transformed()((block,), None)
    assert Witnesses(Transformed()).agree(0, (block,), None, right)
    assert not Witnesses(Transformed()).agree(0, (block,), None, 0 * right)


NEARLY_ZERO = [
    (np.float64, 1e-310, 1.0),
    (np.float64, 1e-160, 1e-160),
    (np.float32, 1e-30, 1e-12),
    (np.float16, 1e-3, 1e-4),
]


@pytest.mark.parametrize(("dtype", "size", "other"), NEARLY_ZERO)
def test_nobody_is_accused_where_products_are_nearly_zero(dtype: type, size: float, other: float) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        matrix: Any = (size * rng.normal(size=(20, 30))).astype(dtype)
        vector: Any = (other * rng.normal(size=30)).astype(dtype)
        result = matrix @ vector
        assert Witnesses(TimesVector()).agree(seed, (matrix,), vector, result)
        if dtype is not np.float16:
            result[np.abs(result) < np.finfo(dtype).tiny] = 0  # as some processors have it
            assert Witnesses(TimesVector()).agree(seed, (matrix,), vector, result)


def test_small_rows_and_columns_count_as_much_as_large_ones() -> None:
    sizes = np.array([1e15] + [1.0] * 19)
    for rows, columns in ((sizes, np.ones(20)), (np.ones(20), sizes)):
        left, right = np.diag(rows), np.full((20, 20), 2.0) * columns
        product = left @ right
        assert Witnesses(TimesEachOther()).agree(0, (left, right), None, product)
        product[-1, -1] = 0.0
        assert not Witnesses(TimesEachOther()).agree(0, (left, right), None, product)


def test_a_first_result_of_another_shape_is_no_trap() -> None:
    witnesses, right = Witnesses(TimesVector()), DENSE @ WIDE[:, 0]
    for odd in (right[:-1], right[:, None], right[0]):
        assert not witnesses.agree(0, (DENSE,), WIDE[:, 0], odd)
    assert witnesses.agree(0, (DENSE,), WIDE[:, 0], right)


def solver() -> Any:
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(120, 120))
    return dh.jobs.conjugate_gradients(factor @ factor.T / 120 + np.eye(120), rng.normal(size=120))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("code", [None, dh.codes.mds(10, 12), dh.codes.lt(10, 20)], ids=["uncoded", "mds", "lt"])
def test_a_solver_with_a_worker_that_flips_bits_is_right_without_beginning_anew(code: Code | None, seed: int) -> None:
    job = solver()
    done, flips = flipping_run(job, code, seed, every=10.0)
    assert flips
    assert np.abs(done.state.x - in_series(job).x).max() < 1e-8
    assert done.driver.master.banned <= {LIAR}
    assert not done.driver.remarks  # everything was verified before it was used


def test_products_and_transforms_are_verified_too() -> None:
    left, right = RNG.normal(size=(60, 40)), RNG.normal(size=(40, 50))
    done, flips = flipping_run(dh.jobs.ProductJob(left, right), dh.codes.polynomial(3, 3, 12), 0, every=1.0)
    assert flips
    assert np.abs(done.state - left @ right).max() < 1e-8
    assert done.driver.master.banned == {LIAR}
    signal = RNG.normal(size=64)
    done, flips = flipping_run(dh.jobs.TransformJob(signal), dh.codes.fft(8, 12), 0, every=1.0)
    assert np.abs(done.state - np.fft.fft(signal)).max() < 1e-9
