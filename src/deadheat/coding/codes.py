"""The constructors by name: `deadheat.codes.cyclic(55, 5)`."""

from deadheat.coding.families.approximate_gradients import bernoulli
from deadheat.coding.families.coded_fourier import fft
from deadheat.coding.families.cyclic_windows import communication_efficient, cyclic
from deadheat.coding.families.entangled_blocks import entangled
from deadheat.coding.families.fountains import lt
from deadheat.coding.families.lagrange_points import lagrange
from deadheat.coding.families.matdot_blocks import matdot
from deadheat.coding.families.mds_blocks import mds
from deadheat.coding.families.paper_codes import paper_example, paper_preset
from deadheat.coding.families.polydot_blocks import polydot
from deadheat.coding.families.polynomial_blocks import polynomial
from deadheat.coding.families.product_grids import product
from deadheat.coding.families.repetition import fractional_repetition, replication
from deadheat.coding.families.roots_of_unity import cyclic_mds, reed_solomon
from deadheat.coding.families.short_dots import short_dot
from deadheat.coding.families.sparse_checks import ldpc
from deadheat.coding.families.uncoded_parts import uncoded

__all__ = [
    "bernoulli", "communication_efficient", "cyclic", "cyclic_mds", "entangled", "fft", "fractional_repetition",
    "lagrange", "ldpc", "lt", "matdot", "mds", "paper_example", "paper_preset", "polydot", "polynomial", "product",
    "reed_solomon", "replication", "short_dot", "uncoded",
]  # fmt: skip
