"""Jobs whose iteration is a product: a matrix times a vector, coded once and iterated; products and transforms once."""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from deadheat.coding import Code, Grid, codes, encode
from deadheat.errors import BadInput, whole
from deadheat.model import AnyArray
from deadheat.scheduling import NumericProgram, Program, Token

BLOCKS = 20  # into which a matrix is cut where no code says how


@dataclass(frozen=True)
class Encoding:
    """What encoding the data cost: seconds, and bytes of all coded blocks against those of the plain data."""

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


class CodedProgram(NumericProgram):
    """Each task has one chunk, a tuple of coded blocks; operate(blocks, state) gives its result."""

    def __init__(self, code: Code, operate: Callable[[Any, Any], AnyArray], **settings: Any) -> None:
        super().__init__(code, **settings)
        self._operate = operate
        self._state: Any = None

    def needs(self, task: int) -> Collection[int]:
        return (task,)

    def begin(self, state: Any, iteration: int) -> None:
        self._state = state

    def run(self, task: int, token: Token) -> AnyArray:
        return np.asarray(self._operate(self.chunk(task), self._state))


class EncodedBlocks(list[tuple[Any, ...]]):
    """For each task a mixture of the blocks of every operand; encoding: what it cost.

    operands: kept alive, so that no other matrix can lie in their place while the blocks are shared.
    """

    encoding: Encoding
    operands: list[Any]


_shared: WeakValueDictionary[object, EncodedBlocks] = WeakValueDictionary()  # of jobs that are under way


def encoded(code: Code, operands: Sequence[tuple[Any, Sequence[Any]]]) -> EncodedBlocks:
    """The coded blocks of some operands, each a matrix with its blocks.

    Jobs that are under way at the same time share them, where they have the same matrix and the same code.
    """
    key = (*(id(matrix) for matrix, _ in operands), *((e.shape, e.tobytes()) for e in code.encoders))
    coded = _shared.get(key)
    if coded is None:
        began = time.perf_counter()
        mixed = [encode(code, blocks, number) for number, (_, blocks) in enumerate(operands)]
        seconds = time.perf_counter() - began
        plain = sum(_bytes(block) for _, blocks in operands for block in blocks)
        distinct = {id(block): block for blocks in mixed for block in blocks}
        coded = EncodedBlocks(zip(*mixed, strict=True))
        coded.encoding = Encoding(seconds, plain, sum(map(_bytes, distinct.values())))
        coded.operands = [matrix for matrix, _ in operands]
        _shared[key] = coded
    return coded


def _bytes(block: Any) -> int:
    """Of an array, or of a sparse matrix."""
    if hasattr(block, "nbytes"):
        return int(block.nbytes)
    return int(sum(getattr(block, part).nbytes for part in ("data", "indices", "indptr") if hasattr(block, part)))


def times_vector(blocks: tuple[Any], vector: AnyArray) -> AnyArray:
    """A block times the vector."""
    return np.asarray(blocks[0] @ vector)


def times_each_other(blocks: tuple[Any, Any], state: object) -> AnyArray:
    """A block of the one times a block of the other matrix."""
    product = blocks[0] @ blocks[1]
    return np.asarray(product.toarray() if hasattr(product, "toarray") else product)


def transformed(blocks: tuple[AnyArray], state: object) -> AnyArray:
    """The Fourier transform of a mixture of parts."""
    return np.asarray(np.fft.fft(blocks[0]))


@dataclass(eq=False)
class MatrixJob:
    """An iteration is matrix @ vector; matrix: dense or scipy.sparse.

    step(state, product, iteration) -> the next state, or Converged. vector(state) -> what the matrix is multiplied
    with; by default the state itself. encoding: what coding the matrix cost, known once the job has its program.
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

    def program(self, code: Code | None, memory: float) -> Program:
        """Blocks of rows, mixed as a linear code says."""
        rows = self.matrix.shape[0]
        code = code or codes.uncoded(min(BLOCKS, rows), "linear")
        if code.kind != "linear":
            problem = f"for {code.kind} work, and this is a matrix times a vector"
            raise BadInput("code", code.family, problem, "take a linear code, such as codes.mds")
        if code.chunks > rows:
            raise BadInput("code", code.chunks, f"blocks of {rows} rows", f"take at most {rows} blocks")
        chunks = encoded(code, [(self.matrix, blocks(self.matrix, code.chunks, 1))])
        self.encoding = chunks.encoding

        def step(state: Any, answer: AnyArray, iteration: int) -> Any:
            return self.step(state, answer.reshape(-1, *answer.shape[2:])[:rows], iteration)

        return CodedProgram(
            code, times_vector, work=float(rows), iterations=self.iterations, name=self.name, chunks=chunks, step=step,
            share=self.vector,
        )  # fmt: skip


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

    def program(self, code: Code | None, memory: float) -> Program:
        code = code or codes.uncoded(9, "product")
        if code.kind != "product":
            problem = f"for {code.kind} work, and this is a product of two matrices"
            raise BadInput("code", code.family, problem, "take a code for products, such as codes.polynomial")
        grid = code.assemble
        rows, columns = (grid.rows, grid.columns) if isinstance(grid, Grid) else (1, 1)
        inner = code.encoders[0].shape[1] // rows
        height, width = self.left.shape[0], self.right.shape[1]
        left, right = blocks(self.left, rows, inner), blocks(self.right, inner, columns)
        chunks = encoded(code, [(self.left, left), (self.right, right)])
        self.encoding = chunks.encoding

        def step(state: Any, answer: AnyArray, iteration: int) -> AnyArray:
            return answer[:height, :width]

        return CodedProgram(code, times_each_other, name=self.name, chunks=chunks, step=step, share=nothing)


@dataclass(eq=False)
class TransformJob:
    """The Fourier transform of a signal, once."""

    signal: Any
    name: str = ""
    start: Any = None
    iterations: int = 1
    encoding: Encoding | None = None

    def program(self, code: Code | None, memory: float) -> Program:
        code = code or codes.fft(8, 10)
        if code.kind != "transform":
            raise BadInput("code", code.family, f"for {code.kind} work", "take codes.fft(parts, total)")
        signal = np.asarray(self.signal)
        if signal.dtype.kind not in "iufc" or not np.isfinite(signal).all():
            raise BadInput("signal", signal.shape, "has values that are not finite numbers", "mend them first")
        if signal.ndim != 1 or signal.size % code.chunks:
            problem = f"not a vector that {code.chunks} parts of one length make up"
            raise BadInput("signal", signal.shape, problem, "pad it with zeros, or take other parts")
        chunks = encoded(code, [(signal, [signal[j :: code.chunks] for j in range(code.chunks)])])
        self.encoding = chunks.encoding

        def step(state: Any, answer: AnyArray, iteration: int) -> AnyArray:
            return answer

        return CodedProgram(code, transformed, name=self.name, chunks=chunks, step=step, share=nothing)


def nothing(state: object) -> None:
    """What workers see of a state that they do not need."""


def blocks(matrix: Any, rows: int, columns: int) -> list[Any]:
    """A grid of blocks of one shape, row by row, with zeros at the end; without a copy where they are not needed."""
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
