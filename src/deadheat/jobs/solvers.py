"""Iterative linear algebra as jobs: PageRank, power iteration, Jacobi, conjugate gradients, ridge regression.

Each needs one product of the same matrix with a vector per iteration: it is coded once and iterated many times. Each is
over when it has reached its tolerance; one that uses up its iterations is delivered with a warning, and one that cannot
get there is given up.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from deadheat.errors import BadInput, NoConvergence, finite
from deadheat.jobs.matrix_jobs import MatrixJob, check_matrix
from deadheat.jobs.symmetry import check_hermitian
from deadheat.model import AnyArray, Array
from deadheat.runtime import Converged

LARGEST = 1e90  # entries up to which, and down to one part in which, three can be multiplied, as x A x is
GROWTH = 1e6  # times the first residual: conjugate gradients stay below it up to a condition number of 1e12


def pagerank(
    links: Any, damping: float = 0.85, tolerance: float = 1e-10, iterations: int = 1000, name: str = "pagerank"
) -> MatrixJob:
    """The rank of every page. links[i, j]: how strongly page i links to page j, 0 for not (scipy.sparse or dense).

    It is over when the ranks move by less than `tolerance` in all. The state is the vector of ranks.
    """
    _check_square("links", links)
    _check_real("links", links)
    finite("tolerance", tolerance, "give how far all ranks together may move", above=0.0)
    finite("damping", damping, "give the chance to follow a link, such as 0.85")
    if not 0 < damping < 1:
        raise BadInput("damping", damping, "not between 0 and 1", "give the chance to follow a link, such as 0.85")
    n, strengths = links.shape[0], links if isinstance(links, np.ndarray) else links.data
    if strengths.size and strengths.min() < 0:
        raise BadInput("links", strengths.min(), "a negative link", "give strengths from 0 on")
    out = np.asarray(links @ np.ones(n)).ravel()  # in double precision: sums of sparse rows may overflow in their own
    share = np.divide(1.0, out, out=np.zeros(n), where=out > 0)
    if isinstance(links, np.ndarray):
        flow = np.ascontiguousarray((links * share[:, None]).T, float)
    else:
        from scipy import sparse

        flow = sparse.csr_array((sparse.diags_array(share) @ links).T)
    lost = out == 0

    def step(ranks: Array, product: Array, iteration: int) -> Array | Converged:
        new = damping * (product + ranks[lost].sum() / n) + (1 - damping) / n
        moved = np.abs(new - ranks).sum()
        return Converged(new, f"the ranks moved by {moved:.2g} in all") if moved < tolerance else new

    return MatrixJob(flow, np.full(n, 1 / n), step, iterations, name=name, converges=True)


def power_iteration(
    matrix: Any, tolerance: float = 1e-10, iterations: int = 1000, seed: int = 0, name: str = "power iteration"
) -> MatrixJob:
    """The dominant eigenvector, of length 1; it is over when it turns by less than `tolerance`.

    A real matrix whose dominant eigenvalues are a complex pair has none, and never gets there.
    """
    _check_square("matrix", matrix)
    finite("tolerance", tolerance, "give how far the vector may turn", above=0.0)
    rng = np.random.default_rng(seed)
    start: AnyArray = rng.normal(size=matrix.shape[0])
    if matrix.dtype.kind == "c":
        start = start + 1j * rng.normal(size=start.size)

    def step(vector: AnyArray, product: AnyArray, iteration: int) -> AnyArray | Converged:
        size = float(np.linalg.norm(product))
        if size == 0:
            raise ZeroDivisionError("the matrix sends the vector to zero")
        new = product / size
        overlap = np.vdot(vector, new)  # its sign or phase is that of the eigenvalue, and does not turn the vector
        turned = float(np.linalg.norm(new - overlap / (abs(overlap) or 1.0) * vector))
        return Converged(new, f"the vector turned by {turned:.2g}") if turned < tolerance else new

    return MatrixJob(matrix, start / np.linalg.norm(start), step, iterations, name=name, converges=True)


def jacobi(
    matrix: Any, right: ArrayLike, tolerance: float = 1e-10, iterations: int = 10_000, name: str = "jacobi"
) -> MatrixJob:
    """Solve matrix @ x = right for a matrix with a dominant diagonal; tolerance: of the residual, relative to right.

    Where the residual grows a millionfold instead, the job is given up with NoConvergence.
    """
    b = _right(matrix, right)
    diagonal = np.asarray(matrix.diagonal(), b.dtype)
    if not diagonal.all():
        row = f"row {np.flatnonzero(diagonal == 0)[0]}"
        raise BadInput("matrix", row, "has a zero on the diagonal", "use conjugate_gradients, or exchange rows")
    goal = _Goal("jacobi", b, tolerance)

    def step(x: AnyArray, product: AnyArray, iteration: int) -> AnyArray | Converged:
        residual = b - product
        size = float(np.linalg.norm(residual))
        if goal.reached(size):
            return Converged(x, goal.words(size))
        remedy = "the diagonal is not dominant: use conjugate_gradients if the matrix is symmetric, or a direct solver"
        goal.check_growth(size, iteration, remedy)
        return np.asarray(x + residual / diagonal)

    return MatrixJob(matrix, np.zeros_like(b), step, iterations, name=name, converges=True)


class Search(NamedTuple):
    """Where conjugate gradients stand: solution, residual, direction, squared residual.

    The residual is carried forward, and rounding errors part it from the true one. So when it has become small enough
    the next product is with the solution itself (`checking`). true: the true residual's norm when last looked at.
    """

    x: AnyArray
    residual: AnyArray
    direction: AnyArray
    square: float
    checking: bool = False
    true: float = np.inf


def conjugate_gradients(
    matrix: Any, right: ArrayLike, tolerance: float = 1e-10, iterations: int = 10_000, name: str = "conjugate gradients"
) -> MatrixJob:
    """Solve matrix @ x = right for a symmetric positive definite matrix; the last state's `x` is the solution.

    tolerance: of the residual, relative to right; the last iteration computes it anew to be sure. A complex matrix must
    be Hermitian. Where rounding errors or the matrix allow no such residual, the job is given up with NoConvergence.
    """
    b = _right(matrix, right)
    check_hermitian("matrix", matrix)
    goal = _Goal("conjugate gradients", b, tolerance)

    def check(search: Search, product: AnyArray, iteration: int) -> Search | Converged:
        residual = b - product
        size = float(np.linalg.norm(residual))
        new = Search(search.x, residual, residual, size**2, true=size)
        if goal.reached(size):
            return Converged(new, goal.words(size))
        if not size <= search.true / 2:
            remedy = "rounding errors allow no less: take a larger tolerance, or scale the matrix"
            raise NoConvergence("conjugate gradients", iteration + 1, goal.relative(size), remedy)
        return new  # begin anew from the true residual

    def step(search: Search, product: AnyArray, iteration: int) -> Search | Converged:
        if search.checking:
            return check(search, product, iteration)
        curve = float(np.vdot(search.direction, product).real)
        if not curve > 0:
            if search.square == 0:
                return Converged(search, goal.words(0.0))
            raise ValueError("the matrix is not positive definite")
        part = search.square / curve
        x, residual = search.x + part * search.direction, search.residual - part * product
        square = float(np.vdot(residual, residual).real)
        size = float(np.sqrt(square))
        goal.check_growth(size, iteration, "the matrix is singular, or nearly so: add to its diagonal, or scale it")
        direction = residual + square / search.square * search.direction
        return Search(x, residual, direction, square, goal.reached(size), search.true)

    start = Search(np.zeros_like(b), b, b, float(np.vdot(b, b).real))
    return MatrixJob(matrix, start, step, iterations, _multiplied, name, converges=True)


def ridge(
    x: Any, y: ArrayLike, l2: float, tolerance: float = 1e-8, iterations: int = 10_000, name: str = "ridge"
) -> MatrixJob:
    """Ridge regression by gradient steps on x.T @ x, which is formed once.

    tolerance: of the gradient, relative to x.T @ y.
    """
    check_matrix("x", x)
    _check_real("x", x)
    finite("l2", l2, "give the weight of the penalty, above 0", above=0.0)
    finite("tolerance", tolerance, "give a part of x.T @ y, such as 1e-8", above=0.0)
    target = _vector("y", y)
    _check_real("y", target)
    if target.shape != (x.shape[0],):
        raise BadInput("y", target.shape, f"not one target for each of {x.shape[0]} rows", "give a vector")
    wide = x.astype(np.result_type(x.dtype, float), copy=False)  # products of small integers would wrap
    with np.errstate(over="ignore"):
        square, moment = wide.T @ wide, np.asarray(wide.T @ target)
    _check_scale("x", square, "x.T @ x")
    _check_scale("y", moment, "x.T @ y")
    rate = 1 / (float(abs(square).sum(axis=0).max()) + l2)  # the largest eigenvalue is at most the largest column sum
    scale = float(np.linalg.norm(moment))

    def step(weights: Array, product: Array, iteration: int) -> Array | Converged:
        gradient = product + l2 * weights - moment
        size = float(np.linalg.norm(gradient))
        if size <= tolerance * scale:
            return Converged(weights, f"the gradient is {size / (scale or 1.0):.2g} of x.T @ y")
        return np.asarray(weights - rate * gradient)

    return MatrixJob(square, np.zeros(moment.size), step, iterations, name=name, converges=True)


class _Goal:
    """The residual that a system of equations is to reach, relative to its right side: that of a solution of zeros."""

    def __init__(self, solver: str, right: AnyArray, tolerance: float) -> None:
        self.tolerance = finite("tolerance", tolerance, "give a part of the right side, such as 1e-10", above=0.0)
        self.solver, self.scale = solver, float(np.linalg.norm(right))

    def reached(self, residual: float) -> bool:
        return residual <= self.tolerance * self.scale

    def relative(self, residual: float) -> float:
        return residual / (self.scale or 1.0)

    def words(self, residual: float) -> str:
        return f"the residual is {self.relative(residual):.2g} of the right side"

    def check_growth(self, residual: float, iteration: int, remedy: str) -> None:
        """Give up where the residual is not finite, or so large that it will not come back."""
        if not residual <= GROWTH * self.scale:
            raise NoConvergence(self.solver, iteration + 1, self.relative(residual), remedy)


def _multiplied(search: Search) -> AnyArray:
    """What the next product is with."""
    return search.x if search.checking else search.direction


def _check_square(field: str, matrix: Any) -> None:
    check_matrix(field, matrix)
    if matrix.shape[0] != matrix.shape[1]:
        raise BadInput(field, matrix.shape, "not square", "give as many columns as rows")
    _check_scale(field, matrix)


def _check_scale(field: str, array: Any, product: str = "") -> None:
    """Refuse numbers so large or small that norms and residuals are infinite or zero, and a solver is soon content."""
    values = array if isinstance(array, np.ndarray) else array.data
    parts = (values.real, values.imag) if values.dtype.kind == "c" else (values,)
    largest = max(abs(float(end)) for part in parts for end in (part.min(initial=0), part.max(initial=0)))
    if largest > 0 and not 1 / LARGEST <= largest <= LARGEST:
        entry = f"the largest entry of {product}" if product else "the largest entry"
        raise BadInput(field, largest, f"{entry} is not between {1 / LARGEST:g} and {LARGEST:g}", "scale it")


def _check_real(field: str, array: Any) -> None:
    if array.dtype.kind == "c":
        raise BadInput(field, str(array.dtype), "complex numbers", "give real ones")


def _vector(field: str, values: ArrayLike) -> AnyArray:
    """The values as an array of finite numbers, of double precision at least."""
    try:
        array = np.asarray(values)
    except ValueError:  # a ragged list
        raise BadInput(field, values, "not numbers", "give a vector of numbers") from None
    if array.dtype.kind not in "iubfc":
        raise BadInput(field, str(array.dtype), "not numbers", "give a vector of numbers")
    if not np.isfinite(array).all() or np.ma.is_masked(values):
        raise BadInput(field, array.shape, "has values that are masked or not finite", "mend them first")
    _check_scale(field, array)
    return array.astype(np.result_type(array.dtype, float))


def _right(matrix: Any, right: ArrayLike) -> AnyArray:
    """The right side of a system, complex where the matrix or itself is."""
    _check_square("matrix", matrix)
    b = _vector("right", right)
    if b.shape != matrix.shape[:1]:
        raise BadInput("right", b.shape, f"the matrix has {matrix.shape[0]} rows", "give one value for each")
    return b.astype(np.result_type(b.dtype, matrix.dtype), copy=False)
