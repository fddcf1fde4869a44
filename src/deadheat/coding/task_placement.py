"""Which tasks go to which worker: neighbours together, since neighbouring tasks share chunks.

Where losing neighbours would hurt the conditioning, a code's own order is already permuted (`generator_matrices`).
"""

from collections.abc import Iterable
from itertools import pairwise

import numpy as np


def placement(loads: Iterable[int]) -> list[range]:
    """The tasks of each worker: the first kappa_1, the next kappa_2, and so on."""
    ends = np.cumsum([0, *loads]).tolist()
    return [range(first, last) for first, last in pairwise(ends)]
