"""In which type results are put together, and how many digits that may cost."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from deadheat.errors import BadInput
from deadheat.model import AnyArray

DType = np.dtype[Any]
DOUBLE = float(np.finfo(float).eps)
# Relative errors that rounding may cause, by precision. A gain is a typical growth: 1e-9 keeps the worst to 1e-8.
TOLERANCES = {"f": {2: 1e-1, 4: 1e-4, 8: 1e-9}, "c": {8: 1e-4, 16: 1e-9}}
MOST_WHOLE = 2**53  # up to which double precision has all whole numbers


def data_type(dtypes: Iterable[DType]) -> DType:
    """The type of a sum over results of these types.

    Whole numbers and truth values of any size count as int64: the type must not depend on how a code groups the chunks.
    """
    return np.result_type(*{np.dtype(np.int64) if dtype.kind in "iub" else dtype for dtype in dtypes})


def wide(dtype: DType) -> DType:
    """The type in which numbers of that type are added up: double precision at least."""
    return np.result_type(dtype, np.float64)


def floating(dtypes: Iterable[DType]) -> DType:
    """The type of combinations of data with weights: that of the data, and double precision for whole numbers."""
    dtype = data_type(dtypes)
    return wide(dtype) if dtype.kind == "i" else dtype


def whole_numbers(values: AnyArray) -> AnyArray:
    """Whole numbers and truth values as int64, others as they are. Raises BadInput beyond 2^53."""
    if values.dtype.kind not in "iub":
        return values
    largest = max(int(values.max()), -int(values.min())) if values.dtype.itemsize == 8 and values.size else 0
    if largest > MOST_WHOLE:
        raise BadInput("results", largest, "a whole number beyond 2^53, which is not exact in a sum", "give floats")
    return values.astype(np.int64, copy=False)


def whole_sum(total: AnyArray, terms: Iterable[AnyArray]) -> AnyArray:
    """A sum of whole numbers in double precision. Raises BadInput where it, or a part of it, may be beyond 2^53."""
    largest = float(np.max(sum(np.abs(term).astype(float) for term in terms), initial=0.0))
    if largest >= MOST_WHOLE:
        raise BadInput("sum", largest, "of whole numbers, beyond 2^53 and not exact", "give floats")
    return np.array(total, float)


def added(total: AnyArray, value: AnyArray) -> AnyArray:
    """The sum of two arrays of one shape: whole numbers stay whole, others are added in double precision at least."""
    if total.dtype.kind in "iub" and value.dtype.kind in "iub":
        return whole_numbers(np.asarray(whole_numbers(total) + whole_numbers(value)))
    return np.asarray(np.add(total, value, dtype=wide(np.result_type(total, value))))


def rounding(dtypes: Iterable[DType]) -> float:
    """The relative error of numbers of these types, of which the coarsest counts; weights are known in double only."""
    return max([DOUBLE, *(float(np.finfo(dtype).eps) for dtype in set(dtypes) if dtype.kind in "fc")])


def tolerance(dtypes: Iterable[DType]) -> float:
    """Which part of the terms of a sum decoding may lose, where results have these types; the coarsest counts."""
    return max(TOLERANCES[dtype.kind].get(dtype.itemsize, 1e-9) for dtype in set(dtypes))


def most_gain(dtype: Any) -> float:
    """By how much rounding errors of results of that type may grow: to 1e-9 in double, to 1e-4 in single precision."""
    kind = np.dtype(dtype)
    return tolerance([kind]) / rounding([kind])
