"""What tasks do with blocks of matrices, and how the master sees whether a result is right without doing it again.

Freivalds' check: for y = A x and a random vector r, r y = (r A) x. The witness r A is computed once and kept; after
that a look at a result costs as much as a pass over it. A wrong number in y is missed only where r nearly hides it.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from deadheat.coding import ShortBlock
from deadheat.model import AnyArray, Array

SAFETY = 4.0  # times what rounding does to a product of that length: no false alarm in tests/soak/wrong_results.py
SQUARABLE = 1e140  # the sum of many squares of numbers of this size, or of one part in it, is in double's range
LEAST, MOST = 1e-300, 1e307  # what can be divided by: one part in it is in that range too


class BlockOperation(ABC):
    """An operation on a tuple of blocks that is linear in the first of them."""

    @abstractmethod
    def __call__(self, blocks: Any, state: Any) -> AnyArray:
        """The result of a task, at the worker."""

    def witness(self, blocks: Any, random: Array) -> tuple[Array, AnyArray]:
        """Weights of a result's rows, and what they make of the first block. Rows of any size count alike."""
        matrix = _matrix(blocks[0])
        norms = _row_norms(matrix)
        weights = random / np.where(norms > 0, norms, 1.0)
        return weights, np.asarray(matrix.T @ weights).ravel()

    @abstractmethod
    def factor(self, blocks: Any, state: Any) -> Any:
        """What the first block is multiplied with."""


class TimesVector(BlockOperation):
    """A block times the vector (or the few vectors) of the state."""

    def __call__(self, blocks: Any, state: Any) -> AnyArray:
        return np.asarray(blocks[0] @ state)

    def factor(self, blocks: Any, state: Any) -> Any:
        return state[blocks[0].columns] if isinstance(blocks[0], ShortBlock) else state


class TimesEachOther(BlockOperation):
    """The product of two blocks."""

    def __call__(self, blocks: Any, state: Any) -> AnyArray:
        product = blocks[0] @ blocks[1]
        return np.asarray(product.toarray() if hasattr(product, "toarray") else product)

    def factor(self, blocks: Any, state: Any) -> Any:
        return blocks[1]


class Transformed(BlockOperation):
    """The Fourier transform of a block: a symmetric matrix F times it, so that r (F x) = (F r) x."""

    def __call__(self, blocks: Any, state: Any) -> AnyArray:
        return np.asarray(np.fft.fft(blocks[0]))

    def witness(self, blocks: Any, random: Array) -> tuple[Array, AnyArray]:
        weights = random / np.sqrt(random.size)  # the norm of all rows of F
        return weights, np.asarray(np.fft.fft(weights))

    def factor(self, blocks: Any, state: Any) -> Any:
        return blocks[0]


class Witnesses:
    """What the master keeps of every task's blocks, made when it is first asked."""

    def __init__(self, operation: BlockOperation) -> None:
        self._operation = operation
        self._kept: dict[int, tuple[Array, AnyArray, float, float]] = {}  # weights, witness, its size, sum of weights

    def agree(self, task: int, blocks: Any, state: Any, result: AnyArray) -> bool:
        """Whether a result may be right, as far as its precision tells; each of several columns is judged by itself."""
        rows, factor = _matrix(blocks[0]).shape[0], self._operation.factor(blocks, state)
        if result.shape != (rows, *factor.shape[1:]):
            return False
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            if task not in self._kept:
                rng = np.random.default_rng(task)
                random = rng.uniform(0.5, 1.5, rows) * rng.choice([-1.0, 1.0], rows)  # none is small, and hides a row
                weights, witness = self._operation.witness(blocks, random)
                size = max(float(np.sqrt(rows)), float(np.linalg.norm(witness)))  # weighted rows have norms of about 1
                self._kept[task] = weights, witness, size, float(np.abs(weights).sum())
            weights, witness, size, total = self._kept[task]
            expected = np.asarray(factor.T @ witness)  # sparse factors have no product from the left with an array
            gap = np.abs(weights @ result - expected)
            relative, absolute = _rounding(result.dtype, witness.size)
            columns = _row_norms(factor[None] if factor.ndim == 1 else factor.T)
            limit = SAFETY * (relative * size * columns + absolute * total)
            return bool(np.all((gap <= limit) | ~np.isfinite(expected)))  # at the end of the range nobody can tell


def _rounding(dtype: np.dtype[Any], length: int) -> tuple[float, float]:
    """What rounding may do to a sum of so many products: as a part of its terms, and to terms that are nearly zero."""
    about = np.finfo(dtype if dtype.kind in "fc" else float)
    if about.bits == 16:  # added up in single precision
        return float(about.eps), length * float(about.smallest_subnormal)
    # The master itself works in double precision. Processors may take numbers below `tiny` for zero.
    precision = max(float(about.eps), float(np.finfo(float).eps))
    return precision * (8 + np.sqrt(length)), length * float(about.tiny)


def _row_norms(matrix: Any) -> Array:
    """The norms of the rows of an array or a sparse matrix, whatever their size."""
    norms = np.sqrt(_squares(matrix))
    odd = np.flatnonzero(~((norms > 1 / SQUARABLE) & (norms < SQUARABLE)))
    if odd.size:
        part = matrix[odd].astype(np.result_type(matrix.dtype, float))
        sums = np.clip(np.asarray(abs(part).sum(axis=1), float).ravel(), LEAST, MOST)
        norms[odd] = sums * np.sqrt(_squares(part / sums[:, None]))
    return np.where(norms > 0, np.clip(norms, LEAST, MOST), 0.0)


def _squares(matrix: Any) -> Array:
    """Of every row the sum of squares, in double precision and in one pass."""
    if not isinstance(matrix, np.ndarray):
        return np.asarray(abs(matrix).astype(float).power(2).sum(axis=1), float).ravel()
    parts = (matrix.real, matrix.imag) if matrix.dtype.kind == "c" else (matrix,)
    return np.asarray(sum(np.einsum("ij,ij->i", part, part, dtype=float, casting="same_kind") for part in parts))


def _matrix(block: Any) -> Any:
    """The matrix of a block; of a short one, those columns that are not zero."""
    return block.block if isinstance(block, ShortBlock) else block
