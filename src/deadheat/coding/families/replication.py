"""Copies: each part of the data is with several workers, and the first to finish it counts.

Fractional repetition [1] is the same seen from the number of stragglers s: n tasks in groups of s + 1 copies.

[1] Tandon, Lei, Dimakis, Karampatziakis, Gradient coding, ICML 2017, section 3.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from deadheat.coding.coverage_code import CoverageCode
from deadheat.coding.families.uncoded import KINDS, copies, part_cost
from deadheat.coding.shape import Family, Shape, straggling
from deadheat.errors import BadInput, nearest, whole


def replication(parts: int, times: int, kind: str = "gradient") -> CoverageCode:
    """Every one of `parts` tasks `times` times; an iteration ends when each part is there once."""
    count = whole("parts", parts, "give the number of parts")
    each = whole("times", times, "give how often each part is computed")
    if kind not in KINDS:
        raise BadInput("kind", kind, "no such kind of work", nearest(str(kind), KINDS))
    return copies("replication", kind, count, each)


def fractional_repetition(tasks: int, stragglers: int, kind: str = "gradient") -> CoverageCode:
    """N tasks in n/(s+1) groups of s + 1 copies: any n - s results suffice, often fewer do."""
    n, s = straggling(tasks, stragglers)
    if kind not in KINDS:
        raise BadInput("kind", kind, "no such kind of work", nearest(str(kind), KINDS))
    if n % (s + 1):
        fits = min((d - 1 for d in range(1, n + 1) if n % d == 0), key=lambda other: (abs(other - s), other))
        low = n // (s + 1) * (s + 1)
        raise BadInput(
            "stragglers",
            s,
            f"s + 1 = {s + 1} does not divide the {n} tasks",
            f"take stragglers = {fits}, or tasks = {low} or {low + s + 1}",
        )
    return copies("fractional repetition", kind, n // (s + 1), s + 1)


def _replicated(kind: str, critical: int, total: int) -> Iterator[Shape]:
    """K parts, n/K copies of each: `critical` is the fewest results that can do."""
    times, rest = divmod(total, critical)
    if times > 1 and not rest:
        build = partial(replication, critical, times, kind)
        yield Shape(
            "replication",
            kind,
            critical,
            total,
            part_cost(kind, critical),
            build,
            {"copies": times},
            any_critical=False,
        )


def _repeated(kind: str, critical: int, total: int) -> Iterator[Shape]:
    times = total - critical + 1
    n = max(round(total / times), 2) * times
    if times > 1:
        build = partial(fractional_repetition, n, times - 1, kind)
        yield Shape(
            "fractional repetition",
            kind,
            n - times + 1,
            n,
            part_cost(kind, n // times),
            build,
            {"stragglers": times - 1},
            any_critical=False,
            least=n // times,
        )


REPLICATION = Family(
    "replication",
    KINDS,
    "Copies of every part",
    "",
    "1/K (K parts)",
    "1 to 1 + (n-K)/K",
    "each part once",
    "stops on coverage; n/K copies of each part",
    _replicated,
)
FRACTIONAL = Family(
    "fractional repetition",
    KINDS,
    "Groups of s + 1 copies",
    "Tandon et al. 2017",
    "(s+1)/n",
    "up to (s+1)K/n",
    "any K = n - s; often fewer",
    "stops on coverage; all weights are 1; s + 1 must divide n",
    _repeated,
)
