"""Coded Fourier transforms: the m interleaved parts of a signal are coded, each task transforms a mixture.

Yu, Maddah-Ali, Avestimehr, Coded Fourier transform, Allerton 2017.
"""

from dataclasses import replace

import numpy as np

from deadheat.coding.families.mds import mds
from deadheat.coding.linear_code import LinearCode
from deadheat.coding.shape import Family, at_least
from deadheat.errors import whole
from deadheat.model import AnyArray


def fft(parts: int, total: int, *, seed: int = 0) -> LinearCode:
    """The transform of x from any m of n transforms of mixtures of x[j::m]; block j is x[j::m]."""
    m = whole("parts", parts, "give into how many parts the signal is cut (m)")
    coded = mds(m, at_least(total, m, "parts"), seed=seed)
    return replace(coded, family="fft", kind="transform", assemble=transform_of_parts)


def transform_of_parts(target: AnyArray) -> AnyArray:
    """The Fourier transform of a signal from those of its m interleaved parts x[j::m] (Cooley and Tukey).

    X[k + l L] = sum_j exp(-2 pi i j (k + l L)/(m L)) Y_j[k]: twiddle factors, then a short transform over the parts.
    """
    m, length = target.shape
    twiddle = np.exp(-2j * np.pi * np.outer(np.arange(m), np.arange(length)) / (m * length))
    transform = np.fft.fft(target * twiddle.astype(target.dtype), axis=0)
    return transform.astype(target.dtype, copy=False).reshape(-1)


# The tuner is offered no shapes: a transform is one iteration, and there is nothing to tune but the split.
FAMILY = Family("fft", ("transform",), title="Interleaved sub-transforms", source="Yu et al. 2017", work="about 1/m",
                factor="about 1", enough="any K = m",
                notes="mds on the parts, then one pass of twiddle factors")  # fmt: skip
