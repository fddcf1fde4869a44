"""Which tasks go to whom: neighbours together, since it is they who share chunks.

Where lost neighbours would hurt the conditioning, a code's own order is already permuted (see bases).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from deadheat.coding.code import Code


def placement(loads: Iterable[int]) -> list[range]:
    """The tasks of each worker: the first kappa_1, the next kappa_2, and so on."""
    ends = np.cumsum([0, *loads]).tolist()
    return [range(first, last) for first, last in pairwise(ends)]


def stored(code: Code, tasks: Sequence[int]) -> float:
    """What a worker with these tasks holds, as a part of all data: chunks once each, coded blocks one per task."""
    if code.encoders:
        return len(tasks) * code.cost.storage
    chunks = {int(chunk) for task in tasks for chunk in code.support(task)[0]}
    return len(chunks) / code.chunks
