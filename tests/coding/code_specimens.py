"""One specimen and more of every family: small ones for every subset, K about 50, and K about 200. Built once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from deadheat.coding import Code, codes

Build = Callable[[], Code]

MIXED: dict[str, Build] = {  # at most 12 tasks, which mix the results of chunks
    "uncoded": lambda: codes.uncoded(5),
    "replication": lambda: codes.replication(3, 3),
    "fractional": lambda: codes.fractional_repetition(9, 2),
    "cyclic": lambda: codes.cyclic(7, 2),
    "cyclic, 12 tasks": lambda: codes.cyclic(12, 5),
    "cyclic, none missing": lambda: codes.cyclic(4, 0),
    "cyclic, one suffices": lambda: codes.cyclic(5, 4),
    "cyclic with reuse": lambda: codes.cyclic(8, 3, reuse=True),
    "cut in 2": lambda: codes.communication_efficient(8, 3, 2),
    "cut in 4": lambda: codes.communication_efficient(6, 2, 4),
    "cut, one part": lambda: codes.communication_efficient(5, 2, 1),
    "cyclic MDS": lambda: codes.cyclic_mds(7, 2),
    "cyclic MDS, complex": lambda: codes.cyclic_mds(7, 3),
    "cyclic MDS, 4 of 6": lambda: codes.cyclic_mds(6, 2),
    "cyclic MDS, 5 of 8": lambda: codes.cyclic_mds(8, 3),
    "cyclic MDS, 12 tasks": lambda: codes.cyclic_mds(12, 5),
    "Reed-Solomon": lambda: codes.reed_solomon(8, 3),
    "Reed-Solomon, 10 tasks": lambda: codes.reed_solomon(10, 5),
    "Reed-Solomon, 12 tasks": lambda: codes.reed_solomon(12, 4),
    "paper example": codes.paper_example,
}
CODED: dict[str, Build] = {  # at most 12 tasks, which work on coded blocks
    "uncoded linear": lambda: codes.uncoded(4, "linear"),
    "uncoded product": lambda: codes.uncoded(6, "product"),
    "replication linear": lambda: codes.replication(2, 4, "linear"),
    "replication product": lambda: codes.replication(4, 2, "product"),
    "fractional linear": lambda: codes.fractional_repetition(8, 3, "linear"),
    "fractional product": lambda: codes.fractional_repetition(8, 1, "product"),
    "mds": lambda: codes.mds(5, 9),
    "mds, 12 tasks": lambda: codes.mds(6, 12),
    "mds, no parity": lambda: codes.mds(4, 4),
    "mds, one block": lambda: codes.mds(1, 3),
    "mds vandermonde": lambda: codes.mds(5, 8, "vandermonde"),
    "mds chebyshev": lambda: codes.mds(5, 9, "chebyshev"),
    "mds circle": lambda: codes.mds(4, 8, "circle"),
    "short-dot": lambda: codes.short_dot(5, 8, 2),
    "short-dot, one row": lambda: codes.short_dot(5, 8, 1),
    "short-dot, full rows": lambda: codes.short_dot(4, 7, 4),
    "lt": lambda: codes.lt(5, 10),
    "lt, 4 blocks": lambda: codes.lt(4, 8, seed=3),
    "ldpc": lambda: codes.ldpc(5, 10),
    "ldpc, 12 tasks": lambda: codes.ldpc(8, 12, 2),
    "ldpc, no parity": lambda: codes.ldpc(3, 3),
    "ldpc, more checks than blocks": lambda: codes.ldpc(2, 6, 1),
    "ldpc, a parity that cancels": lambda: codes.ldpc(2, 4, 2),
    "product": lambda: codes.product(2),
    "product, one block": lambda: codes.product(1),
    "product linear": lambda: codes.product(2, 2, "linear"),
    "product, a cube": lambda: codes.product(1, 3, "linear"),
    "polynomial": lambda: codes.polynomial(2, 3, 9),
    "polynomial, a column": lambda: codes.polynomial(4, 1, 7),
    "matdot": lambda: codes.matdot(3, 8),
    "matdot, whole": lambda: codes.matdot(1, 3),
    "polydot": lambda: codes.polydot(2, 1, 6),
    "polydot, outer": lambda: codes.polydot(1, 2, 7),
    "polydot, both": lambda: codes.polydot(2, 2, 12),
    "entangled": lambda: codes.entangled(2, 2, 1, 8),
    "entangled, 12 tasks": lambda: codes.entangled(2, 2, 2, 12),
    "entangled circle": lambda: codes.entangled(2, 1, 2, 8, "circle"),
    "lagrange": lambda: codes.lagrange(3, 2, 9),
    "lagrange, 12 tasks": lambda: codes.lagrange(4, 2, 12),
    "lagrange, degree 4": lambda: codes.lagrange(2, 4, 9),
    "lagrange, linear": lambda: codes.lagrange(4, 1, 8),
    "lagrange, one block": lambda: codes.lagrange(1, 3, 4),
    "fft": lambda: codes.fft(4, 8),
}
SMALL = {**MIXED, **CODED}
MIDDLE: dict[str, Build] = {  # K about 50
    "uncoded": lambda: codes.uncoded(50),
    "replication": lambda: codes.replication(25, 3),
    "fractional": lambda: codes.fractional_repetition(54, 5),
    "fractional product": lambda: codes.fractional_repetition(56, 6, "product"),
    "cyclic": lambda: codes.cyclic(55, 5),
    "cyclic, 20 missing": lambda: codes.cyclic(70, 20),
    "cut in 4": lambda: codes.communication_efficient(55, 5, 4),
    "cyclic MDS": lambda: codes.cyclic_mds(56, 5),
    "Reed-Solomon": lambda: codes.reed_solomon(55, 5),
    "paper preset": codes.paper_preset,
    "mds": lambda: codes.mds(50, 60),
    "mds chebyshev": lambda: codes.mds(50, 55, "chebyshev"),
    "mds circle": lambda: codes.mds(50, 55, "circle"),
    "short-dot": lambda: codes.short_dot(50, 55, 10),
    "lt": lambda: codes.lt(50, 100),
    "ldpc": lambda: codes.ldpc(50, 75),
    "product": lambda: codes.product(7),
    "product linear": lambda: codes.product(7, 2, "linear"),
    "product, a cube": lambda: codes.product(4, 3, "linear"),
    "polynomial": lambda: codes.polynomial(5, 10, 60),
    "matdot": lambda: codes.matdot(25, 53),
    "polydot": lambda: codes.polydot(6, 2, 49),
    "entangled": lambda: codes.entangled(4, 3, 4, 55),
    "lagrange": lambda: codes.lagrange(25, 2, 52),
    "fft": lambda: codes.fft(50, 60),
}
LARGE: dict[str, Build] = {  # K about 200
    "uncoded": lambda: codes.uncoded(200, "product"),
    "replication": lambda: codes.replication(100, 2, "linear"),
    "fractional": lambda: codes.fractional_repetition(210, 9),
    "cyclic": lambda: codes.cyclic(210, 10),
    "cut in 2": lambda: codes.communication_efficient(210, 10, 2),
    "cyclic MDS": lambda: codes.cyclic_mds(206, 5),
    "Reed-Solomon": lambda: codes.reed_solomon(210, 10),
    "mds": lambda: codes.mds(200, 220),
    "short-dot": lambda: codes.short_dot(200, 210, 5),
    "lt": lambda: codes.lt(200, 280),
    "ldpc": lambda: codes.ldpc(200, 240),
    "product": lambda: codes.product(14),
    "polynomial": lambda: codes.polynomial(10, 20, 220),
    "matdot": lambda: codes.matdot(100, 203),
    "polydot": lambda: codes.polydot(25, 2, 200),
    "entangled": lambda: codes.entangled(10, 3, 6, 193),
    "lagrange": lambda: codes.lagrange(100, 2, 201),
    "fft": lambda: codes.fft(200, 220),
}


@cache
def small(name: str) -> Code:
    return SMALL[name]()


@cache
def middle(name: str) -> Code:
    return MIDDLE[name]()


@cache
def large(name: str) -> Code:
    return LARGE[name]()
