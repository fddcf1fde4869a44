"""A code is a matrix and a wish: task i returns rows[i] @ (what the chunks give), the master wants target @ the same.

Gradient codes want one row of ones, matrix-vector codes the identity. Results `done` suffice where weights w exist
with w @ rows[done] = target; the same weights then make the wish of the results.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.coding.code import Code
from deadheat.coding.costs import Cost
from deadheat.coding.recipes import Recipe, Weights

Array = NDArray[np.float64]
Matrix = NDArray[Any]
MISSED = 1e-7  # a residual above it: the wish is not in the span of the rows


@dataclass(frozen=True, eq=False)
class LinearCode(Code):
    """n tasks, of which any K determine the wish.

    rows: (tasks, symbols); a symbol is a chunk's result, a part of one, or a coefficient of a polynomial.
    target: (wishes, symbols).
    least: the fewest results that could suffice; below K each pattern is looked at.
    encoders: for codes that mix data before the work, one matrix (tasks, blocks) for each operand.
    parts: into how many parts each chunk's result is cut; symbols are then chunk by chunk, part by part.
    exact: False for codes that only come near the wish; their recipe's residual says how near.
    assemble: makes the answer of the wishes, such as one matrix of its blocks.
    """

    family: str
    kind: str
    rows: Matrix
    target: Matrix
    critical: int
    cost: Cost
    least: int = 0
    encoders: tuple[Matrix, ...] = ()
    parts: int = 1
    exact: bool = True
    assemble: Callable[[Matrix], Matrix] | None = None
    _kept: dict[tuple[int, ...], Recipe | None] = field(default_factory=dict, repr=False)

    @property
    def total(self) -> int:
        """The number of tasks, n."""
        return len(self.rows)

    @property
    def chunks(self) -> int:
        """The number of chunks, or of blocks of the first operand."""
        return int(self._inputs.shape[1]) // (1 if self.encoders else self.parts)

    def support(self, task: int) -> tuple[NDArray[np.int64], Matrix]:
        """The chunks (or blocks of the first operand) that a task needs, and their weights, one row per chunk."""
        weights = self._inputs[task].reshape(-1, 1 if self.encoders else self.parts)
        chunks = np.flatnonzero(np.any(weights != 0, axis=1))
        return chunks, weights[chunks]

    def mix(self, task: int, values: Mapping[int, Matrix] | Sequence[Matrix]) -> Matrix:
        """The task's result from the results of its chunks."""
        chunks, weights = self.support(task)
        if self.parts == 1:
            return np.asarray(sum(w * values[j] for j, w in zip(chunks, weights[:, 0], strict=True)))
        pieces = (
            w * piece
            for j, row in zip(chunks, weights, strict=True)
            for w, piece in zip(row, np.split(np.ravel(values[j]), self.parts), strict=True)
        )
        return np.asarray(sum(pieces))

    @property
    def is_complex(self) -> bool:
        """Whether the weights are complex."""
        return np.iscomplexobj(self.rows)

    @property
    def _inputs(self) -> Matrix:
        return self.encoders[0] if self.encoders else self.rows

    def decodable(self, done: Collection[int]) -> bool:
        """Whether these results determine the wish."""
        count = len(set(done))
        if count >= self.critical:
            return True
        return self.exact and 0 < self.least <= count and self.recipe(done) is not None

    def recipe(self, done: Collection[int]) -> Recipe | None:
        """The weights for a pattern, or None where it does not determine the wish; kept for the next time."""
        key = tuple(sorted(set(done)))
        if key not in self._kept:
            if len(self._kept) >= self.MOST_KEPT:
                self._kept.clear()
            self._kept[key] = self._weights(key) if key else None
        return self._kept[key]

    @cached_property
    def _reduced(self) -> tuple[Matrix, Matrix]:
        """Rows and target; in an orthonormal basis of what they span, where the symbols are far more than that."""
        if self.rows.shape[1] <= 1.5 * self.total:
            return self.rows, self.target
        basis = np.linalg.qr(np.vstack([self.rows, self.target]).T)[0].conj()
        return self.rows @ basis, self.target @ basis

    def _weights(self, done: tuple[int, ...]) -> Recipe | None:
        every, target = self._reduced
        rows = every[list(done)]
        places = np.full(len(self.target), -1)
        plain, wished = units(rows), units(target)
        for place, symbol in enumerate(plain):
            if symbol >= 0:
                places[wished == symbol] = place
        missing = places < 0
        if not missing.any():
            return Weights(done, places, np.empty((0, len(done))), 1.0, 0.0)
        weights = self._solve(rows, target[missing], plain)
        gap = weights @ rows - target[missing]
        size = np.linalg.norm(target[missing], axis=1)
        residual = float((np.linalg.norm(gap, axis=1) / size).max())
        # A result is about as large as its row; an error in it is mixed with the same weight.
        gain = max(float((np.linalg.norm(weights * np.linalg.norm(rows, axis=1), axis=1) / size).max()), 1.0)
        if self.exact and residual > MISSED:
            if len(done) < self.critical:
                return None
            gain = max(gain, residual / float(np.finfo(float).eps))  # they suffice, but hardly a digit is left
        return Weights(done, places, weights, gain, residual)

    @staticmethod
    def _solve(rows: Matrix, target: Matrix, plain: NDArray[np.int64]) -> Matrix:
        """Weights w of least norm with w @ rows = target.

        What the plain results have is taken out first, so that only the symbols that are missing are solved for.
        """
        have = plain >= 0
        known = np.zeros(rows.shape[1], bool)
        known[plain[have]] = True
        others = ~have
        open_ = rows[others][:, ~known]
        found = np.zeros((len(target), len(rows)), np.result_type(rows, target))
        found[:, others] = np.linalg.lstsq(open_.T, target[:, ~known].T, rcond=None)[0].T
        rest = target[:, known] - found[:, others] @ rows[others][:, known]
        place_of = np.zeros(rows.shape[1], np.int64)
        place_of[plain[have]] = np.flatnonzero(have)
        found[:, place_of[known]] = rest
        return found


def units(rows: Matrix) -> NDArray[np.int64]:
    """For each row the symbol that it is, where it is a plain one; -1 where it is a mixture."""
    single = (np.count_nonzero(rows, axis=1) == 1) & (rows.max(axis=1) == 1) if not np.iscomplexobj(rows) else False
    return np.where(single, np.argmax(np.abs(rows), axis=1), -1)
