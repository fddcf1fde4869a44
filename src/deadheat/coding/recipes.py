"""A recipe: how the wish is mixed from the results that are in. It is made once per pattern and applied in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[Any]
AT_ONCE = 2**17  # numbers of a block of results: 1 MiB of doubles stays in the cache (bench_decode)


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

    def apply(self, results: Sequence[Matrix]) -> Matrix:
        """The wish, shape (wishes, *result), from the results of `done`."""


@dataclass(frozen=True, eq=False)
class Weights:
    """Wish by wish: copied from a result that has it plain, or mixed from all with a row of weights.

    plain: for each wish the place of its result in `done`, or -1. mixed: the weights of the others, in their order.
    """

    done: tuple[int, ...]
    plain: NDArray[np.int64]
    mixed: Matrix
    gain: float
    residual: float

    def apply(self, results: Sequence[Matrix]) -> Matrix:
        """One pass: a block of every result at a time, so that each number is fetched from memory once."""
        shape = np.shape(results[0])
        flat = [np.reshape(r, -1) for r in results]
        kinds = [self.mixed.dtype] if len(self.mixed) and self.mixed.dtype.kind == "c" else []
        found = np.empty((len(self.plain), flat[0].size), np.result_type(*kinds, *{r.dtype for r in flat}))
        if found.dtype.kind in "iub":
            found = found.astype(float)
        for wish in np.flatnonzero(self.plain >= 0):
            found[wish] = flat[int(self.plain[wish])]
        if len(self.mixed):
            mix(self.mixed, flat, found, np.flatnonzero(self.plain < 0))
        return found.reshape(len(self.plain), *shape)


def mix(weights: Matrix, flat: Sequence[Matrix], found: Matrix, wishes: NDArray[np.int64]) -> None:
    """found[wishes] = weights @ flat, block by block."""
    used = np.flatnonzero(np.any(weights != 0, axis=0))
    kept, taken = weights[:, used].astype(found.dtype), [flat[int(i)] for i in used]
    if not taken:
        found[wishes] = 0
        return
    size = taken[0].size
    step = max(AT_ONCE // len(taken), 64)
    block = np.empty((len(taken), min(step, size)), found.dtype)
    whole = len(wishes) == len(found)
    for first in range(0, size, step):
        last = min(first + step, size)
        part = block[:, : last - first]
        for place, row in enumerate(taken):
            part[place] = row[first:last]
        if whole:
            np.matmul(kept, part, out=found[:, first:last])
        else:
            found[wishes, first:last] = kept @ part
