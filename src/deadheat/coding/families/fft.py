"""Coded Fourier transforms: the m interleaved parts of a signal are coded, each task transforms a mixture.

Yu, Maddah-Ali, Avestimehr, Coded Fourier transform, Allerton 2017.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deadheat.coding.assemble import transform_of_parts
from deadheat.coding.families.mds import mds_cost
from deadheat.coding.generator_matrices import generator
from deadheat.coding.linear_code import LinearCode
from deadheat.coding.shape import Family, Shape, at_least
from deadheat.errors import whole


def fft(parts: int, total: int, *, seed: int = 0) -> LinearCode:
    """The transform of x from any m of n transforms of mixtures of x[j::m]; block j is x[j::m]."""
    m = whole("parts", parts, "give into how many parts the signal is cut (m)")
    n = at_least(total, m, "parts")
    rows = generator("gaussian", m, n, seed)
    return LinearCode(
        "fft", "transform", rows, np.eye(m), m, mds_cost(m, n), encoders=(rows,), assemble=transform_of_parts
    )


def _shapes(kind: str, critical: int, total: int) -> Iterator[Shape]:
    """None: a transform is one iteration, there is nothing to tune but the split."""
    return iter(())


FAMILY = Family(
    "fft", ("transform",), "Interleaved sub-transforms", "Yu et al. 2017", "about 1/m", "about 1", "any K = m",
    "mds on the parts, then one pass of twiddle factors", _shapes,
)  # fmt: skip
