"""Gradient codes from roots of unity: cyclic MDS [1] and Reed-Solomon [2]. No random numbers, fewer digits.

The rows of a cyclic MDS code are the shifts of one polynomial, of degree s, that vanishes at s neighbouring n-th roots
of unity; the all-one vector is in the code because 1 is not among them. The roots can be chosen in conjugate pairs, so
that the code is real, where n - s is odd. A Reed-Solomon row is the polynomial of degree K - 1 that vanishes at the
points of the chunks its task does not have.

A block of lost neighbours costs the cyclic MDS code all its digits near s = 20 (s = 8 at K = 200), so its tasks are
permuted unless neighbours are to share chunks. For the Reed-Solomon code it is enough to permute the points.

[1] Raviv, Tandon, Dimakis, Tamo, Gradient coding from cyclic MDS codes and expander graphs, ICML 2018.
[2] Halbawi, Azizan, Salehi, Hassibi, Improving distributed gradient descent using Reed-Solomon codes, ISIT 2018.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from deadheat.coding.assemble import only
from deadheat.coding.certification import LIMIT, gate
from deadheat.coding.code import Code
from deadheat.coding.cost import Cost
from deadheat.coding.families.cyclic import window_cost
from deadheat.coding.generator_matrices import circle_points, permuted
from deadheat.coding.linear_code import LinearCode
from deadheat.coding.shape import Family, Shape, straggling
from deadheat.model import AnyArray

REMEDY = "take fewer stragglers, or codes.cyclic, whose rows are random"
MOST_STRAGGLERS = 20  # that the tuner tries: beyond, lost tasks may cost too many digits
MOST_NEIGHBOURS = 5  # of them with cyclic MDS in its own order


def cyclic_mds(tasks: int, stragglers: int, *, reuse: bool = False, limit: float = LIMIT) -> LinearCode:
    """N tasks on n chunks, any n - s suffice; real where n - s is odd, else complex.

    reuse: neighbouring tasks have neighbouring chunks, and workers keep their results; else tasks are permuted.
    limit: the gain that lost blocks may cause. Raises IllConditioned beyond.
    """
    n, s = straggling(tasks, stragglers)
    first = (n - s + 1) // 2
    roots = np.exp(2j * np.pi * np.arange(first, first + s) / n)
    shift: AnyArray = np.atleast_1d(np.poly(roots))[::-1]
    if (n - s) % 2:
        shift = shift.real
    rows = np.zeros((n, n), shift.dtype)
    for task in range(n):
        rows[task, (task + np.arange(s + 1)) % n] = shift
    return _checked("cyclic MDS", rows if reuse else rows[permuted(n)], s, reuse, limit)


def reed_solomon(tasks: int, stragglers: int, *, reuse: bool = False, limit: float = LIMIT) -> LinearCode:
    """The same from polynomials at the n-th roots of unity, in permuted order; complex.

    reuse: workers keep chunk results within an iteration, and the cost says so.
    limit: the gain that lost blocks may cause. Raises IllConditioned beyond.
    """
    n, s = straggling(tasks, stragglers)
    points = circle_points(n)
    rows = np.zeros((n, n), complex)
    for task in range(n):
        held = (task + np.arange(s + 1)) % n
        absent = (task + 1 + s + np.arange(n - s - 1)) % n
        logs = np.log(points[held, None] - points[None, absent]).sum(axis=1)  # a product of many numbers
        rows[task, held] = np.exp(logs - logs.real.max())
    return _checked("Reed-Solomon", rows, s, reuse, limit)


def _checked(family: str, rows: AnyArray, stragglers: int, reuse: bool, limit: float) -> LinearCode:
    n = len(rows)
    scaled = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    cost = _cost(n, n - stragglers, np.iscomplexobj(rows), reuse, family == "cyclic MDS" and not reuse)
    least = -(-n // (stragglers + 1))  # fewer do not have all chunks; some sets below K suffice, by symmetry
    code = LinearCode(family, "gradient", scaled, np.ones((1, n)), n - stragglers, cost, least, assemble=only)
    gate(code, limit, REMEDY)
    return code


def _cost(total: int, critical: int, is_complex: bool, reuse: bool, permuted_tasks: bool) -> Cost:
    """That of a cyclic window; a complex result is two real ones, and permuted tasks share no chunks."""
    times = 1 + is_complex
    plain = window_cost(total, critical, 1, reuse)
    more = plain.storage if permuted_tasks else plain.more
    return replace(plain, result=times * plain.result, decode=times**2 * plain.decode, more=more)


def _shapes(
    name: str, make: Callable[..., Code], is_complex: Callable[[int, int], bool], most_with_reuse: int
) -> Callable[[str, int, int], Iterator[Shape]]:
    def shapes(kind: str, critical: int, total: int) -> Iterator[Shape]:
        for reuse in (False, True):
            if total - critical <= (most_with_reuse if reuse else MOST_STRAGGLERS):
                cost = _cost(total, critical, is_complex(critical, total), reuse, name == "cyclic MDS" and not reuse)
                build = partial(make, total, total - critical, reuse=reuse)
                yield Shape(name, kind, critical, total, cost, build, {"reuse": reuse})

    return shapes


CYCLIC_MDS = Family(
    "cyclic MDS",
    ("gradient",),
    "Shifts of one polynomial",
    "Raviv et al. 2018",
    "(s+1)/n",
    "(s+1)K/n",
    "any K = n - s",
    "a lost block costs all digits by s = 20: tasks are permuted, and gated; complex where n - s is even",
    _shapes("cyclic MDS", cyclic_mds, lambda critical, total: critical % 2 == 0 and total > critical, MOST_NEIGHBOURS),
)
REED_SOLOMON = Family(
    "Reed-Solomon",
    ("gradient",),
    "Polynomials at roots of unity",
    "Halbawi et al. 2018",
    "(s+1)/n",
    "(s+1)K/n",
    "any K = n - s",
    "complex, so results are twice as large; permuted points, gated",
    _shapes("Reed-Solomon", reed_solomon, lambda critical, total: True, MOST_STRAGGLERS),
)
