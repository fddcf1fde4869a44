"""A recipe says how the target is combined from the results that are in: made once per pattern, applied in one pass."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from deadheat.coding.precision import wide
from deadheat.model import AnyArray, Array, IntArray

AT_ONCE = 2**17  # numbers of a block of results, or of the sum: 1 MiB of doubles stays in the cache (bench_decode)
CONVERTED = 2**19  # numbers of a block of results that are converted for a sum: longer rows convert faster
TINY = 2**12  # numbers of all results together up to which one product is the fastest
FEW = 4  # rows of a target up to which adding up result by result is faster than a product


class Recipe(Protocol):
    """What a code makes of a pattern of results.

    done: the tasks whose results it takes, in this order. growth: by how much their rounding errors grow, against the
    size of the terms of the plain work. residual: how far it misses the target, as a part of it: rounding for exact
    codes, the error of others. gain: the growth in double precision, where what the weights miss is lost as well.
    places: the rows of the target that are not copied from a result.
    """

    @property
    def done(self) -> tuple[int, ...]: ...
    @property
    def gain(self) -> float: ...
    @property
    def growth(self) -> float: ...
    @property
    def residual(self) -> float: ...
    @property
    def places(self) -> IntArray: ...
    def spread(self, errors: Array) -> Array:
        """The typical errors (places, elements) that errors of the results (done, elements) lead to."""

    def apply(self, results: Sequence[AnyArray]) -> AnyArray:
        """The target, shape (its rows, *result), from the results of `done`: added up in double precision at least."""


@dataclass(frozen=True, eq=False)
class Weights:
    """Row by row of the target: copied from a result that has it plain, or mixed from all with a row of weights."""

    done: tuple[int, ...]
    plain: IntArray  # for each row the place of its result in `done`, or -1
    mixed: AnyArray  # the weights of the other rows, in their order
    gain: float = 1.0
    residual: float = 0.0
    growth: float = 0.0  # 0: as the gain

    def __post_init__(self) -> None:
        object.__setattr__(self, "growth", self.growth or self.gain)

    @property
    def places(self) -> IntArray:
        return np.flatnonzero(self.plain < 0)

    def spread(self, errors: Array) -> Array:
        return np.sqrt(np.abs(self.mixed) ** 2 @ errors**2)

    def apply(self, results: Sequence[AnyArray]) -> AnyArray:
        """One pass: a block of every result at a time, so that each number is fetched from memory once."""
        flat = [np.reshape(r, -1) for r in results]
        kinds = [np.complex64] if len(self.mixed) and self.mixed.dtype.kind == "c" else []
        target = np.empty((len(self.plain), flat[0].size), np.result_type(*kinds, *{r.dtype for r in flat}))
        for row in np.flatnonzero(self.plain >= 0):
            target[row] = flat[int(self.plain[row])]
        if len(self.mixed):
            mix(self.mixed, flat, target, self.places)
        return target.reshape(len(self.plain), *np.shape(results[0]))


def mix(weights: AnyArray, results: Sequence[AnyArray], target: AnyArray, places: IntArray) -> None:
    """target[places] = weights @ results, block by block, in double precision at least; all results are flat."""
    size, kind = results[0].size, wide(target.dtype)
    if len(results) * size <= TINY and weights.all():
        target[places] = weights.astype(kind) @ np.array(results, kind)
        return
    used = np.flatnonzero(np.any(weights != 0, axis=0))
    kept, taken = weights[:, used].astype(kind), [results[int(i)] for i in used]
    is_fast = (
        target.dtype == kind and kind.char in "dD" and all(r.dtype == kind and r.flags.c_contiguous for r in taken)
    )
    if len(places) <= FEW and is_fast:
        for place, row in zip(places, kept, strict=True):
            _add_up(row, taken, target[place])
        return
    step = max((AT_ONCE if len(places) > FEW else CONVERTED) // max(len(taken), 1), 64)
    block = np.empty((len(taken), min(step, size)), kind)
    for first in range(0, size, step):
        part = block[:, : size - first]
        for row, result in zip(part, taken, strict=True):
            row[:] = result[first : first + step]
        target[places, first : first + step] = kept @ part


def _add_up(weights: AnyArray, rows: Sequence[AnyArray], total: AnyArray) -> None:
    """total = weights @ rows: the sum stays in the cache while every row passes once."""
    from scipy.linalg.blas import get_blas_funcs  # slow to import: when first needed

    axpy = get_blas_funcs("axpy", dtype=total.dtype)
    total[...] = 0
    for first in range(0, total.size, AT_ONCE):
        part = total[first : first + AT_ONCE]
        for w, row in zip(weights, rows, strict=True):
            axpy(row[first : first + AT_ONCE], part, a=w)
