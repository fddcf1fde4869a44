"""A recipe: how the wish is mixed from the results that are in. It is made once per pattern and applied in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from deadheat.model import AnyArray, IntArray

AT_ONCE = 2**17  # numbers of a block of results: 1 MiB of doubles stays in the cache (bench_decode)
BLOCK = 2**17  # numbers of the sum at a time, where few are wished for (bench_decode)
TINY = 2**12  # numbers of all results together up to which one product is the fastest way
FEW = 4  # wishes up to which adding up row by row is faster than a product


class Recipe(Protocol):
    """What a code makes of a pattern of results."""

    @property
    def done(self) -> tuple[int, ...]:
        """The tasks whose results it takes, in this order."""

    @property
    def gain(self) -> float:
        """By how much rounding errors of the results grow."""

    @property
    def residual(self) -> float:
        """How far the recipe misses the wish, as a part of it: rounding for exact codes, the error of others."""

    def apply(self, results: Sequence[AnyArray]) -> AnyArray:
        """The wish, shape (wishes, *result), from the results of `done`."""


@dataclass(frozen=True, eq=False)
class Weights:
    """Wish by wish: copied from a result that has it plain, or mixed from all with a row of weights.

    plain: for each wish the place of its result in `done`, or -1. mixed: the weights of the others, in their order.
    """

    done: tuple[int, ...]
    plain: IntArray
    mixed: AnyArray
    gain: float
    residual: float

    def apply(self, results: Sequence[AnyArray]) -> AnyArray:
        """One pass: a block of every result at a time, so that each number is fetched from memory once."""
        shape = np.shape(results[0])
        flat = [np.reshape(r, -1) for r in results]
        kinds = [np.complex64] if len(self.mixed) and self.mixed.dtype.kind == "c" else []
        found = np.empty((len(self.plain), flat[0].size), np.result_type(*kinds, *{r.dtype for r in flat}))
        for wish in np.flatnonzero(self.plain >= 0):
            found[wish] = flat[int(self.plain[wish])]
        if len(self.mixed):
            mix(self.mixed, flat, found, np.flatnonzero(self.plain < 0))
        return found.reshape(len(self.plain), *shape)


def mix(weights: AnyArray, flat: Sequence[AnyArray], found: AnyArray, wishes: IntArray) -> None:
    """found[wishes] = weights @ flat, block by block."""
    if len(flat) * flat[0].size <= TINY and weights.all():
        found[wishes] = weights.astype(found.dtype) @ np.array(flat)
        return
    used = np.flatnonzero(np.any(weights != 0, axis=0))
    kept, taken = weights[:, used].astype(found.dtype), [flat[int(i)] for i in used]
    if len(wishes) <= FEW and all(row.dtype == found.dtype and row.flags.c_contiguous for row in taken):
        for wish, row in zip(wishes, kept, strict=True):
            _add_up(row, taken, found[wish])
        return
    size = flat[0].size
    step = max(AT_ONCE // max(len(taken), 1), 64)
    block = np.empty((len(taken), min(step, size)), found.dtype)
    for first in range(0, size, step):
        last = min(first + step, size)
        part = block[:, : last - first]
        for place, row in enumerate(taken):
            part[place] = row[first:last]
        found[wishes, first:last] = kept @ part


def _add_up(weights: AnyArray, rows: Sequence[AnyArray], total: AnyArray) -> None:
    """total = weights @ rows: the sum stays in the cache while every row passes once."""
    from scipy.linalg.blas import get_blas_funcs  # 50 ms to import: when first needed

    axpy = get_blas_funcs("axpy", dtype=total.dtype)
    total[...] = 0
    for first in range(0, total.size, BLOCK):
        part = total[first : first + BLOCK]
        for w, row in zip(weights, rows, strict=True):
            axpy(row[first : first + BLOCK], part, a=w)
