"""Approximate gradients: each task adds up chunks chosen at random, and the master does the best it can.

From the results at hand it takes the combination nearest to the sum of all chunks, in least squares; how far that is
off, as a part of the all-one vector, is the recipe's residual. A task needs fewer chunks than in an exact code.

Charles, Papailiopoulos, Ellenberg, Approximate gradient coding via sparse random graphs, 2017 (Bernoulli); the same
decoding serves the expander graphs of Raviv et al. 2018, for which random regular rows stand in here.
"""

import math
from functools import partial

import numpy as np

from deadheat.coding.cost import Cost
from deadheat.coding.linear_code import LinearCode, gradient_code
from deadheat.coding.shape import Family, Shape, Shapes, sizes
from deadheat.errors import BadInput, whole


def bernoulli(
    critical: int, total: int, degree: int | None = None, *, regular: bool = True, seed: int = 0
) -> LinearCode:
    """There are n tasks on n chunks, each of about `degree` chunks; any K results give an estimate of the gradient.

    degree: chunks per task, by default log(n) rounded up, enough that no chunk is left out.
    regular: every task has `degree` chunks and every chunk is in `degree` tasks (expander-like), else each chunk is in
    each task with probability degree/n (Bernoulli).
    """
    K, n = sizes(critical, total)
    d = whole("degree", _degree(n) if degree is None else degree, "give the chunks per task (d)")
    if d > n:
        raise BadInput("degree", d, f"more than the m = {n} chunks there are", f"take at most {n}")
    rng = np.random.default_rng(seed)
    if regular:  # circulants of random strides keep both sums
        rows, tasks, steps = np.zeros((n, n)), np.arange(n)[:, None], rng.choice(n, d, replace=False)
        rows[tasks, rng.permutation(n)[(tasks + steps) % n]] = 1.0
    else:
        rows = (rng.random((n, n)) < d / n).astype(float)
        rows[np.flatnonzero(rows.sum(axis=1) == 0), 0] = 1.0
    return gradient_code("bernoulli", rows, K, _cost(n, K, d), exact=False)


def _degree(chunks: int) -> int:
    return max(math.ceil(math.log(chunks)), 1)


def _cost(total: int, critical: int, degree: int) -> Cost:
    return Cost(degree / total, degree / total, decode=critical, mix=degree, more=degree / total)


def _shapes(kind: str, critical: int, total: int) -> Shapes:
    if critical < total:
        cost = _cost(total, critical, _degree(total))
        yield Shape("bernoulli", kind, critical, total, cost, partial(bernoulli, critical, total), exact=False)


FAMILY = Family("bernoulli", ("gradient",), title="Random sums of chunks", work="d/n", factor="dK/n", shapes=_shapes,
                source="Charles et al. 2017; Raviv et al. 2018", enough="any K, with an error",
                notes="approximate: the error is the recipe's residual")  # fmt: skip
