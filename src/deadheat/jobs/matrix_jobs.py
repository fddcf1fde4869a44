"""Jobs whose iteration is a product: a matrix times a vector, coded once and iterated; products and transforms once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadheat.coding import Code, codes
from deadheat.coding.assemble import Grid
from deadheat.errors import BadInput, whole
from deadheat.jobs.coded_work import CodedWork, Encoding, encoded
from deadheat.model import AnyArray
from deadheat.runtime.job import Prepared

BLOCKS = 20  # into which a matrix is cut where no code says how


def times_vector(piece: tuple[Any], vector: AnyArray) -> AnyArray:
    """A block times the vector."""
    return np.asarray(piece[0] @ vector)


def times_each_other(piece: tuple[Any, Any], state: object) -> AnyArray:
    """A block of the one times a block of the other matrix."""
    product = piece[0] @ piece[1]
    return np.asarray(product.toarray() if hasattr(product, "toarray") else product)


def transformed(piece: tuple[AnyArray], state: object) -> AnyArray:
    """The Fourier transform of a mixture of parts."""
    return np.asarray(np.fft.fft(piece[0]))


@dataclass(eq=False)
class MatrixJob:
    """An iteration is matrix @ vector; matrix: dense or scipy.sparse.

    step(state, product, iteration) -> the next state, or Converged. vector(state) -> what the matrix is multiplied
    with; by default the state itself. encoding: what coding the matrix cost, known once the job was prepared.
    """

    matrix: Any
    start: Any
    step: Callable[[Any, AnyArray, int], Any]
    iterations: int
    vector: Callable[[Any], AnyArray] | None = None
    name: str = ""
    encoding: Encoding | None = None

    def __post_init__(self) -> None:
        whole("iterations", self.iterations, "give how often to iterate")
        check_matrix("matrix", self.matrix)

    def prepare(self, code: Code | None, memory: float) -> Prepared:
        """Blocks of rows, mixed as a linear code says."""
        rows = self.matrix.shape[0]
        code = code or codes.uncoded(min(BLOCKS, rows), "linear")
        if code.kind != "linear":
            problem = f"for {code.kind} work, and this is a matrix times a vector"
            raise BadInput("code", code.family, problem, "take a linear code, such as codes.mds")
        if code.chunks > rows:
            raise BadInput("code", code.chunks, f"blocks of {rows} rows", f"take at most {rows} blocks")
        pieces, self.encoding = encoded(code, [row_blocks(self.matrix, code.chunks)])

        def step(state: Any, answer: AnyArray, iteration: int) -> Any:
            return self.step(state, answer.reshape(-1, *answer.shape[2:])[:rows], iteration)

        return Prepared(code, CodedWork(pieces, times_vector), float(rows), step, self.vector)


@dataclass(eq=False)
class ProductJob:
    """A @ B, once. code: polynomial, MatDot, entangled or another for products; cut as it says."""

    left: Any
    right: Any
    name: str = ""
    start: Any = None
    iterations: int = 1
    encoding: Encoding | None = None

    def __post_init__(self) -> None:
        check_matrix("left", self.left)
        check_matrix("right", self.right)
        if self.left.shape[1] != self.right.shape[0]:
            problem = f"the left one has {self.left.shape[1]} columns"
            raise BadInput("right", self.right.shape, problem, f"give {self.left.shape[1]} rows")

    def prepare(self, code: Code | None, memory: float) -> Prepared:
        """Blocks of both, mixed and multiplied."""
        code = code or codes.uncoded(9, "product")
        if code.kind != "product":
            problem = f"for {code.kind} work, and this is a product of two matrices"
            raise BadInput("code", code.family, problem, "take a code for products, such as codes.polynomial")
        grid = code.assemble
        rows, columns = (grid.rows, grid.columns) if isinstance(grid, Grid) else (1, 1)
        inner = code.encoders[0].shape[1] // rows
        height, width = self.left.shape[0], self.right.shape[1]
        operands = [blocks(self.left, rows, inner), blocks(self.right, inner, columns)]
        pieces, self.encoding = encoded(code, operands)

        def step(state: Any, answer: AnyArray, iteration: int) -> AnyArray:
            return answer[:height, :width]

        return Prepared(code, CodedWork(pieces, times_each_other), 1.0, step, nothing)


@dataclass(eq=False)
class TransformJob:
    """The Fourier transform of a signal, once."""

    signal: Any
    name: str = ""
    start: Any = None
    iterations: int = 1
    encoding: Encoding | None = None

    def prepare(self, code: Code | None, memory: float) -> Prepared:
        """Interleaved parts, mixed and transformed."""
        code = code or codes.fft(8, 10)
        if code.kind != "transform":
            raise BadInput("code", code.family, f"for {code.kind} work", "take codes.fft(parts, total)")
        signal = np.asarray(self.signal)
        if signal.dtype.kind not in "iufc" or not np.isfinite(signal).all():
            raise BadInput("signal", signal.shape, "has values that are not finite numbers", "mend them first")
        if signal.ndim != 1 or signal.size % code.chunks:
            problem = f"not a vector that {code.chunks} parts of one length make up"
            raise BadInput("signal", signal.shape, problem, "pad it with zeros, or take other parts")
        pieces, self.encoding = encoded(code, [[signal[j :: code.chunks] for j in range(code.chunks)]])

        def step(state: Any, answer: AnyArray, iteration: int) -> AnyArray:
            return answer

        return Prepared(code, CodedWork(pieces, transformed), 1.0, step, nothing)


def nothing(state: object) -> None:
    """What workers see of a state that they do not need."""


def row_blocks(matrix: Any, count: int) -> list[Any]:
    """Blocks of rows of one size, the last with zeros where they do not suffice; without a copy where they do."""
    return blocks(matrix, count, 1)


def blocks(matrix: Any, rows: int, columns: int) -> list[Any]:
    """A grid of blocks of one shape, row by row, with zeros at the end."""
    height, width = -(-matrix.shape[0] // rows), -(-matrix.shape[1] // columns)
    padded = matrix
    if (height * rows, width * columns) != matrix.shape:
        if isinstance(matrix, np.ndarray):
            extra = height * rows - matrix.shape[0], width * columns - matrix.shape[1]
            padded = np.pad(matrix, ((0, extra[0]), (0, extra[1])))
        else:
            padded = matrix.copy()
            padded.resize((height * rows, width * columns))
    return [
        padded[i * height : (i + 1) * height, j * width : (j + 1) * width] for i in range(rows) for j in range(columns)
    ]


def check_matrix(field: str, matrix: Any) -> None:
    """Refuse what is no table of finite numbers."""
    shape = getattr(matrix, "shape", None)
    if shape is None or len(shape) != 2:
        raise BadInput(field, shape, "not a matrix", "give a two-dimensional array or a scipy.sparse matrix")
    values = matrix if isinstance(matrix, np.ndarray) else matrix.data
    if np.asarray(values).dtype.kind not in "iufc":
        raise BadInput(field, str(np.asarray(values).dtype), "not numbers", "give numbers")
    if not np.isfinite(values).all():
        raise BadInput(field, shape, "has values that are not finite", "mend them first")
