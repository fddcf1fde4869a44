"""Whether a matrix is symmetric, or Hermitian where it is complex, without a copy of it."""

from typing import Any

import numpy as np

from deadheat.errors import BadInput
from deadheat.model import AnyArray

TILE = 1024  # rows and columns that are compared at a time: 8 MB of doubles
REMEDY = "give a symmetric one (Hermitian where complex), or use jacobi"


def check_hermitian(field: str, matrix: Any) -> None:
    """Refuse a matrix that differs from its conjugate transpose by more than rounding errors leave.

    matrix: square, dense or scipy.sparse. Rounding: half the digits of its precision, relative to its largest element.
    """
    gap, place, largest = _largest_gap(matrix) if isinstance(matrix, np.ndarray) else _largest_sparse_gap(matrix)
    precision = np.finfo(matrix.dtype).eps if matrix.dtype.kind in "fc" else 0.0
    if gap > np.sqrt(precision) * largest:
        i, j = place
        matrix = matrix if isinstance(matrix, np.ndarray) else matrix.tocsr()
        mirror = f"element ({i}, {j}) is {matrix[i, j]:.6g} and element ({j}, {i}) is {matrix[j, i]:.6g}"
        raise BadInput(field, matrix.shape, f"not symmetric: {mirror}", REMEDY)


def _largest_gap(matrix: AnyArray) -> tuple[float, tuple[int, int], float]:
    """The largest difference from the conjugate transpose, its place, and the largest element; tile by tile."""
    kind, n = np.result_type(matrix.dtype, np.float32), len(matrix)  # differences of small integers would wrap
    gap, place, largest = 0.0, (0, 0), 0.0
    for top in range(0, n, TILE):
        for left in range(top, n, TILE):
            upper = matrix[top : top + TILE, left : left + TILE].astype(kind, copy=False)
            lower = matrix[left : left + TILE, top : top + TILE].astype(kind, copy=False)
            differences = np.abs(upper - lower.conj().T)
            largest = max(largest, float(np.abs(upper).max()))
            if (worst := float(differences.max())) > gap:
                row, column = np.unravel_index(int(differences.argmax()), differences.shape)
                gap, place = worst, (top + int(row), left + int(column))
    return gap, place, largest


def _largest_sparse_gap(matrix: Any) -> tuple[float, tuple[int, int], float]:
    wide = matrix.astype(np.result_type(matrix.dtype, np.float32))
    differences = abs(wide - wide.conj().T).tocoo()
    if not differences.nnz:
        return 0.0, (0, 0), 0.0
    worst = int(differences.data.argmax())
    place = int(differences.row[worst]), int(differences.col[worst])
    return float(differences.data[worst]), place, float(abs(wide.data).max())
