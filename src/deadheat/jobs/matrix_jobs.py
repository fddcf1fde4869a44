"""Jobs whose iteration is a product: a matrix times a vector, coded once and iterated; products and transforms once."""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from deadheat.coding import Code, Grid, Mixture, carries, codes, encode, floating, whole_numbers, wide
from deadheat.errors import BadInput, whole
from deadheat.jobs.block_operations import BlockOperation, TimesEachOther, TimesVector, Transformed, Witnesses
from deadheat.model import AnyArray
from deadheat.scheduling import NumericProgram, Program, Token

DType = np.dtype[Any]
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
    """Each task has one chunk, a tuple of coded blocks; operate(blocks, state) gives its result.

    Results are verified by the master, without redundancy; see `Witnesses`.
    data: the type of the operands, where it does not show in a result because these were coded in another one.
    """

    MASTER_ONLY = (*NumericProgram.MASTER_ONLY, "_witnesses")
    verifies = True

    def __init__(self, code: Code, operate: BlockOperation, data: DType | None = None, **settings: Any) -> None:
        super().__init__(code, **settings)
        self._operate, self._data, self._witnesses = operate, data, Witnesses(operate)
        self._state: Any = None

    def needs(self, task: int) -> Collection[int]:
        return (task,)

    def begin(self, state: Any, iteration: int) -> None:
        self._state = state

    def run(self, task: int, token: Token) -> AnyArray | Mixture:
        value = np.asarray(self._operate(self.chunk(task), self._state))
        if self._data is None:
            return value
        dtype = self._data if self._state is None else np.result_type(self._data, np.asarray(self._state))
        return Mixture(value, dtype, value.shape)

    def verify(self, task: int, value: Any, state: Any) -> bool:
        """Freivalds' check."""
        return self._witnesses.agree(task, self.chunks[task], state, self.numbers_of(value))


class EncodedBlocks(list[tuple[Any, ...]]):
    """For each task a mixture of the blocks of every operand; encoding: what it cost.

    operands: kept alive, so that no other matrix can lie in their place while the blocks are shared; checkpoints know
    the job by them, since coded blocks may differ in their last digits.
    data: the type of a product of the operands, where results have another one.
    """

    data: DType | None
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
        kinds = [_coded_in(code, floating([matrix.dtype])) for matrix, _ in operands]
        mixed = [
            encode(code, [block.astype(kind, copy=False) for block in blocks], number)
            for number, ((_, blocks), kind) in enumerate(zip(operands, kinds, strict=True))
        ]
        seconds = time.perf_counter() - began
        plain = sum(_bytes(block) for _, blocks in operands for block in blocks)
        distinct = {id(block): block for blocks in mixed for block in blocks}
        coded = EncodedBlocks(zip(*mixed, strict=True))
        coded.encoding = Encoding(seconds, plain, sum(map(_bytes, distinct.values())))
        coded.operands = [matrix for matrix, _ in operands]
        own = floating(matrix.dtype for matrix in coded.operands)
        coded.data = own if code.is_complex or own != np.result_type(*kinds) else None
        _shared[key] = coded
    return coded


def _coded_in(code: Code, dtype: DType) -> DType:
    """The type in which blocks are coded and multiplied: theirs, or double where the code takes too many digits."""
    return dtype if dtype == wide(dtype) or carries(code, dtype) else wide(dtype)


def _bytes(block: Any) -> int:
    """Of an array, or of a sparse matrix."""
    if hasattr(block, "nbytes"):
        return int(block.nbytes)
    return int(sum(getattr(block, part).nbytes for part in ("data", "indices", "indptr") if hasattr(block, part)))


class CodedJob:
    """A job on coded blocks. encoding: what coding the data cost, known once the job has its program."""

    name: str
    encoding: Encoding | None = None

    def _program(
        self, code: Code, operate: BlockOperation, step: Callable[[Any, AnyArray, int], Any],
        *operands: tuple[Any, Sequence[Any]], **settings: Any,
    ) -> Program:  # fmt: skip
        chunks = encoded(code, operands)
        self.encoding = chunks.encoding
        data = chunks.data if code.kind != "transform" else None  # a transform is complex whatever the data
        return CodedProgram(code, operate, data, name=self.name, chunks=chunks, step=step, **settings)


