"""Which tasks go to whom: neighbours together, since it is they who share chunks.

Where lost neighbours would hurt the conditioning, a code's own order is already permuted (see bases).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np


def placement(loads: Iterable[int]) -> list[range]:
    """The tasks of each worker: the first kappa_1, the next kappa_2, and so on."""
    ends = np.cumsum([0, *loads]).tolist()
    return [range(first, last) for first, last in pairwise(ends)]
