"""What a code costs, as parts of one plain iteration, so that families can be ranked; and which tasks share costs."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

ALL = 2**62  # tasks: every one has plain data


@dataclass(frozen=True)
class Cost:
    """The true cost of a code.

    With chunk reuse, chunk results are kept: a worker first computes the chunks that its neighbouring tasks share. That
    is the work of `shared_chunks` tasks (an upper bound for a worker that holds nearly all chunks).
    """

    work: float  # C/W, the work of one task as a part of the plain iteration's
    storage: float  # what one task needs of the data, as a part of all data
    result: float = 1.0  # the numbers in one task's result, as a part of the plain result's
    encode: float = 0.0  # multiply-adds before the first iteration, per number of the data
    decode: float = 0.0  # multiply-adds at the master in every iteration, per number of the plain result
    mix: float = 0.0  # multiply-adds at the worker for every task, per number of the plain result
    shared_chunks: int = 0
    more: float | None = None  # what each further neighbouring task needs of the data, where neighbours share it
    plain: int = 0  # so many of the first tasks have data as it is
    most: float = 1.0  # of the data is all that the plain tasks need together

    def factor(self, critical: int, active: int = 1) -> float:
        """K C/W: how many times the plain work is done for K results, by that many workers."""
        return (critical + active * self.shared_chunks) * self.work

    def held(self, tasks: range) -> float:
        """What a worker with these tasks holds of the data, as a part of it."""
        if self.more is not None:
            return min(self.storage + (len(tasks) - 1) * self.more, self.most) if tasks else 0.0
        plain = len(range(tasks.start, min(tasks.stop, self.plain)))
        return min(plain * self.storage, self.most) + (len(tasks) - plain) * self.storage


def placement(loads: Iterable[int]) -> list[range]:
    """The tasks of each worker: the first kappa_1, the next kappa_2, and so on; neighbouring tasks share chunks."""
    # Where losing neighbours costs digits, a code's own order is already permuted.
    ends = np.cumsum([0, *loads]).tolist()
    return [range(first, last) for first, last in pairwise(ends)]
