"""The families of codes by name: those of deadheat, registered ones, and those of installed packages."""

from deadheat.coding.families import (  # isort: skip
    bernoulli, communication_efficient, cyclic, cyclic_mds, entangled, fft, fractional_repetition, lagrange, ldpc, lt,
    matdot, mds, paper_preset, polydot, polynomial, product, reed_solomon, replication, short_dot, uncoded,
)  # fmt: skip
from deadheat.coding.shape import KINDS, Family
from deadheat.errors import BadInput, nearest
from deadheat.model import Registry

BUILT_IN = (
    uncoded, replication, fractional_repetition, cyclic, communication_efficient, cyclic_mds, reed_solomon, bernoulli,
    paper_preset, mds, short_dot, lt, ldpc, product, polynomial, matdot, polydot, entangled, lagrange, fft,
)  # fmt: skip
FAMILIES: Registry[Family] = Registry(
    what="family of codes", field="family", group="deadheat.codes", builtin={m.FAMILY.name: m.FAMILY for m in BUILT_IN}
)
WAITING = {  # known, and not built yet
    "learned codes": "Kosaian et al. 2018: neural networks as parities, approximate",
    "secure (GASP)": "D'Oliveira et al. 2020: polynomial codes that hide the matrices from the workers",
}


def family(name: object) -> Family:
    """The family of that name, or BadInput with the nearest one."""
    return FAMILIES.find(name)


def register(family: Family) -> None:
    """Make a family of codes known under its name: to `tune`, to scenario files and to the command line.

    A package does the same by an entry point of the group `deadheat.codes`, which names the Family. Raises BadInput
    where it is no family, where its kind of work is not known, and where the name is taken.
    """
    if not isinstance(family, Family):
        raise BadInput("family", family, "not a family of codes", "give a deadheat.coding.Family")
    for kind in family.kinds:
        if kind not in KINDS:
            raise BadInput("kinds", family.kinds, f"no such kind of work as {kind!r}", nearest(str(kind), KINDS))
    FAMILIES.register(family.name, family)
