"""One construction, three codes: rows that vanish outside a window of d = n - K + l cyclically neighbouring chunks.

Task i is a vector v_i of K random numbers. Chunk j gets a matrix B_j = [R_j | I] of l rows such that B_j v_i = 0 for
the K - l tasks i that do not hold it (a square system for R_j). A result is then Z v_i with Z = sum_j g_j^T B_j, so K
results give Z, and its last l columns are the sums over the chunks. l = 1 is the cyclic gradient code, l parts of a
vector the communication-efficient one [1], l rows of a matrix Short-Dot [2]. Gaussian v_i keep their digits at K = 200
(tests/coding/test_certificates.py).

Gradient codes from roots of unity have such windows too (l = 1). They need no random numbers and keep fewer digits: a
block of lost neighbours costs digits with every neighbour (tests/coding/test_certificates.py), so that they are gated.

[1] Ye, Abbe, Communication-computation efficient gradient coding, ICML 2018, section 4.
[2] Dutta, Cadambe, Grover, Short-Dot: computing large linear transforms distributedly, NIPS 2016.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from deadheat.coding.certification import gate
from deadheat.coding.code import Code
from deadheat.coding.cost import Cost
from deadheat.coding.linear_code import LinearCode, gradient_code
from deadheat.coding.shape import Shape, Shapes
from deadheat.model import AnyArray, Array


def window_rows(total: int, critical: int, parts: int, seed: int) -> tuple[Array, Array]:
    """Rows (n, n l) and target (l, n l); task i needs the chunks i, i + 1, ... i + d - 1 modulo n."""
    n, K, l = total, critical, parts  # noqa: E741
    d = n - K + l
    v = np.random.default_rng(seed).standard_normal((K, n))
    rows = np.zeros((n, n, l))
    for chunk in range(n):
        holders = (chunk - np.arange(d)) % n
        others = (chunk + 1 + np.arange(n - d)) % n
        r = -np.linalg.solve(v[: K - l, others].T, v[K - l :, others].T).T
        rows[holders, chunk] = (r @ v[: K - l, holders] + v[K - l :, holders]).T
    flat = rows.reshape(n, n * l)
    return flat / np.linalg.norm(flat, axis=1, keepdims=True), np.tile(np.eye(l), (1, n))


def gated(family: str, rows: AnyArray, limit: float, cost: Cost, stragglers: int) -> LinearCode:
    """The gradient code of these rows, scaled to norm one, if it passes the gate."""
    n, scaled = len(rows), rows / np.linalg.norm(rows, axis=1, keepdims=True)
    least = -(-n // (stragglers + 1))  # fewer do not have all chunks; some sets below K suffice, by symmetry
    code = gradient_code(family, scaled, n - stragglers, cost, least=least)
    return gate(code, limit, "take fewer stragglers, or codes.cyclic, whose rows are random")


def window_cost(
    total: int, critical: int, reuse: bool, *, parts: int = 1, is_complex: bool = False, permuted: bool = False
) -> Cost:
    """A task is d = n - K + l chunks of n; with reuse it is one chunk, after the d - 1 that it shares with the next."""
    # A complex result is two real ones, and permuted tasks share no chunks.
    d, times = total - critical + parts, 2 if is_complex else 1
    work, shared_chunks = (1 / total, d - 1) if reuse else (d / total, 0)
    return Cost(work, d / total, result=times / parts, decode=times**2 * critical, mix=d, shared_chunks=shared_chunks,
                more=d / total if permuted else 1 / total)  # fmt: skip


def window_shapes(
    family: str, make: Callable[..., Code], cost: Callable[[int, int, bool], Cost], most: tuple[float, float],
    kind: str, critical: int, total: int,
) -> Shapes:  # fmt: skip
    """The shapes of a gradient code without and with reuse, each up to the most stragglers that the tuner tries."""
    for reuse, stragglers in zip((False, True), most, strict=True):
        if total - critical <= stragglers:
            build = partial(make, total, total - critical, reuse=reuse)
            yield Shape(family, kind, critical, total, cost(total, critical, reuse), build, {"reuse": reuse})
