"""From the wishes of a code to the answer a user expects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deadheat.model import AnyArray


def only(wish: AnyArray) -> AnyArray:
    """The one wish of a gradient code."""
    return np.asarray(wish[0])


def joined(wish: AnyArray) -> AnyArray:
    """A vector that was cut in parts, whole again."""
    return wish.reshape(-1)


@dataclass(frozen=True)
class Grid:
    """A matrix of rows x columns blocks, given block by block, row by row."""

    rows: int
    columns: int

    def __call__(self, wish: AnyArray) -> AnyArray:
        """The matrix."""
        height, width = wish.shape[1:]
        blocks = wish.reshape(self.rows, self.columns, height, width)
        return blocks.transpose(0, 2, 1, 3).reshape(self.rows * height, self.columns * width)


def transform_of_parts(wish: AnyArray) -> AnyArray:
    """The Fourier transform of a signal from those of its m interleaved parts x[j::m] (Cooley and Tukey).

    X[k + l L] = sum_j exp(-2 pi i j (k + l L)/(m L)) Y_j[k]: twiddle factors, then a short transform over the parts.
    """
    m, length = wish.shape
    twiddle = np.exp(-2j * np.pi * np.outer(np.arange(m), np.arange(length)) / (m * length))
    found = np.fft.fft(wish * twiddle.astype(wish.dtype), axis=0)
    return found.astype(wish.dtype, copy=False).reshape(-1)
