"""The constructors by name, `deadheat.codes.cyclic(55, 5)`, and `register` for families of your own."""

from deadheat.coding.catalogue import register
from deadheat.coding.families.bernoulli import bernoulli
from deadheat.coding.families.communication_efficient import communication_efficient
from deadheat.coding.families.cyclic import cyclic
from deadheat.coding.families.cyclic_mds import cyclic_mds
from deadheat.coding.families.entangled import entangled
from deadheat.coding.families.fft import fft
from deadheat.coding.families.fractional_repetition import fractional_repetition
from deadheat.coding.families.lagrange import lagrange
from deadheat.coding.families.ldpc import ldpc
from deadheat.coding.families.lt import lt
from deadheat.coding.families.matdot import matdot
from deadheat.coding.families.mds import mds
from deadheat.coding.families.paper_preset import paper_example, paper_preset
from deadheat.coding.families.polydot import polydot
from deadheat.coding.families.polynomial import polynomial
from deadheat.coding.families.product import product
from deadheat.coding.families.reed_solomon import reed_solomon
from deadheat.coding.families.replication import replication
from deadheat.coding.families.short_dot import short_dot
from deadheat.coding.families.uncoded import uncoded

__all__ = [
    "bernoulli", "communication_efficient", "cyclic", "cyclic_mds", "entangled", "fft", "fractional_repetition",
    "lagrange", "ldpc", "lt", "matdot", "mds", "paper_example", "paper_preset", "polydot", "polynomial", "product",
    "reed_solomon", "register", "replication", "short_dot", "uncoded",
]  # fmt: skip
