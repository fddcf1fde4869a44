"""The law of a sum of k independent tasks: exact where it has a closed form, else a convolution on a lattice.

The lattice has cells of width h from the least task time on. p holds the exact probabilities of the cells, so the law
of one task is exact at their edges. Putting each cell's mass at its centre adds a variance of h^2/12 per task
(Sheppard); q = p - (second difference of p)/24 takes it away again, so p * q * ... * q (k factors) is right to O(h^4)
for smooth laws. Mass beyond the lattice is dropped: times are not negative, so it cannot come back.
Beyond the lattice the sum is long because ONE task is long: P(S_k > t) = 1 - (1 - P(T > t - (k-1) m))^k, which is
asymptotically right for heavy tails and nothing for light ones.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np

from deadheat.model.arrays import Array
from deadheat.model.checked import checked
from deadheat.model.laws.deterministic import Deterministic
from deadheat.model.laws.law import ExactSums, Law

CELLS_PER_SPREAD = 48  # cells to one standard deviation: an error near 1e-5, most of it from interpolation
MOST_CELLS = 2**24  # of the whole table: 128 MiB
LONGEST_ROW = 2**18  # cells of one row: the transforms of longer ones leave the cache, and take seconds each
NEVER = 1e-14  # a probability that counts as zero
ALMOST_NONE = 1e-8  # a spread of less than this part of the mean is none: its laws would lose their digits


@dataclass(frozen=True)
class Closed:
    """Sums with a closed form: `cdf` is P(S_count <= t), `upto` has a row for each count from 1 to `most`.

    error: how far a probability may be off. mean_error: how many seconds a mean may be off, the area between two laws.
    """

    law: ExactSums
    error: float = 0.0
    mean_error: float = 0.0

    def cdf(self, count: int, t: Array) -> Array:
        return self.law.sum_cdf(count, t)

    def upto(self, most: int, t: Array) -> Array:
        return self.law.sum_cdf(np.arange(1, most + 1)[:, None], t[None, :])


@dataclass(frozen=True)
class Lattice:
    """The same by convolution: row k-1 of `table` is P(S_k <= t) at the edges t = k * least + (k-1) h/2 + i h."""

    law: Law
    least: float
    step: float
    table: Array
    error: float
    mean_error: float

    @classmethod
    def of(cls, law: Law, most: int, latest: float) -> Self:
        """Convolve up to `most` tasks; the error is measured against a lattice twice as coarse."""
        if most <= 1:  # one task needs no convolution
            return cls(law, 0.0, 1.0, table=np.zeros((1, 1)), error=0.0, mean_error=0.0)
        least = _quantile(law, NEVER)
        length, cells = _extent(law, most, latest)
        step = length / cells
        if law.atoms() is not None:
            least -= 3 * step  # room for the mass that goes to the cell before
        table = _convolve(law, least, step, cells, most)
        coarse = _convolve(law, least, 2 * step, cells // 2, most)
        between = float(np.abs(np.diff(table[1:], 2)).max(initial=0.0)) / 8  # linear interpolation
        gap, area = _differences(table, coarse, step)
        return cls(law, least, step, table, error=min(gap / 3 + between, 1.0), mean_error=area)

    def cdf(self, count: int, t: Array) -> Array:
        """By interpolation between edges; one long task beyond the lattice."""
        if count == 1:
            return self.law.cdf(t)
        place = (t - count * self.least) / self.step - (count - 1) / 2
        edges = np.arange(self.table.shape[1])
        probability = np.interp(place, edges, self.table[count - 1]) if count <= len(self.table) else np.zeros(t.size)
        beyond = place > edges[-1]
        if beyond.any():
            probability[beyond] = self.law.cdf(t[beyond] - (count - 1) * self.law.mean()) ** count
        return np.clip(probability, 0.0, 1.0)

    def upto(self, most: int, t: Array) -> Array:
        """Row by row, never more likely than one task fewer: so the order holds at the end of the lattice too."""
        return np.asarray(np.minimum.accumulate([self.cdf(k, t) for k in range(1, most + 1)], axis=0))


Sums = Closed | Lattice


@checked
def results_by(
    table: Sums, most: int, since: Array, shared_chunks: int, seconds_per_task: float, slow: float = 1.0
) -> Array:
    """Rows of P(a worker has brought j results), j = 1 ... most, `since` seconds after it began: (most, len(since)).

    The j-th result takes the work of shared_chunks + j tasks, `slow` times as long as usual, and j seconds_per_task.
    """
    if not seconds_per_task:
        return table.upto(shared_chunks + most, since / slow)[shared_chunks:]
    extra = seconds_per_task * np.arange(1, most + 1)
    rows = [table.cdf(shared_chunks + j, np.maximum(since - x, 0.0) / slow) for j, x in enumerate(extra, 1)]
    late = since[None, :] < extra[:, None]
    return np.where(late, 0.0, np.minimum.accumulate(np.reshape(rows, (most, since.size)), axis=0))


@checked
def sums_of(law: Law, most: int, latest: float) -> Sums:
    """The laws of up to `most` tasks in a row, precise up to the time `latest`."""
    if isinstance(law, ExactSums):
        return Closed(law)
    return Closed(Deterministic(law.mean())) if _is_constant(law) else Lattice.of(law, most, latest)


@checked
def table_size(law: Law, most: int, latest: float) -> int:
    """How many numbers the table of such sums would have; none where they have a closed form."""
    closed = most <= 1 or isinstance(law, ExactSums) or _is_constant(law)
    return 0 if closed else most * _extent(law, most, latest)[1]


def _is_constant(law: Law) -> bool:
    """Whether it has no spread, such as an empirical law of equal samples: its lattice would have no width."""
    return law.std() <= ALMOST_NONE * law.mean()


def _extent(law: Law, most: int, latest: float) -> tuple[float, int]:
    """The length of a lattice in seconds, and its number of cells."""
    least, std = _quantile(law, NEVER), law.std()
    body = (_quantile(law, 0.95) - _quantile(law, 0.05)) / 3.3  # this is std for a normal law
    spread = min(std, body) if body > 0 else std
    widest = most * (_quantile(law, 1 - NEVER) - least)  # nothing of the sums lies beyond
    length = max(min(latest - least, widest), spread)
    wanted, room = CELLS_PER_SPREAD * length / spread, min(max(MOST_CELLS // most, 2**12), LONGEST_ROW)
    # A power of two: the transform of 2 * 47663 numbers takes ten times as long as that of 2 * 65536.
    return length, 2 ** int(np.clip(math.ceil(math.log2(wanted)), 8, math.floor(math.log2(room))))


@lru_cache(maxsize=4096)
def _quantile(law: Law, q: float) -> float:
    """The largest t, to a bisection's precision, with P(T <= t) <= q."""
    low, high = 0.0, law.mean() + law.std()
    while float(law.cdf(high)) <= q:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if float(law.cdf(middle)) <= q else (low, middle)
    return low


