"""A code is a matrix and a target: task i returns rows[i] @ (what the chunks give), the master wants target @ the same.

Gradient codes want one row of ones, matrix-vector codes the identity. Results `done` suffice where weights w exist
with w @ rows[done] = target; the same weights then combine the target from the results.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deadheat.coding.code import Code, only_row
from deadheat.coding.cost import Cost
from deadheat.coding.decoding_recipe import Recipe, Weights
from deadheat.coding.precision import DOUBLE
from deadheat.model import AnyArray, Array, IntArray

MISSED = 1e-7  # a residual above it: the target is not in the span of the rows
DEPENDENT = 1e-10  # singular values below this part of the largest are rounding: real ones are above 1e-8 (the gates)


@dataclass(frozen=True, eq=False)
class LinearCode(Code):
    """n tasks, of which any K determine the target.

    A symbol is a chunk's result, a part of one (chunk by chunk, part by part), or a coefficient of a polynomial.
    """

    family: str
    kind: str
    rows: AnyArray  # (tasks, symbols)
    target: AnyArray  # (what is wanted, symbols)
    critical: int
    cost: Cost
    least: int = 0
    encoders: tuple[AnyArray, ...] = ()
    parts: int = 1  # into which each chunk's result is cut
    exact: bool = True
    assemble: Callable[[AnyArray], AnyArray] | None = None

    @property
    def total(self) -> int:
        return len(self.rows)

    @property
    def is_complex(self) -> bool:
        return np.iscomplexobj(self.rows)

    @property
    def _inputs(self) -> AnyArray:
        return super()._inputs if self.encoders else self.rows.reshape(self.total, -1, self.parts)

    def decodable(self, done: Collection[int]) -> bool:
        tasks = self._known(done)
        if len(tasks) >= self.critical:
            return True
        if not self.exact or not 0 < self.least <= len(tasks):
            return False
        held, wanted = (np.count_nonzero(array, axis=0) > 0 for array in (self.rows[list(tasks)], self.target))
        return bool(held[wanted].all()) and self.recipe(tasks) is not None

    def finish(self, ends: Array) -> Array:
        """The K-th result, or the first that happens to suffice; by bisection, since more results never tell less."""
        if not self.least:
            return super().finish(ends)
        times = np.empty(len(ends))
        for row, order in enumerate(np.argsort(ends, axis=1).tolist()):
            low, high = self.least - 1, self.critical
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if self.decodable(order[:middle]) else (middle, high)
            times[row] = ends[row, order[high - 1]]
        return times

    @cached_property
    def _plain(self) -> IntArray:
        """For each task the row of the target that its result is, as it is; -1 for none."""
        places = {row.tobytes(): place for place, row in enumerate(self.target.astype(self.rows.dtype))}
        return np.array([places.get(row.tobytes(), -1) for row in self.rows])

    @cached_property
    def _symbols(self) -> IntArray:
        """For each task the symbol that its result is; -1 for a mixture."""
        rows = self._reduced[0]
        single = (np.count_nonzero(rows, axis=1) == 1) & (rows.max(axis=1) == 1) if not self.is_complex else False
        return np.where(single, np.argmax(np.abs(rows), axis=1), -1)

    @cached_property
    def _reduced(self) -> tuple[AnyArray, AnyArray]:
        """Rows and target; in an orthonormal basis of what they span, where the symbols are far more than that."""
        if self.rows.shape[1] <= 1.5 * self.total:
            return self.rows, self.target
        basis = np.linalg.qr(np.vstack([self.rows, self.target]).T)[0].conj()
        return self.rows @ basis, self.target @ basis

    def _recipe(self, done: tuple[int, ...]) -> Recipe | None:
        tasks, target = list(done), self._reduced[1]
        rows, plain = self._reduced[0][tasks], self._plain[tasks]
        places = np.full(len(target), -1)
        places[plain[plain >= 0]] = np.flatnonzero(plain >= 0)
        missing = places < 0
        if not missing.any():
            return Weights(done, places, np.empty((0, len(done))))
        weights = self._solve(rows, target[missing], self._symbols[tasks])
        gap = weights @ rows - target[missing]
        size = np.linalg.norm(target[missing], axis=1)
        residual = float((np.linalg.norm(gap, axis=1) / size).max())
        # A result is about as large as its row; an error in it is mixed with the same weight.
        growth = max(float((np.linalg.norm(weights * np.linalg.norm(rows, axis=1), axis=1) / size).max()), 1.0)
        if self.exact and residual > MISSED and len(done) < self.critical:
            return None
        gain = max(growth, residual / DOUBLE) if self.exact else growth
        return Weights(done, places, weights, gain, residual, growth)

    @cached_property
    def _parity_of_all(self) -> AnyArray:
        """What vanishes where all n results are right: the left null space of the rows, (n - rank, n)."""
        return _left_null_space(self._reduced[0])

    @cached_property
    def _parities(self) -> dict[tuple[int, ...], AnyArray]:
        return {}

    def parity(self, done: Collection[int]) -> AnyArray:
        """Those combinations of the parities of all n results in which the missing ones cancel; kept for next time."""
        tasks = sorted(self._known(done))
        key = tuple(tasks)
        if key not in self._parities:
            if len(self._parities) >= self.MOST_KEPT:
                self._parities.clear()
            missing = np.setdiff1d(np.arange(self.total), tasks)
            checks = self._parity_of_all
            self._parities[key] = (_left_null_space(checks[:, missing]) @ checks)[:, tasks]
        return self._parities[key]

    @staticmethod
    def _solve(rows: AnyArray, target: AnyArray, plain: IntArray) -> AnyArray:
        """Weights w of least norm with w @ rows = target; only symbols that no plain result has are solved for."""
        place_of = np.full(rows.shape[1], -1)  # of the result that is the symbol
        place_of[plain[plain >= 0]] = np.flatnonzero(plain >= 0)
        present, others = place_of >= 0, plain < 0
        mixed = rows[others]
        weights = np.zeros((len(target), len(rows)), np.result_type(rows, target))
        weights[:, others] = np.linalg.lstsq(mixed[:, ~present].T, target[:, ~present].T, rcond=None)[0].T
        weights[:, place_of[present]] = target[:, present] - weights[:, others] @ mixed[:, present]
        return weights


def _left_null_space(rows: AnyArray) -> AnyArray:
    """An orthonormal basis, row by row, of the vectors v with v @ rows = 0."""
    left, sizes, _ = np.linalg.svd(rows, full_matrices=True)
    rank = int(np.count_nonzero(sizes > DEPENDENT * sizes.max(initial=0.0)))
    return np.asarray(left[:, rank:].conj().T)


def gradient_code(
    family: str, rows: AnyArray, critical: int, cost: Cost, *, least: int = 0, exact: bool = True
) -> LinearCode:
    """A code whose target is the sum of the results of all chunks."""
    return LinearCode(family, "gradient", rows=rows, target=np.ones((1, rows.shape[1])), critical=critical, cost=cost,
                      least=least, exact=exact, assemble=only_row)  # fmt: skip
