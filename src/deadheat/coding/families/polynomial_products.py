"""Matrix products by evaluated polynomials: polynomial, MatDot, PolyDot and entangled codes.

C = A B with A cut in m x p blocks, B in p x n. A task multiplies one mixture of the blocks of A with one of B:
    polynomial  p = 1: all m n products of blocks, K = m n
    MatDot      m = n = 1: sum_j A_j B_j, K = 2p - 1
    PolyDot     m = n = t, p = s: K = t^2 (2s - 1)
    entangled   K = p m n + p - 1
Evaluations at real points lose all digits from K = 20 to 50 on. Only which mixtures are independent matters, so where
the wish allows it random mixtures take the place of powers of x: plain blocks with Gaussian parities for the
polynomial code, Chebyshev polynomials (their integral is the wish) for MatDot, both for PolyDot. The entangled code has
powers only: real points while they last, and roots of unity, with complex work, beyond.

[1] Yu, Maddah-Ali, Avestimehr, Polynomial codes, NIPS 2017. [2] Dutta, Fahim, Haddadpour, Jeong, Cadambe, Grover, On
the optimal recovery threshold of coded matrix multiplication, 2020 (MatDot, PolyDot). [3] Yu, Maddah-Ali, Avestimehr,
Straggler mitigation ...: entangled polynomial codes, 2020. [4] Fahim, Cadambe, Numerically stable polynomially coded
computing, 2019. [5] Subramaniam, Heidarzadeh, Narayanan, Random Khatri-Rao-product codes, 2019.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.coding.assembling import Grid, only
from deadheat.coding.bases import chebyshev_points, chebyshev_rows, circle_points, gaussian
from deadheat.coding.certification import gate
from deadheat.coding.costs import Cost
from deadheat.coding.families.uncoded_parts import sides
from deadheat.coding.linear import LinearCode
from deadheat.coding.shapes import Family, Shape, at_least
from deadheat.errors import BadInput, whole

Matrix = NDArray[Any]
LIMIT = 1e7  # of the gain: seven of sixteen digits
MOST_REAL = 16  # K up to which the entangled code's real points keep seven digits
MOST_SPARE = 5  # tasks to spare up to which permuted Chebyshev points keep seven digits


def polynomial(left: int, right: int, total: int, *, seed: int = 0) -> LinearCode:
    """A in `left` blocks of rows, B in `right` blocks of columns; any K = left * right of n results give A B."""
    m, q = _parts(left=left, right=right)
    n = at_least(total, m * q, "left * right")
    spare = n - m * q
    a = np.vstack([np.repeat(np.eye(m), q, axis=0), math.sqrt(m) * gaussian(spare, m, seed)])
    b = np.vstack([np.tile(np.eye(q), (m, 1)), math.sqrt(q) * gaussian(spare, q, seed + 1)])
    rows = _each_with_each(a, b)
    cost = _polynomial_cost(m, q, n)
    return LinearCode("polynomial", "product", rows, np.eye(m * q), m * q, cost, encoders=(a, b), assemble=Grid(m, q))


def matdot(inner: int, total: int, *, limit: float = LIMIT) -> LinearCode:
    """A in `inner` blocks of columns, B of rows; any K = 2 inner - 1 of n results give the sum of their products."""
    (p,) = _parts(inner=inner)
    n = at_least(total, 2 * p - 1, "2 inner - 1")
    points = chebyshev_points(n)
    a = chebyshev_rows(points, p)
    code = LinearCode(
        "matdot", "product", chebyshev_rows(points, 2 * p - 1), np.eye(1, 2 * p - 1), 2 * p - 1,
        _matdot_cost(p, n), encoders=(a, a), assemble=only,
    )  # fmt: skip
    gate(code, limit, "take fewer tasks to spare, or codes.polynomial")
    return code


def polydot(inner: int, outer: int, total: int, *, limit: float = LIMIT, seed: int = 0) -> LinearCode:
    """A in outer x inner blocks, B in inner x outer; any K = outer^2 (2 inner - 1) of n results give A B."""
    s, t = _parts(inner=inner, outer=outer)
    K = t * t * (2 * s - 1)
    n = at_least(total, K, "outer^2 (2 inner - 1)")
    points = chebyshev_points(n)
    inside, outside = chebyshev_rows(points, s), chebyshev_rows(points, 2 * s - 1)
    a, b = (math.sqrt(t) * gaussian(n, t, seed + i) for i in (0, 1))
    rows = _each_with_each(_each_with_each(a, b), outside)
    target = np.kron(np.eye(t * t), np.eye(1, 2 * s - 1))
    encoders = (_each_with_each(a, inside), _each_with_each(inside, b))
    code = LinearCode(
        "polydot", "product", rows, target, K, _polydot_cost(s, t, n), encoders=encoders, assemble=Grid(t, t)
    )
    gate(code, limit, "take fewer tasks to spare, or codes.polynomial")
    return code


def entangled(
    inner: int, left: int, right: int, total: int, points: str = "auto", *, limit: float = LIMIT
) -> LinearCode:
    """A in left x inner blocks, B in inner x right; any K = inner left right + inner - 1 of n results give A B.

    points: "real" up to K = 16 or so, "circle" (complex: four times the work and twice the storage) beyond; "auto".
    """
    p, m, q = _parts(inner=inner, left=left, right=right)
    K = p * m * q + p - 1
    n = at_least(total, K, "inner left right + inner - 1")
    if points not in ("auto", "real", "circle"):
        raise BadInput("points", points, "no such points", 'take "real", "circle" or "auto"')
    on_circle = points == "circle" or (points == "auto" and K > MOST_REAL)
    x: Matrix = circle_points(n) if on_circle else chebyshev_points(n)
    j, u, v = np.arange(p), np.arange(m), np.arange(q)
    a = x[:, None] ** (j + p * u[:, None]).ravel()  # A[u, j] has the power j + p u
    b = x[:, None] ** (p - 1 - j[:, None] + p * m * v).ravel()  # B[j, v] the power p - 1 - j + p m v
    wished = (p - 1 + p * u[:, None] + p * m * v).ravel()
    cost = _entangled_cost(p, m, q, n, on_circle)
    rows = x[:, None] ** np.arange(K)
    code = LinearCode("entangled", "product", rows, np.eye(K)[wished], K, cost, m * q, (a, b), assemble=Grid(m, q))
    other = "" if on_circle else 'points="circle", '
    gate(code, limit, f"take {other}fewer tasks to spare, or codes.polydot")
    return code


def _each_with_each(a: Matrix, b: Matrix) -> Matrix:
    """Row by row, all products of an entry of a with one of b (Khatri and Rao)."""
    return (a[:, :, None] * b[:, None, :]).reshape(len(a), -1)


def _parts(**given: object) -> list[int]:
    return [whole(name, value, "give the number of blocks") for name, value in given.items()]


def _polynomial_cost(left: int, right: int, total: int) -> Cost:
    K = left * right
    spare = total - K
    storage = (1 / left + 1 / right) / 2
    return Cost(1 / K, storage, result=1 / K, encode=spare, decode=min(spare, K), plain=K)


def _matdot_cost(inner: int, total: int) -> Cost:
    return Cost(1 / inner, 1 / inner, result=1.0, encode=total, decode=2 * inner - 1)


def _polydot_cost(inner: int, outer: int, total: int) -> Cost:
    blocks = outer * outer
    K = blocks * (2 * inner - 1)
    return Cost(1 / (inner * blocks), 1 / (inner * outer), result=1 / blocks, encode=total, decode=K)


def _entangled_cost(inner: int, left: int, right: int, total: int, on_circle: bool) -> Cost:
    blocks, times = left * right, 2 if on_circle else 1
    K = inner * blocks + inner - 1
    storage = times * (1 / left + 1 / right) / (2 * inner)
    return Cost(times**2 / (inner * blocks), storage, result=times / blocks, encode=times * total, decode=times**2 * K)


def _polynomial_shapes(kind: str, critical: int, total: int) -> Iterator[Shape]:
    left, right = sides(critical)
    cost = _polynomial_cost(left, right, total)
    build = partial(polynomial, left, right, total)
    yield Shape("polynomial", kind, critical, total, cost, build, {"left": left, "right": right})


def _matdot_shapes(kind: str, critical: int, total: int) -> Iterator[Shape]:
    inner, spare = (critical + 1) // 2, total - critical
    if spare <= MOST_SPARE:
        n = 2 * inner - 1 + spare
        cost = _matdot_cost(inner, n)
        yield Shape("matdot", kind, n - spare, n, cost, partial(matdot, inner, n), {"inner": inner})


def _polydot_shapes(kind: str, critical: int, total: int) -> Iterator[Shape]:
    spare = total - critical
    for outer in (2, 3, 4):
        inner = max(round((critical / outer**2 + 1) / 2), 2)
        n = outer**2 * (2 * inner - 1) + spare
        if spare <= MOST_SPARE:
            cost, build = _polydot_cost(inner, outer, n), partial(polydot, inner, outer, n)
            yield Shape("polydot", kind, n - spare, n, cost, build, {"inner": inner, "outer": outer})


def _entangled_shapes(kind: str, critical: int, total: int) -> Iterator[Shape]:
    spare = total - critical
    for inner in (2, 3, 4):
        blocks = max(round((critical + 1) / inner) - 1, 2)
        left, right = sides(blocks)
        K = inner * blocks + inner - 1
        if spare <= MOST_SPARE:
            cost = _entangled_cost(inner, left, right, K + spare, K > MOST_REAL)
            build = partial(entangled, inner, left, right, K + spare)
            settings = {"inner": inner, "left": left, "right": right}
            yield Shape("entangled", kind, K, K + spare, cost, build, settings)


POLYNOMIAL = Family(
    "polynomial", ("product",), "All products of blocks", "Yu et al. 2017", "1/(pq)", "1", "any K = pq",
    "plain blocks and Gaussian parities; real Vandermonde is useless from K = 50", _polynomial_shapes,
)  # fmt: skip
MATDOT = Family(
    "matdot", ("product",), "A sum of products of blocks", "Dutta et al. 2020", "1/p", "2 - 1/p", "any K = 2p - 1",
    "results as large as the product; Chebyshev points, permuted, gated", _matdot_shapes,
)  # fmt: skip
POLYDOT = Family(
    "polydot", ("product",), "Between MatDot and polynomial", "Dutta et al. 2020", "1/(s t^2)", "2 - 1/s",
    "any K = t^2 (2s - 1)", "Chebyshev points and Gaussian mixtures, gated", _polydot_shapes,
)  # fmt: skip
ENTANGLED = Family(
    "entangled", ("product",), "Entangled polynomials", "Yu et al. 2020", "1/(pmn)", "1 + 1/(mn) - 1/(pmn)",
    "any K = pmn + p - 1", "real points to K = 16; complex beyond: four times the work", _entangled_shapes,
)  # fmt: skip
