"""Approximate gradients: each task adds up chunks chosen at random, and the master does the best it can.

From the results at hand it takes the combination nearest to the sum of all chunks, in least squares; how far that is
off, as a part of the all-one vector, is the recipe's residual. Fewer chunks per task than an exact code needs.

Charles, Papailiopoulos, Ellenberg, Approximate gradient coding via sparse random graphs, 2017 (Bernoulli); the same
decoding serves the expander graphs of Raviv et al. 2018, for which random regular rows stand in here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from deadheat.coding.assemble import only
from deadheat.coding.cost import Cost
from deadheat.coding.linear_code import LinearCode
from deadheat.coding.shape import Family, Shape, sizes
from deadheat.errors import BadInput, whole


def bernoulli(
    critical: int, total: int, degree: int | None = None, *, regular: bool = True, seed: int = 0
) -> LinearCode:
    """N tasks on n chunks, each of about `degree` chunks; the gradient is estimated from any K results.

    degree: chunks per task, by default log(n) rounded up, enough that no chunk is left out.
    regular: every task has `degree` chunks and every chunk is in `degree` tasks (expander-like), else each chunk is in
    each task with probability degree/n (Bernoulli).
    """
    needed, n = sizes(critical, total)
    d = _degree(n) if degree is None else whole("degree", degree, "give the chunks per task (d)")
    if d > n:
        raise BadInput("degree", d, f"more than the m = {n} chunks there are", f"take at most {n}")
    rng = np.random.default_rng(seed)
    if regular:  # circulants of random strides keep both sums
        steps = rng.choice(n, d, replace=False)
        places = rng.permutation(n)
        rows = np.zeros((n, n))
        for task in range(n):
            rows[task, places[(task + steps) % n]] = 1.0
    else:
        rows = (rng.random((n, n)) < d / n).astype(float)
        rows[np.flatnonzero(rows.sum(axis=1) == 0), 0] = 1.0
    target = np.ones((1, n))
    return LinearCode("bernoulli", "gradient", rows, target, needed, _cost(n, needed, d), exact=False, assemble=only)


def _degree(chunks: int) -> int:
    return max(min(math.ceil(math.log(chunks)), chunks), 1)


def _cost(total: int, critical: int, degree: int) -> Cost:
    return Cost(degree / total, degree / total, decode=critical, mix=degree, more=degree / total)


def _shapes(kind: str, critical: int, total: int) -> Iterator[Shape]:
    if critical < total:
        d = _degree(total)
        cost = _cost(total, critical, d)
        yield Shape("bernoulli", kind, critical, total, cost, partial(bernoulli, critical, total, d), exact=False)


FAMILY = Family(
    "bernoulli",
    ("gradient",),
    "Random sums of chunks",
    "Charles et al. 2017; Raviv et al. 2018",
    "d/n",
    "dK/n",
    "any K, with an error",
    "approximate: the error is the recipe's residual",
    _shapes,
)
