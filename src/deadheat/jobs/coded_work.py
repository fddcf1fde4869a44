"""Work on coded data: each task has its own piece, mixed beforehand, and one operation on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadheat.coding import Code, encode
from deadheat.model import AnyArray
from deadheat.runtime.work import Stocked, Token


class CodedWork(Stocked):
    """pieces: of each task. operate(piece, state) gives its result."""

    def __init__(self, pieces: Sequence[Any], operate: Callable[[Any, Any], AnyArray]) -> None:
        super().__init__(pieces)
        self._operate = operate
        self._state: Any = None

    def needs(self, task: int) -> Collection[int]:
        """Its own."""
        return (task,)

    def begin(self, state: Any) -> None:
        """Keep the state."""
        self._state = state

    def run(self, task: int, token: Token) -> AnyArray:
        """One operation."""
        return np.asarray(self._operate(self.piece(task), self._state))


@dataclass(frozen=True)
class Encoding:
    """What mixing the data cost: seconds, and bytes of all coded pieces against those of the plain data."""

    seconds: float
    plain: int
    coded: int

    def __str__(self) -> str:
        more = self.coded / max(self.plain, 1)
        return f"The matrix was coded in {self.seconds:.3g} s and takes {more:.2f} times its memory."

    def break_even(self, plain_iteration: float, coded_iteration: float) -> float:
        """After how many iterations the encoding has paid; infinite where a coded one is not shorter."""
        saved = plain_iteration - coded_iteration
        return self.seconds / saved if saved > 0 else float("inf")


def encoded(code: Code, operands: Sequence[Sequence[Any]]) -> tuple[list[tuple[Any, ...]], Encoding]:
    """For each task a mixture of the blocks of every operand, and what it cost."""
    began = time.perf_counter()
    mixed = [encode(code, blocks, number) for number, blocks in enumerate(operands)]
    seconds = time.perf_counter() - began
    plain = sum(_bytes(block) for blocks in operands for block in blocks)
    distinct = {id(block): block for blocks in mixed for block in blocks}
    return list(zip(*mixed, strict=True)), Encoding(seconds, plain, sum(map(_bytes, distinct.values())))


def _bytes(block: Any) -> int:
    """Of an array, or of a sparse matrix."""
    if isinstance(block, np.ndarray):
        return block.nbytes
    return int(sum(getattr(block, part).nbytes for part in ("data", "indices", "indptr") if hasattr(block, part)))
