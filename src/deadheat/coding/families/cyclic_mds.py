"""The cyclic MDS gradient code: rows are the shifts of one polynomial of degree s.

It vanishes at s neighbouring n-th roots of unity; the all-one vector is in the code because 1 is not among them. The
roots can be chosen in conjugate pairs, so that the code is real, where n - s is odd. A block of lost neighbours costs
many digits, so tasks are permuted unless neighbours are to share chunks.

Raviv, Tandon, Dimakis, Tamo, Gradient coding from cyclic MDS codes and expander graphs, ICML 2018.
"""

from functools import partial

import numpy as np

from deadheat.coding.certification import LIMIT
from deadheat.coding.cost import Cost
from deadheat.coding.cyclic_windows import gated, window_cost, window_shapes
from deadheat.coding.generator_matrices import permuted
from deadheat.coding.linear_code import LinearCode
from deadheat.coding.shape import Family, straggling
from deadheat.model import AnyArray

MOST = (20, 5)  # stragglers that the tuner tries without and with reuse: the gate refuses more (test_certificates.py)


def cyclic_mds(tasks: int, stragglers: int, *, reuse: bool = False, limit: float = LIMIT) -> LinearCode:
    """There are n tasks on n chunks, any n - s suffice; real where n - s is odd, else complex.

    reuse: neighbouring tasks have neighbouring chunks, and workers keep their results; else tasks are permuted.
    limit: the gain that lost blocks may cause. Raises IllConditioned beyond.
    """
    n, s = straggling(tasks, stragglers)
    first = (n - s + 1) // 2
    roots = np.exp(2j * np.pi * np.arange(first, first + s) / n)
    shift: AnyArray = np.atleast_1d(np.poly(roots))[::-1]
    shift = shift.real if (n - s) % 2 else shift
    rows = np.zeros((n, n), shift.dtype)
    for task in range(n):
        rows[task, (task + np.arange(s + 1)) % n] = shift
    return gated("cyclic MDS", rows if reuse else rows[permuted(n)], limit, _cost(n, n - s, reuse), s)


def _cost(total: int, critical: int, reuse: bool) -> Cost:
    is_complex = critical % 2 == 0 and total > critical
    return window_cost(total, critical, reuse, is_complex=is_complex, permuted=not reuse)


FAMILY = Family("cyclic MDS", ("gradient",), title="Shifts of one polynomial", source="Raviv et al. 2018",
                work="(s+1)/n", factor="(s+1)K/n", enough="any K = n - s",
                notes="lost neighbours cost digits: tasks are permuted, and gated; complex where n - s is even",
                shapes=partial(window_shapes, "cyclic MDS", cyclic_mds, _cost, MOST))  # fmt: skip
