"""Draws of an iteration's time from its exact law: one number per iteration instead of one per task."""

import numpy as np

from deadheat.model import Array
from deadheat.queueing import IterationLaw

POINTS, FEWEST_POINTS = 2048, 256  # times at which the law is evaluated: fewer where each takes long
AT_ONCE = 2**21  # numbers that the law's tables have at all of these times together, roughly: a second
CELLS = 4096  # equal steps of probability in the table: finding a cell needs no search
FARTHEST = 1e-12  # survival at which the table ends


class QuantileTable:
    """The inverse of a law's distribution function, as a table; its mean and spread are the law's own.

    Inside, cells of equal probability; in the first and the last cell, where the inverse is steep, a search in the
    finer points.
    """

    def __init__(self, law: IterationLaw) -> None:
        self._constant = law.mean if law.std <= 1e-9 * law.mean else None
        if self._constant is not None:
            return
        ends = law.quantile([FARTHEST, 1e-3, 1 - 1e-3], 1e-3 * law.std / law.mean)
        # The law of the K-th of many results is smooth: mean and spread, which are set below, need few points then.
        points = int(np.clip(AT_ONCE // law.critical, FEWEST_POINTS, POINTS))
        body = np.linspace(ends[1], ends[2], points)
        left = np.linspace(ends[0], ends[1], points // 16)[:-1]
        reach = [ends[2]]
        while float(law.sf(reach[-1])) > FARTHEST and len(reach) < 80:
            reach.append(ends[2] + (ends[2] - ends[1]) * 0.05 * 1.25 ** len(reach))
        self._times = np.concatenate([left, body, np.array(reach[1:])])
        self._survival = np.minimum.accumulate(np.clip(law.sf(self._times), 0.0, 1.0))
        self._table = self._search(1 - np.linspace(0, 1, CELLS + 1)[1:-1])
        self._shift, self._stretch = 0.0, 1.0
        drawn = self._lookup((np.arange(CELLS * 64) + 0.5) / (CELLS * 64))
        # The tail's part of the spread is beyond those levels: correct the mean only where the law is heavy.
        spread = float(drawn.std())
        self._stretch = law.std / spread if abs(law.std / spread - 1) < 0.01 else 1.0
        self._shift = law.mean - self._stretch * float(drawn.mean())

    def draw(self, rng: np.random.Generator, size: int) -> Array:
        """Independent times; the same generator gives the same ranks under another law (common random numbers)."""
        level = rng.random(size)
        return self._lookup(level) if self._constant is None else np.full(size, self._constant)

    def _lookup(self, level: Array) -> Array:
        scaled = level * CELLS
        cell = scaled.astype(np.int32)
        outer = np.flatnonzero((cell == 0) | (cell == CELLS - 1))
        np.clip(cell, 1, CELLS - 2, out=cell)
        low = self._table[cell - 1]
        times = low + (scaled - cell) * (self._table[cell] - low)
        times[outer] = self._search(1 - level[outer])
        return np.asarray(self._shift + self._stretch * times)

    def _search(self, survival: Array) -> Array:
        """The time at which the law survives so; logarithmic in the tail, where survival falls by orders."""
        logs = -np.log(np.maximum(self._survival, FARTHEST / 10))
        return np.asarray(np.interp(-np.log(np.maximum(survival, FARTHEST / 10)), logs, self._times))