@dataclass(eq=False)
class MatrixJob(CodedJob):
    """An iteration is matrix @ vector; matrix: dense or scipy.sparse.

    step(state, product, iteration) -> the next state, or Converged. vector(state) -> what the matrix is multiplied
    with; by default the state itself. converges: `step` ends the job at a tolerance.
    """

    matrix: Any
    start: Any
    step: Callable[[Any, AnyArray, int], Any]
    iterations: int
    vector: Callable[[Any], AnyArray] | None = None
    name: str = ""
    converges: bool = False

    def __post_init__(self) -> None:
        whole("iterations", self.iterations, "give how often to iterate")
        check_matrix("matrix", self.matrix)

    def program(self, code: Code | None, memory: float) -> Program:
        """Blocks of rows, mixed as a linear code says."""
        rows = self.matrix.shape[0]
        code = code or codes.uncoded(min(BLOCKS, rows), "linear")
        _must_be_for("linear", code, ", and this is a matrix times a vector", "take a linear code, such as codes.mds")
        if code.chunks > rows:
            raise BadInput("code", code.chunks, f"blocks of {rows} rows", f"take at most {rows} blocks")

        own = self.step  # and not the whole job, whose length may be another when it is resumed

        def step(state: Any, answer: AnyArray, iteration: int) -> Any:
            return own(state, answer.reshape(-1, *answer.shape[2:])[:rows], iteration)

        return self._program(
            code, TimesVector(), step, (self.matrix, blocks(self.matrix, code.chunks, 1)),
            work=float(rows), iterations=self.iterations, share=self.vector, converges=self.converges,
        )  # fmt: skip


@dataclass(eq=False)
class ProductJob(CodedJob):
    """A @ B, once. code: polynomial, MatDot, entangled or another for products; cut as it says."""

    left: Any
    right: Any
    name: str = ""
    start: Any = None
    iterations: int = 1

    def __post_init__(self) -> None:
        check_matrix("left", self.left)
        check_matrix("right", self.right)
        if self.left.shape[1] != self.right.shape[0]:
            problem = f"the left one has {self.left.shape[1]} columns"
            raise BadInput("right", self.right.shape, problem, f"give {self.left.shape[1]} rows")

    def program(self, code: Code | None, memory: float) -> Program:
        code = code or codes.uncoded(9, "product")
        remedy = "take a code for products, such as codes.polynomial"
        _must_be_for("product", code, ", and this is a product of two matrices", remedy)
        grid = code.assemble
        rows, columns = (grid.rows, grid.columns) if isinstance(grid, Grid) else (1, 1)
        inner = code.encoders[0].shape[1] // rows
        height, width = self.left.shape[0], self.right.shape[1]
        left, right = blocks(self.left, rows, inner), blocks(self.right, inner, columns)
        return self._program(
            code, TimesEachOther(), lambda state, answer, iteration: answer[:height, :width],
            (self.left, left), (self.right, right), share=lambda state: None,
        )  # fmt: skip


@dataclass(eq=False)
class TransformJob(CodedJob):
    """The Fourier transform of a signal, once."""

    signal: Any
    name: str = ""
    start: Any = None
    iterations: int = 1

    def program(self, code: Code | None, memory: float) -> Program:
        code = code or codes.fft(8, 10)
        _must_be_for("transform", code, "", "take codes.fft(parts, total)")
        signal = np.asarray(self.signal)
        if signal.dtype.kind not in "iufc" or not np.isfinite(signal).all() or np.ma.is_masked(self.signal):
            problem = "has values that are masked or not finite numbers"
            raise BadInput("signal", signal.shape, problem, "mend them first")
        if signal.ndim != 1 or signal.size % code.chunks:
            problem = f"not a vector that {code.chunks} parts of one length make up"
            raise BadInput("signal", signal.shape, problem, "pad it with zeros, or take other parts")
        parts = [signal[j :: code.chunks] for j in range(code.chunks)]
        return self._program(
            code, Transformed(), lambda state, answer, iteration: answer, (signal, parts), share=lambda state: None
        )


def _must_be_for(kind: str, code: Code, but: str, remedy: str) -> None:
    if code.kind != kind:
        raise BadInput("code", code.family, f"for {code.kind} work{but}", remedy)


def blocks(matrix: Any, rows: int, columns: int) -> list[Any]:
    """A grid of blocks of one shape, row by row, with zeros at the end; without a copy where they are not needed."""
    height, width = -(-matrix.shape[0] // rows), -(-matrix.shape[1] // columns)
    shape = height * rows, width * columns
    if shape != matrix.shape and isinstance(matrix, np.ndarray):
        matrix = np.pad(matrix, ((0, shape[0] - matrix.shape[0]), (0, shape[1] - matrix.shape[1])))
    elif shape != matrix.shape:
        matrix = matrix.copy()
        matrix.resize(shape)
    strips = [matrix[i * height : (i + 1) * height] for i in range(rows)]
    return [strip[:, j * width : (j + 1) * width] for strip in strips for j in range(columns)]


def check_matrix(field: str, matrix: Any) -> None:
    """Refuse what is no table of finite numbers."""
    shape = getattr(matrix, "shape", None)
    if shape is None or len(shape) != 2:
        raise BadInput(field, shape, "not a matrix", "give a two-dimensional array or a scipy.sparse matrix")
    values = matrix if isinstance(matrix, np.ndarray) else matrix.data
    if np.asarray(values).dtype.kind not in "iufc":
        raise BadInput(field, str(np.asarray(values).dtype), "not numbers", "give numbers")
    if not np.isfinite(values).all() or np.ma.is_masked(values):
        raise BadInput(field, shape, "has values that are masked or not finite", "mend them first")
    whole_numbers(np.asarray(values))
