"""What tasks do with blocks of matrices, and how the master sees whether a result is right without doing it again.

Freivalds' check: for y = A x and a random vector r, r y = (r A) x. The witness r A is computed once and kept; after
that a look at a result costs as much as a pass over it. A wrong number in y is missed only where r nearly hides it.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from deadheat.coding import ShortBlock
from deadheat.model import AnyArray

SAFETY = 4.0  # times what rounding does to a product of that length: no false alarm in bench_checks


class BlockOperation(ABC):
    """An operation on a tuple of blocks that is linear in the first of them."""

    @abstractmethod
    def __call__(self, blocks: Any, state: Any) -> AnyArray:
        """The result of a task, at the worker."""

    def witness(self, blocks: Any, random: AnyArray) -> AnyArray:
        """What is kept of the first block: the random vector times it."""
        return np.asarray(_matrix(blocks[0]).T @ random).ravel()

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

    def witness(self, blocks: Any, random: AnyArray) -> AnyArray:
        return np.asarray(np.fft.fft(random))

    def factor(self, blocks: Any, state: Any) -> Any:
        return blocks[0]


class Witnesses:
    """What the master keeps of every task's blocks, made when it is first asked."""

    def __init__(self, operation: BlockOperation) -> None:
        self._operation = operation
        self._kept: dict[int, tuple[AnyArray, AnyArray, float]] = {}  # the random vector, the witness, its size

    def agree(self, task: int, blocks: Any, state: Any, result: AnyArray) -> bool:
        """Whether a result of so many rows may be right."""
        rows = result.shape[0] if result.ndim else 0
        if task not in self._kept:
            rng = np.random.default_rng(task)
            random = rng.uniform(0.5, 1.5, rows) * rng.choice([-1.0, 1.0], rows)  # no entry is small, and hides a row
            witness = self._operation.witness(blocks, random)
            self._kept[task] = random, witness, max(size_of(_matrix(blocks[0])), size_of(witness))
        random, witness, size = self._kept[task]
        if random.size != rows:
            return False
        factor = self._operation.factor(blocks, state)
        expected = np.asarray(factor.T @ witness)  # sparse factors have no product from the left with a plain array
        with np.errstate(over="ignore", invalid="ignore"):
            gap = np.abs(random @ result - expected).max(initial=0.0)
        rounding = float(np.finfo(result.dtype).eps) * (8 + np.sqrt(witness.size)) if result.dtype.kind in "fc" else 0.0
        return bool(gap <= SAFETY * rounding * size * size_of(factor))


def _matrix(block: Any) -> Any:
    """The matrix of a block; of a short one, those columns that are not zero."""
    return block.block if isinstance(block, ShortBlock) else block


def size_of(matrix: Any) -> float:
    """The root of the sum of all squares, of an array or a sparse matrix."""
    return float(np.linalg.norm(matrix if isinstance(matrix, np.ndarray) else matrix.data))
