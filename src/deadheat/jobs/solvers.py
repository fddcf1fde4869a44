"""Iterative linear algebra as jobs: PageRank, power iteration, Jacobi, conjugate gradients, ridge regression.

Each needs one product of the same matrix with a vector per iteration: it is coded once and iterated many times.
"""

from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from deadheat.errors import BadInput, finite
from deadheat.jobs.matrix_jobs import MatrixJob, check_matrix
from deadheat.model import Array
from deadheat.runtime import Converged


def pagerank(
    links: Any, damping: float = 0.85, tolerance: float = 1e-10, iterations: int = 1000, name: str = "pagerank"
) -> MatrixJob:
    """The rank of every page. links[i, j]: how strongly page i links to page j, 0 for not (scipy.sparse or dense).

    It is over when the ranks move by less than `tolerance` in all. The state is the vector of ranks.
    """
    _check_square("links", links)
    finite("tolerance", tolerance, "give how far all ranks together may move", above=0.0)
    if not 0 < damping < 1:
        raise BadInput("damping", damping, "not between 0 and 1", "give the chance to follow a link, such as 0.85")
    n = links.shape[0]
    out = np.asarray(links.sum(axis=1), float).ravel()
    share = np.divide(1.0, out, out=np.zeros(n), where=out > 0)
    if isinstance(links, np.ndarray):
        flow = np.ascontiguousarray((links * share[:, None]).T, float)
    else:
        from scipy import sparse

        flow = sparse.csr_array((sparse.diags_array(share) @ links).T)
    lost = out == 0

    def step(ranks: Array, product: Array, iteration: int) -> Array | Converged:
        new = damping * (product + ranks[lost].sum() / n) + (1 - damping) / n
        return Converged(new) if np.abs(new - ranks).sum() < tolerance else new

    return MatrixJob(flow, np.full(n, 1 / n), step, iterations, name=name)


def power_iteration(
    matrix: Any, tolerance: float = 1e-10, iterations: int = 1000, seed: int = 0, name: str = "power iteration"
) -> MatrixJob:
    """The dominant eigenvector, of length 1; it is over when it turns by less than `tolerance`."""
    _check_square("matrix", matrix)
    start = np.random.default_rng(seed).normal(size=matrix.shape[0])

    def step(vector: Array, product: Array, iteration: int) -> Array | Converged:
        size = np.linalg.norm(product)
        if not size > 0:
            raise ZeroDivisionError("the matrix sends the vector to zero")
        new = product / size
        turned = min(np.linalg.norm(new - vector), np.linalg.norm(new + vector))
        return Converged(new) if turned < tolerance else new

    return MatrixJob(matrix, start / np.linalg.norm(start), step, iterations, name=name)


def jacobi(
    matrix: Any, right: ArrayLike, tolerance: float = 1e-10, iterations: int = 10_000, name: str = "jacobi"
) -> MatrixJob:
    """Solve matrix @ x = right for a matrix with a dominant diagonal; tolerance: of the residual, relative to right."""
    b = _right(matrix, right)
    diagonal = np.asarray(matrix.diagonal(), float)
    if not diagonal.all():
        row = f"row {np.flatnonzero(diagonal == 0)[0]}"
        raise BadInput("matrix", row, "has a zero on the diagonal", "use conjugate_gradients, or exchange rows")
    limit = tolerance * np.linalg.norm(b)

    def step(x: Array, product: Array, iteration: int) -> Array | Converged:
        residual = b - product
        return Converged(x) if np.linalg.norm(residual) <= limit else x + residual / diagonal

    return MatrixJob(matrix, np.zeros(b.size), step, iterations, name=name)


class Search(NamedTuple):
    """Where conjugate gradients stand: solution, residual, direction, squared residual."""

    x: Array
    residual: Array
    direction: Array
    square: float


def conjugate_gradients(
    matrix: Any, right: ArrayLike, tolerance: float = 1e-10, iterations: int = 10_000, name: str = "conjugate gradients"
) -> MatrixJob:
    """Solve matrix @ x = right for a symmetric positive definite matrix; the last state's `x` is the solution.

    tolerance: of the residual, relative to right.
    """
    b = _right(matrix, right)
    limit = tolerance * np.linalg.norm(b)

    def step(search: Search, product: Array, iteration: int) -> Search | Converged:
        curve = float(search.direction @ product)
        if not curve > 0:
            if search.square == 0:
                return Converged(search)
            raise ValueError("the matrix is not positive definite")
        part = search.square / curve
        x, residual = search.x + part * search.direction, search.residual - part * product
        square = float(residual @ residual)
        new = Search(x, residual, residual + square / search.square * search.direction, square)
        return Converged(new) if np.sqrt(square) <= limit else new

    start = Search(np.zeros(b.size), b, b, float(b @ b))
    return MatrixJob(matrix, start, step, iterations, attrgetter("direction"), name)


def ridge(
    x: Any, y: ArrayLike, l2: float, tolerance: float = 1e-8, iterations: int = 10_000, name: str = "ridge"
) -> MatrixJob:
    """Ridge regression by gradient steps on x.T @ x, which is formed once.

    tolerance: of the gradient, relative to x.T @ y.
    """
    check_matrix("x", x)
    finite("l2", l2, "give the weight of the penalty, above 0", above=0.0)
    target = np.asarray(y, float)
    if target.shape != (x.shape[0],):
        raise BadInput("y", target.shape, f"not one target for each of {x.shape[0]} rows", "give a vector")
    square, moment = x.T @ x, np.asarray(x.T @ target)
    rate = 1 / (float(abs(square).sum(axis=0).max()) + l2)  # the largest eigenvalue is at most the largest column sum
    limit = tolerance * np.linalg.norm(moment)

    def step(weights: Array, product: Array, iteration: int) -> Array | Converged:
        gradient = product + l2 * weights - moment
        return Converged(weights) if np.linalg.norm(gradient) <= limit else weights - rate * gradient

    return MatrixJob(square, np.zeros(moment.size), step, iterations, name=name)


def _check_square(field: str, matrix: Any) -> None:
    check_matrix(field, matrix)
    if matrix.shape[0] != matrix.shape[1]:
        raise BadInput(field, matrix.shape, "not square", "give as many columns as rows")


def _right(matrix: Any, right: ArrayLike) -> Array:
    _check_square("matrix", matrix)
    b = np.asarray(right, float)
    if b.shape != matrix.shape[:1]:
        raise BadInput("right", b.shape, f"the matrix has {matrix.shape[0]} rows", "give one value for each")
    if not np.isfinite(b).all():
        raise BadInput("right", b.shape, "has values that are not finite", "mend them first")
    return b
