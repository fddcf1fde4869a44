"""What is on offer and what it costs: one line per family, from the families themselves."""

from __future__ import annotations

from collections.abc import Mapping

from deadheat.coding.families import (
    approximate_gradients,
    coded_fourier,
    cyclic_windows,
    entangled_blocks,
    fountains,
    lagrange_points,
    matdot_blocks,
    mds_blocks,
    paper_codes,
    polydot_blocks,
    polynomial_blocks,
    product_grids,
    repetition,
    roots_of_unity,
    short_dots,
    sparse_checks,
    uncoded_parts,
)
from deadheat.coding.shapes import Family
from deadheat.errors import BadInput, nearest

FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        uncoded_parts.FAMILY,
        repetition.REPLICATION,
        repetition.FRACTIONAL,
        cyclic_windows.CYCLIC,
        cyclic_windows.CUT,
        roots_of_unity.CYCLIC_MDS,
        roots_of_unity.REED_SOLOMON,
        approximate_gradients.FAMILY,
        paper_codes.FAMILY,
        mds_blocks.FAMILY,
        short_dots.FAMILY,
        fountains.FAMILY,
        sparse_checks.FAMILY,
        product_grids.FAMILY,
        polynomial_blocks.FAMILY,
        matdot_blocks.FAMILY,
        polydot_blocks.FAMILY,
        entangled_blocks.FAMILY,
        lagrange_points.FAMILY,
        coded_fourier.FAMILY,
    )
}
WAITING = {  # known, and not built yet
    "learned codes": "Kosaian et al. 2018: neural networks as parities, approximate",
    "secure (GASP)": "D'Oliveira et al. 2020: polynomial codes that hide the matrices from the workers",
}


def family(name: object) -> Family:
    """The family of that name, or BadInput with the nearest one."""
    if not isinstance(name, str) or name not in FAMILIES:
        raise BadInput("family", name, "no such family of codes", nearest(str(name), FAMILIES))
    return FAMILIES[name]
