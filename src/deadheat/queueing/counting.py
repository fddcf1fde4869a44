"""How many results have arrived by time t: sums of independent capped counts, for many t at once.

N_p(t), the tasks worker p has finished by t, is at least j when c_p + (j tasks in a row) <= t. A table of its
probabilities has one row per t and one column per count. Tables are merged by convolution (FFT along the counts,
shortest first), and counts of K or more are dropped, since the question is always whether the total is below K.
"""

import heapq
import math
from collections.abc import Sequence

import numpy as np

from deadheat.model import Array


def counts(done: Array) -> Array:
    """The table of P(N = j), j = 0 ... load, from the rows P(N >= 1), P(N >= 2), ... of shape (load, times)."""
    tail = np.vstack([np.ones(done.shape[1]), done, np.zeros(done.shape[1])])
    return np.ascontiguousarray((tail[:-1] - tail[1:]).T)


def total(tables: Sequence[Array], critical: int) -> Array:
    """The table of the sum of all counts, for sums below `critical`."""
    heap = [(table.shape[1], place, table[:, :critical]) for place, table in enumerate(tables)]
    heapq.heapify(heap)
    for ticket in range(len(tables), 2 * len(tables) - 1):
        (_, _, first), (_, _, second) = heapq.heappop(heap), heapq.heappop(heap)
        both = merge(first, second, critical)
        heapq.heappush(heap, (both.shape[1], ticket, both))
    return heap[0][2]


def without_each(tables: Sequence[Array], critical: int) -> list[Array]:
    """For each worker the table of the sum of all the others."""
    return [merge(first, second, critical) for first, second in halves_without_each(tables, critical)]


def halves_without_each(tables: Sequence[Array], critical: int) -> list[tuple[Array, Array]]:
    """For each worker two tables whose sum is that of all the others: a tree of sums, read downwards."""
    nothing = np.ones((tables[0].shape[0], 1))
    levels = [[table[:, :critical] for table in tables]]
    while len(levels[-1]) > 1:
        row = levels[-1]
        pairs = [merge(row[i], row[i + 1], critical) for i in range(0, len(row) - 1, 2)]
        levels.append(pairs + ([row[-1]] if len(row) % 2 else []))
    halves = [(nothing, nothing)]
    for row in reversed(levels[:-1]):
        above = [merge(first, second, critical) if second is not nothing else first for first, second in halves]
        halves = [(above[i // 2], row[i ^ 1] if i ^ 1 < len(row) else nothing) for i in range(len(row))]
    return halves


def chance(halves: tuple[Array, Array], count: int) -> Array:
    """P(the sum of two independent counts is `count`), for each time."""
    first, second = halves
    low, high = max(0, count - first.shape[1] + 1), min(count, second.shape[1] - 1)
    if low > high:
        return np.zeros(first.shape[0])
    other = first[:, count - high : count - low + 1][:, ::-1]
    return np.asarray((second[:, low : high + 1] * other).sum(axis=1))


def merge(first: Array, second: Array, critical: int) -> Array:
    """The table of the sum of two independent counts, cut at `critical`."""
    width = first.shape[1] + second.shape[1] - 1
    size = _fast_length(width)
    product = np.fft.rfft(first, size) * np.fft.rfft(second, size)
    return np.fft.irfft(product, size)[:, : min(width, critical)]


def _fast_length(width: int) -> int:
    """The least 2^a 3^b 5^c that is at least `width`, b and c <= 2: a length that the FFT likes."""
    return min(odd << (math.ceil(width / odd) - 1).bit_length() for odd in (1, 3, 5, 9, 15, 25, 45, 75, 225))