def _convolve(law: Law, least: float, step: float, cells: int, most: int) -> Array:
    """Rows of P(S_k <= edge) for k = 1 ... most, at cells + 1 edges."""
    atoms = law.atoms()
    p, q = _density(law, least, step, cells) if atoms is None else _atoms(*atoms, least, step, cells)
    size = 2 * cells
    transform = np.fft.rfft(q, size)
    table = np.zeros((most, cells + 1))
    table[0, 1:] = np.cumsum(p)
    for k in range(1, most):
        p = np.fft.irfft(np.fft.rfft(p, size) * transform, size)[:cells]
        table[k, 1:] = np.cumsum(p)
    return table


def _density(law: Law, least: float, step: float, cells: int) -> tuple[Array, Array]:
    """The masses p of the cells, and q that adds neither mean nor variance when a task is added."""
    edges = law.cdf(least + step * np.arange(cells + 1))
    p = np.diff(edges, prepend=0.0)[1:]
    p[0] += edges[0]
    padded = np.pad(p, 1, mode="edge")
    q = p - (padded[2:] - 2 * p + padded[:-2]) / 24
    # The lattice's mean is made the law's own by moving a little mass from cell to cell. Where the lattice cuts the
    # tail off, that shift follows from the trapezoidal rule: a density that begins with a jump leaves q[0]/24.
    light = edges[-1] > 1 - NEVER
    shift = (law.mean() - least) / step - 0.5 - np.arange(cells) @ q if light else -p[0] / 24
    return p, q - shift * np.diff(q, prepend=0.0)


def _atoms(values: Array, masses: Array, least: float, step: float, cells: int) -> tuple[Array, Array]:
    """Each atom's mass, shared by the two cells whose centres lie around it so that its mean is kept."""
    place = (values - least) / step - 0.5
    left = np.floor(place).astype(np.int64)
    p = np.zeros(cells + 1)
    for cell, mass in ((left, masses * (left + 1 - place)), (left + 1, masses * (place - left))):
        inside = (cell >= 0) & (cell < cells)
        np.add.at(p, cell[inside], mass[inside])
    return p[:cells], p[:cells]


def _differences(fine: Array, coarse: Array, step: float) -> tuple[float, float]:
    """How far the two lattices are apart: the largest gap of a probability, and the largest area between two laws."""
    gap, area = 0.0, 0.0
    for k in range(1, len(coarse)):  # row k holds k + 1 tasks: its edges begin k/2 cells later
        place = 2 * np.arange(coarse.shape[1]) + k / 2  # the coarse edges, counted in fine cells
        inside = place <= fine.shape[1] - 1
        apart = np.abs(np.interp(place[inside], np.arange(fine.shape[1]), fine[k]) - coarse[k][inside])
        gap, area = max(gap, float(apart.max(initial=0.0))), max(area, 2 * step * float(apart.sum()))
    return gap, area
