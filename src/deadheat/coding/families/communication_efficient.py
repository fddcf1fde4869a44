"""The communication-efficient gradient code: gradients are cut in l parts, and a result is l times smaller.

Each task mixes d = s + l neighbouring chunks, l - 1 more than in the cyclic code.

Ye, Abbe, Communication-computation efficient gradient coding, ICML 2018.
"""

from functools import partial
from itertools import product

import numpy as np

from deadheat.coding.cyclic_windows import window_cost, window_rows
from deadheat.coding.linear_code import LinearCode
from deadheat.coding.shape import Family, Shape, Shapes, straggling
from deadheat.errors import BadInput, whole

PARTS = (2, 4)  # into which the tuner cuts a gradient


def communication_efficient(
    tasks: int, stragglers: int, parts: int = 2, *, reuse: bool = False, seed: int = 0
) -> LinearCode:
    """There are n tasks on n chunks; any n - s results, each 1/l as long as a gradient, give the sum of all gradients.

    parts: l; a task needs d = s + l chunks. reuse: workers keep chunk results within an iteration.
    """
    n, s = straggling(tasks, stragglers)
    cut = whole("parts", parts, "give into how many parts a gradient is cut (l)")
    if s + cut > n:
        problem = f"a task would need d = s + parts = {s + cut} of the {n} chunks"
        other = f"{n - cut} stragglers" if n >= cut else f"tasks = {s + cut}"
        raise BadInput("parts", cut, problem, f"take at most {n - s} parts, or {other}")
    rows, target = window_rows(n, n - s, cut, seed)
    return LinearCode("communication-efficient", "gradient", rows=rows, target=target, critical=n - s, parts=cut,
                      cost=window_cost(n, n - s, reuse, parts=cut), assemble=np.ravel)  # fmt: skip


def _shapes(kind: str, critical: int, total: int) -> Shapes:
    for parts, reuse in product(PARTS, (False, True)):
        if parts <= critical:
            build = partial(communication_efficient, total, total - critical, parts, reuse=reuse)
            cost = window_cost(total, critical, reuse, parts=parts)
            yield Shape("communication-efficient", kind, critical, total, cost, build, {"parts": parts, "reuse": reuse})


FAMILY = Family("communication-efficient", ("gradient",), title="Gradients cut in l parts", source="Ye and Abbe 2018",
                work="(s+l)/n", factor="(s+l)K/n", enough="any K = n - s", notes="results l times smaller",
                shapes=_shapes)  # fmt: skip
