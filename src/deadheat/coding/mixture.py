"""Mixtures of the results of several chunks, made by workers in double precision."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadheat.coding.precision import DType, data_type, whole_numbers, wide
from deadheat.model import AnyArray


@dataclass(frozen=True, eq=False, slots=True)
class Mixture:
    """A task's result that does not show by itself what it was made of. It is an array to numpy.

    Decoding a mixture adds up large terms that cancel, so that it travels in double precision, and in complex numbers
    where the weights are complex; dtype: what the answer has to be, the type of the results that were mixed.
    shape: of one of these, which is not that of `value` where a code cuts results into parts.
    """

    value: AnyArray
    dtype: DType
    shape: tuple[int, ...]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        return np.array(self.value, dtype) if copy else np.asarray(self.value, dtype)


def mixture(values: Sequence[AnyArray], weights: AnyArray) -> AnyArray | Mixture:
    """The weighted sum of results of one shape; weights: one row for each, with a weight for each part of it.

    A plain array where that tells all: real weights, and data in the precision of the sum.
    """
    dtype, shape, parts = data_type(value.dtype for value in values), values[0].shape, weights.shape[1]
    kind = np.result_type(wide(dtype), weights)
    total = np.zeros(shape if parts == 1 else -(-values[0].size // parts), kind)
    scratch = np.empty_like(total)
    for value, row in zip(values, weights, strict=True):
        exact = whole_numbers(value)
        for weight, part in zip(row, [exact] if parts == 1 else in_parts(exact, parts), strict=True):
            if weight != 0:
                total += np.multiply(part, weight, out=scratch, dtype=kind)
    is_clear = dtype == kind and weights.dtype.kind != "c" and parts == 1
    return total if is_clear else Mixture(total, dtype, shape)


def in_parts(value: AnyArray, parts: int) -> AnyArray:
    """An array cut in parts of one length, shape (parts, length): flat, with zeros at the end where it needs them."""
    flat = np.ravel(value)
    return np.pad(flat, (0, -flat.size % parts)).reshape(parts, -1) if flat.size % parts else flat.reshape(parts, -1)
