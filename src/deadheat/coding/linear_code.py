"""A code is a matrix and a wish: task i returns rows[i] @ (what the chunks give), the master wants target @ the same.

Gradient codes want one row of ones, matrix-vector codes the identity. Results `done` suffice where weights w exist
with w @ rows[done] = target; the same weights then make the wish of the results.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from deadheat.coding.code import Code
from deadheat.coding.cost import Cost
from deadheat.coding.recipe import Recipe, Weights
from deadheat.errors import BadInput
from deadheat.model import AnyArray, Array, BoolArray, IntArray

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
    rows: AnyArray
    target: AnyArray
    critical: int
    cost: Cost
    least: int = 0
    encoders: tuple[AnyArray, ...] = ()
    parts: int = 1
    exact: bool = True
    assemble: Callable[[AnyArray], AnyArray] | None = None
    _kept: dict[tuple[int, ...], Recipe | None] = field(default_factory=dict, repr=False)

    @property
    def total(self) -> int:
        """The number of tasks, n."""
        return len(self.rows)

    @property
    def chunks(self) -> int:
        """The number of chunks, or of blocks of the first operand."""
        return int(self._inputs.shape[1]) // (1 if self.encoders else self.parts)

    def support(self, task: int) -> tuple[IntArray, AnyArray]:
        """The chunks (or blocks of the first operand) that a task needs, and their weights, one row per chunk."""
        weights = self._inputs[task].reshape(-1, 1 if self.encoders else self.parts)
        chunks = np.flatnonzero(np.any(weights != 0, axis=1))
        return chunks, weights[chunks]

    def mix(self, task: int, values: Mapping[int, AnyArray] | Sequence[AnyArray]) -> AnyArray:
        """The task's result from the results of its chunks."""
        chunks, weights = self.support(task)
        if self.parts == 1:
            return np.asarray(
                sum(w * np.asarray(values[j]) for j, w in zip(chunks, weights[:, 0].tolist(), strict=True))
            )
        size = np.size(values[int(chunks[0])])
        if size % self.parts:
            remedy = f"pad it to {-(-size // self.parts) * self.parts}"
            raise BadInput("values", size, f"{self.family} cuts each into {self.parts} parts of one length", remedy)
        pieces = (
            w * piece
            for j, row in zip(chunks, weights.tolist(), strict=True)
            for w, piece in zip(row, np.split(np.ravel(values[j]), self.parts), strict=True)
        )
        return np.asarray(sum(pieces))

    @property
    def is_complex(self) -> bool:
        """Whether the weights are complex."""
        return np.iscomplexobj(self.rows)

    @property
    def _inputs(self) -> AnyArray:
        return self.encoders[0] if self.encoders else self.rows

    def decodable(self, done: Collection[int]) -> bool:
        """Whether these results determine the wish."""
        found = self._known(done)
        if len(found) >= self.critical:
            return True
        if not self.exact or not 0 < self.least <= len(found):
            return False
        covered = np.count_nonzero(self.rows[list(found)], axis=0) > 0  # what is wished must be there at all
        return bool(covered[self._wished].all()) and self.recipe(found) is not None

    @property
    def fewest(self) -> int:
        """K, or less where fewer may happen to suffice."""
        return min(self.least, self.critical) if self.least and self.exact else self.critical

    def finish(self, ends: Array) -> Array:
        """The K-th result, or the first that happens to suffice; by bisection, since more results never tell less."""
        if not self.least:
            return super().finish(ends)
        found = np.empty(len(ends))
        for row, order in enumerate(np.argsort(ends, axis=1).tolist()):
            low, high = self.least - 1, self.critical
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if self.decodable(order[:middle]) else (middle, high)
            found[row] = ends[row, order[high - 1]]
        return found

    @cached_property
    def _wished(self) -> BoolArray:
        """The symbols that are wished for."""
        return np.asarray(np.any(self.target != 0, axis=0))

    @cached_property
    def _plain(self) -> IntArray:
        """For each task the wish that its result is, as it is; -1 for none."""
        wishes = {row.tobytes(): place for place, row in enumerate(self.target.astype(self.rows.dtype))}
        return np.array([wishes.get(row.tobytes(), -1) for row in self.rows])

    @cached_property
    def _symbols(self) -> IntArray:
        """For each task the symbol that its result is; -1 for a mixture."""
        return units(self._reduced[0])

    @cached_property
    def _reduced(self) -> tuple[AnyArray, AnyArray]:
        """Rows and target; in an orthonormal basis of what they span, where the symbols are far more than that."""
        if self.rows.shape[1] <= 1.5 * self.total:
            return self.rows, self.target
        basis = np.linalg.qr(np.vstack([self.rows, self.target]).T)[0].conj()
        return self.rows @ basis, self.target @ basis

    def _recipe(self, done: tuple[int, ...]) -> Recipe | None:
        every, target = self._reduced
        tasks = list(done)
        rows = every[tasks]
        places = np.full(len(target), -1)
        plain = self._plain[tasks]
        places[plain[plain >= 0]] = np.flatnonzero(plain >= 0)
        missing = places < 0
        if not missing.any():
            return Weights(done, places, np.empty((0, len(done))), 1.0, 0.0)
        weights = self._solve(rows, target[missing], self._symbols[tasks])
        gap = weights @ rows - target[missing]
        size = np.linalg.norm(target[missing], axis=1)
        residual = float((np.linalg.norm(gap, axis=1) / size).max())
        # A result is about as large as its row; an error in it is mixed with the same weight.
        gain = max(float((np.linalg.norm(weights * np.linalg.norm(rows, axis=1), axis=1) / size).max()), 1.0)
        if self.exact:
            if residual > MISSED and len(done) < self.critical:
                return None
            gain = max(gain, residual / float(np.finfo(float).eps))  # what the weights miss is lost as well
        return Weights(done, places, weights, gain, residual)

    @staticmethod
    def _solve(rows: AnyArray, target: AnyArray, plain: IntArray) -> AnyArray:
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


def units(rows: AnyArray) -> IntArray:
    """For each row the symbol that it is, where it is a plain one; -1 where it is a mixture."""
    single = (np.count_nonzero(rows, axis=1) == 1) & (rows.max(axis=1) == 1) if not np.iscomplexobj(rows) else False
    return np.where(single, np.argmax(np.abs(rows), axis=1), -1)
