"""Uncoded: every task is a part of the plain work, and all are needed. What each code has to beat."""

from functools import partial

from deadheat.coding.coverage_code import COVERED, CoverageCode, copies, part_cost
from deadheat.coding.shape import Family, Shape, Shapes
from deadheat.errors import whole


def uncoded(parts: int, kind: str = "gradient") -> CoverageCode:
    """K tasks of 1/K of the work each; all K results are needed, and they are added or put side by side.

    kind: "gradient" (chunks of samples), "linear" (blocks of rows) or "product" (a grid of blocks, as square as K is).
    """
    return copies("uncoded", kind, whole("parts", parts, "give the number of tasks (K)"), 1)


def _shapes(kind: str, critical: int, total: int) -> Shapes:
    if critical == total:
        yield Shape("uncoded", kind, total, total, part_cost(kind, total), partial(uncoded, total, kind))


FAMILY = Family("uncoded", COVERED, title="Parts of the plain work", work="1/K", factor="1", enough="all n = K",
                notes="what a code has to beat", shapes=_shapes)  # fmt: skip
