"""Fractional repetition: replication seen from the number of stragglers s, n tasks in groups of s + 1 copies.

Tandon, Lei, Dimakis, Karampatziakis, Gradient coding, ICML 2017, section 3.1.
"""

from functools import partial

from deadheat.coding.coverage_code import COVERED, CoverageCode, copies, part_cost
from deadheat.coding.shape import Family, Shape, Shapes, straggling
from deadheat.errors import BadInput


def fractional_repetition(tasks: int, stragglers: int, kind: str = "gradient") -> CoverageCode:
    """The n tasks are n/(s+1) groups of s + 1 copies: any n - s results suffice, often fewer do."""
    n, s = straggling(tasks, stragglers)
    if n % (s + 1):
        fits = min((d - 1 for d in range(1, n + 1) if n % d == 0), key=lambda other: (abs(other - s), other))
        low = n // (s + 1) * (s + 1)
        remedy = f"take stragglers = {fits}, or tasks = {low} or {low + s + 1}"
        raise BadInput("stragglers", s, f"s + 1 = {s + 1} does not divide the {n} tasks", remedy)
    return copies("fractional repetition", kind, n // (s + 1), s + 1)


def _shapes(kind: str, critical: int, total: int) -> Shapes:
    times = total - critical + 1
    parts = max(round(total / times), 2)
    n = parts * times
    if times > 1:
        yield Shape("fractional repetition", kind, n - times + 1, n, cost=part_cost(kind, parts),
                    build=partial(fractional_repetition, n, times - 1, kind), settings={"stragglers": times - 1},
                    any_critical=False, least=parts)  # fmt: skip


FAMILY = Family("fractional repetition", COVERED, title="Groups of s + 1 copies", source="Tandon et al. 2017",
                work="(s+1)/n", factor="up to (s+1)K/n", enough="any K = n - s; often fewer", shapes=_shapes,
                notes="stops on coverage; all weights are 1; s + 1 must divide n")  # fmt: skip
