"""What is on offer and what it costs: one line per family, from the families themselves."""

from __future__ import annotations

from collections.abc import Mapping

from deadheat.coding.families import (
    bernoulli,
    cyclic,
    cyclic_mds,
    entangled,
    fft,
    lagrange,
    ldpc,
    lt,
    matdot,
    mds,
    paper_preset,
    polydot,
    polynomial,
    product,
    replication,
    short_dot,
    uncoded,
)
from deadheat.coding.shape import Family
from deadheat.errors import BadInput, nearest

FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        uncoded.FAMILY,
        replication.REPLICATION,
        replication.FRACTIONAL,
        cyclic.CYCLIC,
        cyclic.CUT,
        cyclic_mds.CYCLIC_MDS,
        cyclic_mds.REED_SOLOMON,
        bernoulli.FAMILY,
        paper_preset.FAMILY,
        mds.FAMILY,
        short_dot.FAMILY,
        lt.FAMILY,
        ldpc.FAMILY,
        product.FAMILY,
        polynomial.FAMILY,
        matdot.FAMILY,
        polydot.FAMILY,
        entangled.FAMILY,
        lagrange.FAMILY,
        fft.FAMILY,
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
