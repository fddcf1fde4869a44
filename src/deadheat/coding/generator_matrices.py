"""Generator matrices in which any K rows are independent, and how far each may be trusted.

Gaussian rows keep their digits under any loss. Polynomial bases lose them when neighbouring points are lost together,
as happens when a worker is slow: their rows are permuted (neighbouring tasks have far points), and a gate refuses what
would still be worse than double precision can bear.
"""

import math

import numpy as np

from deadheat.errors import BadInput, nearest
from deadheat.model import AnyArray, Array, IntArray

BASES = ("gaussian", "vandermonde", "chebyshev", "circle")


def generator(basis: str, critical: int, total: int, seed: int) -> AnyArray:
    """An (n, K) matrix: the identity and Gaussian parities, or polynomials of degree < K at n points."""
    if basis not in BASES:
        raise BadInput("basis", basis, "no such basis", nearest(str(basis), BASES))
    if basis == "gaussian":
        return np.vstack([np.eye(critical), gaussian(total - critical, critical, seed)])
    if basis == "chebyshev":
        return chebyshev_rows(chebyshev_points(total), critical)
    points = circle_points(total) if basis == "circle" else chebyshev_points(total)
    return np.vander(points, critical, increasing=True)


def gaussian(rows: int, columns: int, seed: int) -> Array:
    """Normal numbers of norm one in each row, on average: a parity is as large as what it is made of."""
    return np.random.default_rng(seed).standard_normal((rows, columns)) / math.sqrt(columns)


def chebyshev_points(total: int) -> Array:
    """Cosines of n even angles, permuted; a little off the roots of the Chebyshev polynomials."""
    # At those roots Gauss's quadrature is exact, and some sets of fewer than K results would do by accident.
    return np.cos(np.pi * (permuted(total) + 0.4) / total)


def circle_points(total: int) -> AnyArray:
    """The n-th roots of unity, permuted."""
    return np.asarray(np.exp(2j * np.pi * permuted(total) / total))


def chebyshev_rows(points: Array, degrees: int) -> Array:
    """sqrt(2) T_k(x), k = 0 ... degrees - 1 (T_0 = 1): orthonormal for the Chebyshev weight."""
    k, angles = np.arange(degrees), np.arccos(points)[:, None]
    # k times an angle would be rounded, and decoding multiplies that error: half the digits of an angle are exact.
    high = angles.astype(np.float32).astype(float)
    low = angles - high
    rows = (np.cos(k * high) * np.cos(k * low) - np.sin(k * high) * np.sin(k * low)) * math.sqrt(2)
    rows[:, 0] = 1.0
    return np.asarray(rows)


def permuted(total: int) -> IntArray:
    """0 ... n - 1 in strides of about the golden section of n: neighbours come to lie far apart."""
    golden = round(total * (math.sqrt(5) - 1) / 2)
    coprime = (s for s in range(1, total) if math.gcd(s, total) == 1)
    return np.arange(total) * min(coprime, key=lambda s: abs(s - golden), default=1) % total
