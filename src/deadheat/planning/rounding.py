"""Whole loads from real shares: largest remainder first, ties to the earlier worker."""

import numpy as np

from deadheat.model import Array, IntArray

DIGITS = 9  # remainders that agree so far are a tie, whatever the order in which the workers were summed


def apportion(shares: Array, total: int) -> IntArray:
    """Whole loads that sum to `total`, each within one task of its share; shares must sum to `total`."""
    nearly = np.round(shares, DIGITS)  # 2.9999999999 is 3
    whole = np.floor(nearly)
    loads = whole.astype(np.int64)
    left = total - int(loads.sum())
    if left <= 0:
        return loads  # exact
    remainder = np.round(nearly - whole, DIGITS)
    threshold = np.partition(remainder, -left)[-left]
    above = np.flatnonzero(remainder > threshold)
    tied = np.flatnonzero(remainder == threshold)[: left - above.size]
    loads[above] += 1
    loads[tied] += 1
    return loads
