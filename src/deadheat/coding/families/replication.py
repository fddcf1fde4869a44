"""Replication: each part of the data is with several workers, and the first to finish it counts."""

from functools import partial

from deadheat.coding.coverage_code import COVERED, CoverageCode, copies, part_cost
from deadheat.coding.shape import Family, Shape, Shapes
from deadheat.errors import whole


def replication(parts: int, times: int, kind: str = "gradient") -> CoverageCode:
    """Every one of `parts` tasks `times` times; an iteration ends when each part is there once."""
    count = whole("parts", parts, "give the number of parts")
    return copies("replication", kind, count, whole("times", times, "give how often each part is computed"))


def _shapes(kind: str, critical: int, total: int) -> Shapes:
    times, rest = divmod(total, critical)  # copies of K parts: K is the fewest results that can do
    if times > 1 and not rest:
        build = partial(replication, critical, times, kind)
        yield Shape("replication", kind, critical, total, cost=part_cost(kind, critical), build=build,
                    settings={"copies": times}, any_critical=False)  # fmt: skip


FAMILY = Family("replication", COVERED, title="Copies of every part", work="1/K (K parts)", factor="1 to 1 + (n-K)/K",
                enough="each part once", shapes=_shapes,
                notes="stops on coverage; n/K copies of each part")  # fmt: skip
