"""The Reed-Solomon gradient code: a row is the polynomial of degree K - 1 that vanishes at the chunks it does not have.

The points of the chunks are the n-th roots of unity in permuted order, so that lost neighbours lie far apart.

Halbawi, Azizan, Salehi, Hassibi, Improving distributed gradient descent using Reed-Solomon codes, ISIT 2018.
"""

from functools import partial

import numpy as np

from deadheat.coding.certification import LIMIT
from deadheat.coding.cyclic_windows import gated, window_cost, window_shapes
from deadheat.coding.generator_matrices import circle_points
from deadheat.coding.linear_code import LinearCode
from deadheat.coding.shape import Family, straggling

MOST = (20, 20)  # stragglers that the tuner tries without and with reuse: the gate refuses more (test_certificates.py)
_cost = partial(window_cost, is_complex=True)


def reed_solomon(tasks: int, stragglers: int, *, reuse: bool = False, limit: float = LIMIT) -> LinearCode:
    """There are n tasks on n chunks, any n - s suffice; complex.

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
    return gated("Reed-Solomon", rows, limit, _cost(n, n - s, reuse), s)


FAMILY = Family("Reed-Solomon", ("gradient",), title="Polynomials at roots of unity", source="Halbawi et al. 2018",
                work="(s+1)/n", factor="(s+1)K/n", enough="any K = n - s",
                notes="complex, so results are twice as large; permuted points, gated",
                shapes=partial(window_shapes, "Reed-Solomon", reed_solomon, _cost, MOST))  # fmt: skip
