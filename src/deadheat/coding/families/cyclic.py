"""Gradient codes of cyclic windows: task i mixes the gradients of d = s + l neighbouring chunks of n.

With l = 1 this is the cyclic gradient code [1]; with l > 1 the gradient is cut in l parts and results are l times
smaller, for l - 1 more chunks in each task [2]. A worker that keeps the chunk gradients of an iteration pays
kappa + d - 1 of them for kappa neighbouring tasks instead of kappa d (chunk reuse).

[1] Tandon, Lei, Dimakis, Karampatziakis, Gradient coding, ICML 2017.
[2] Ye, Abbe, Communication-computation efficient gradient coding, ICML 2018.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from deadheat.coding.assemble import joined, only
from deadheat.coding.cost import Cost
from deadheat.coding.linear_code import LinearCode
from deadheat.coding.shape import Family, Shape, straggling
from deadheat.coding.windows import window_rows
from deadheat.errors import BadInput, whole

PARTS = (2, 4)  # into which the tuner cuts a gradient


def cyclic(tasks: int, stragglers: int, *, reuse: bool = False, seed: int = 0) -> LinearCode:
    """N tasks on n chunks; any n - s results give the sum of all chunk gradients.

    reuse: workers keep chunk results within an iteration, and the cost says so.
    """
    n, s = straggling(tasks, stragglers)
    rows, target = window_rows(n, n - s, 1, seed)
    return LinearCode("cyclic", "gradient", rows, target, n - s, window_cost(n, n - s, 1, reuse), assemble=only)


def communication_efficient(
    tasks: int, stragglers: int, parts: int = 2, *, reuse: bool = False, seed: int = 0
) -> LinearCode:
    """The same with gradients cut in l parts: a result has 1/l of their length, a task d = s + l chunks."""
    n, s = straggling(tasks, stragglers)
    cut = whole("parts", parts, "give into how many parts a gradient is cut (l)")
    if s + cut > n:
        problem = f"a task would need d = s + parts = {s + cut} of the {n} chunks"
        other = f"{n - cut} stragglers" if n >= cut else f"tasks = {s + cut}"
        raise BadInput("parts", cut, problem, f"take at most {n - s} parts, or {other}")
    rows, target = window_rows(n, n - s, cut, seed)
    cost = window_cost(n, n - s, cut, reuse)
    return LinearCode("communication-efficient", "gradient", rows, target, n - s, cost, parts=cut, assemble=joined)


def window_cost(total: int, critical: int, parts: int, reuse: bool) -> Cost:
    """A task is d = n - K + l chunks of n; with reuse it is one chunk, after the d - 1 that it shares with the next."""
    d = total - critical + parts
    work, shared_chunks = (1 / total, d - 1) if reuse else (d / total, 0)
    return Cost(work, d / total, result=1 / parts, decode=critical, mix=d, shared_chunks=shared_chunks, more=1 / total)


def _shapes(kind: str, critical: int, total: int) -> Iterator[Shape]:
    for reuse in (False, True):
        cost = window_cost(total, critical, 1, reuse)
        build = partial(cyclic, total, total - critical, reuse=reuse)
        yield Shape("cyclic", kind, critical, total, cost, build, {"reuse": reuse})


def _cut_shapes(kind: str, critical: int, total: int) -> Iterator[Shape]:
    for parts in PARTS:
        if parts <= critical:
            for reuse in (False, True):
                cost = window_cost(total, critical, parts, reuse)
                build = partial(communication_efficient, total, total - critical, parts, reuse=reuse)
                settings = {"parts": parts, "reuse": reuse}
                yield Shape("communication-efficient", kind, critical, total, cost, build, settings)


CYCLIC = Family(
    "cyclic",
    ("gradient",),
    "Cyclic gradient code",
    "Tandon et al. 2017",
    "(s+1)/n",
    "(s+1)K/n",
    "any K = n - s",
    "random windows, safe in double precision; with reuse kappa + s chunks for kappa tasks",
    _shapes,
)
CUT = Family(
    "communication-efficient",
    ("gradient",),
    "Gradients cut in l parts",
    "Ye and Abbe 2018",
    "(s+l)/n",
    "(s+l)K/n",
    "any K = n - s",
    "results l times smaller",
    _cut_shapes,
)
