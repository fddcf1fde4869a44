"""The cyclic gradient code: task i mixes the gradients of d = s + 1 neighbouring chunks of n.

A worker that keeps the chunk gradients of an iteration pays kappa + d - 1 of them for kappa neighbouring tasks instead
of kappa d (chunk reuse).

Tandon, Lei, Dimakis, Karampatziakis, Gradient coding, ICML 2017.
"""

from functools import partial
from math import inf

from deadheat.coding.cyclic_windows import window_cost, window_rows, window_shapes
from deadheat.coding.linear_code import LinearCode, gradient_code
from deadheat.coding.shape import Family, straggling


def cyclic(tasks: int, stragglers: int, *, reuse: bool = False, seed: int = 0) -> LinearCode:
    """There are n tasks on n chunks; any n - s results give the sum of all chunk gradients.

    reuse: workers keep chunk results within an iteration, and the cost says so.
    """
    n, s = straggling(tasks, stragglers)
    return gradient_code("cyclic", window_rows(n, n - s, 1, seed)[0], n - s, window_cost(n, n - s, reuse))


FAMILY = Family("cyclic", ("gradient",), title="Cyclic gradient code", source="Tandon et al. 2017", work="(s+1)/n",
                factor="(s+1)K/n", enough="any K = n - s",
                notes="random windows, safe in double precision; with reuse kappa + s chunks for kappa tasks",
                shapes=partial(window_shapes, "cyclic", cyclic, window_cost, (inf, inf)))  # fmt: skip
