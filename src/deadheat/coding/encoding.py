"""Coded data: what each task is given, mixed once from the blocks of an operand."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadheat.coding.code import Code
from deadheat.coding.precision import DType, floating, wide
from deadheat.errors import BadInput
from deadheat.model import AnyArray, IntArray


@dataclass(frozen=True, eq=False)
class ShortBlock:
    """The columns of a coded block that are not zero (Short-Dot); `block @ x` reads only these entries of x."""

    columns: IntArray
    block: Any  # a dense or scipy.sparse matrix of these columns

    def __matmul__(self, vector: AnyArray) -> AnyArray:
        return np.asarray(self.block @ vector[self.columns])

    @property
    def nbytes(self) -> int:
        block = self.block
        arrays = [block] if isinstance(block, np.ndarray) else [block.data, block.indices, block.indptr]
        return self.columns.nbytes + sum(int(array.nbytes) for array in arrays)


def encode(code: Code, blocks: Sequence[Any], operand: int = 0) -> list[Any]:
    """One coded block per task; a block that goes out as it is, is the same object (nothing is copied).

    Blocks are arrays of one shape or scipy.sparse matrices. Raises BadInput for codes without coded data (gradient
    codes mix results, not data) and for another number of blocks than the code cuts the operand into.
    """
    if not code.encoders:
        raise BadInput("code", code.family, "mixes results and not data", "use code.mix, and code.support for weights")
    operands = len(code.encoders)
    if not 0 <= operand < operands:
        raise BadInput("operand", operand, f"{code.family} has {operands} coded operands", f"take 0 to {operands - 1}")
    weights = code.encoders[operand]
    m = weights.shape[1]
    if len(blocks) != m:
        raise BadInput("blocks", len(blocks), f"{code.family} mixes {m} blocks", f"cut the operand into {m} blocks")
    shapes = {tuple(np.shape(block)) for block in blocks}
    if len(shapes) > 1:
        raise BadInput("blocks", sorted(shapes), "of different shapes", "cut the operand evenly, with zeros at the end")
    if weights.ndim == 3 and len(min(shapes)) != 2:
        raise BadInput("blocks", min(shapes), f"{code.family} mixes strips of columns", "give blocks that are matrices")
    return [_mixed(row, blocks) if row.ndim == 1 else _short(row, blocks) for row in weights]


def _mixed(row: AnyArray, blocks: Sequence[Any]) -> Any:
    """A mixture, added up in double precision at least and kept in the precision of the blocks."""
    used = np.flatnonzero(row).tolist()
    if len(used) == 1 and row[used[0]] == 1:
        return blocks[used[0]]
    kind, kept = _types(row, blocks)
    total = blocks[used[0]].astype(kind) * row[used[0]]
    for j in used[1:]:
        total = total + blocks[j].astype(kind) * row[j]
    return total.astype(kept, copy=False)


def _short(weights: AnyArray, blocks: Sequence[Any]) -> ShortBlock:
    """A mixture with one weight for each block and strip of columns; strips without weights are left out."""
    strips = np.array_split(np.arange(blocks[0].shape[1]), weights.shape[1])
    used = np.flatnonzero(weights.any(axis=0))
    columns = np.concatenate([strips[s] for s in used])
    by_column = np.repeat(weights[:, used], [strips[s].size for s in used], axis=1)
    kind, kept = _types(weights, blocks)
    total: Any = 0
    for row, block in zip(by_column, blocks, strict=True):
        part = block[:, columns].astype(kind)
        total = total + (part * row if isinstance(part, np.ndarray) else part.multiply(row).tocsr())
    return ShortBlock(columns, total.astype(kept, copy=False))


def _types(weights: AnyArray, blocks: Sequence[Any]) -> tuple[DType, DType]:
    """In which type blocks are added up, and in which the mixture is kept: complex where the weights are."""
    own = floating(block.dtype for block in blocks)
    kept = np.result_type(own, np.complex64) if weights.dtype.kind == "c" else own
    return wide(kept), kept
