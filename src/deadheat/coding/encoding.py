"""Coded data: what each task is given, mixed once from the blocks of an operand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deadheat.coding.code import Code
from deadheat.errors import BadInput


def encode(code: Code, blocks: Sequence[Any], operand: int = 0) -> list[Any]:
    """One coded block per task; a block that goes out as it is, is the same object (nothing is copied).

    Blocks are arrays of one shape or scipy.sparse matrices. Raises BadInput for codes without coded data (gradient
    codes mix results, not data) and for another number of blocks than the code cuts the operand into.
    """
    if not 0 <= operand < len(code.encoders):
        if not code.encoders:
            raise BadInput(
                "code", code.family, "mixes results and not data", "use code.mix, and code.support for weights"
            )
        remedy = f"take 0 to {len(code.encoders) - 1}"
        raise BadInput("operand", operand, f"{code.family} has {len(code.encoders)} coded operands", remedy)
    weights = code.encoders[operand]
    if len(blocks) != weights.shape[1]:
        remedy = f"cut the operand into {weights.shape[1]} blocks"
        raise BadInput("blocks", len(blocks), f"{code.family} mixes {weights.shape[1]} blocks", remedy)
    shapes = {tuple(np.shape(block)) for block in blocks}
    if len(shapes) > 1:
        raise BadInput("blocks", sorted(shapes), "of different shapes", "cut the operand evenly, with zeros at the end")
    return [_mixed(row, blocks) for row in weights]


def _mixed(row: Any, blocks: Sequence[Any]) -> Any:
    used = np.flatnonzero(row)
    if used.size == 1 and row[used[0]] == 1:
        return blocks[used[0]]
    total = row[used[0]].item() * blocks[used[0]]  # a number of Python's keeps the precision of the block
    for j in used[1:]:
        total = total + row[j].item() * blocks[j]
    return total
