"""Copies of tasks: spot checks, so that a worker that gives wrong results is found, and looks at idle workers.

The copy and the task itself are the first that their workers do, so that both results are there when the iteration is.
A code with spare tasks needs no copies: one result more than it needs tells whether all of them fit together.
"""

from collections.abc import Callable, Iterable, Mapping

from deadheat.scheduling.messages import Arrived

EXPLORED = 10  # iterations after which workers without a share get a task, to see whether they have become faster
GOLDEN = 0.6180339887498949  # its multiples, modulo 1, lie evenly wherever one stops: no chance is needed


class SpotChecks:
    """Counts what is due, and chooses."""

    def __init__(self) -> None:
        self._due = 0.0
        self._chosen = 0

    def due(self, job: Arrived) -> int:
        """How many checks are due in an iteration of a job that begins now."""
        self._due += job.checks * job.code.total
        whole = int(self._due)
        self._due -= whole
        return whole

    def copied(
        self, opening: Mapping[int, tuple[int, ...]], count: int, seconds: Callable[[int], float]
    ) -> dict[int, tuple[int, ...]]:
        """The opening of an iteration with so many of its tasks also given to another worker, the quickest one."""
        tasks = dict(opening)
        places = [(worker, task) for worker, own in opening.items() for task in own]
        for _ in range(min(count, len(places)) if len(opening) > 1 else 0):
            self._chosen += 1
            worker, task = places[int(self._chosen * GOLDEN % 1 * len(places))]
            other = min((w for w in opening if w != worker), key=seconds)
            if task in tasks[other]:
                continue  # the same task was chosen before
            tasks[worker] = (task, *(own for own in tasks[worker] if own != task))
            tasks[other] = (task, *tasks[other])
        return tasks


def exploratory_copies(workers: Iterable[int], opening: Mapping[int, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
    """For each worker without a share a copy of the last task of the longest queue."""
    longest = max(opening.values(), key=len, default=())
    return {worker: longest[-1:] for worker in workers if worker not in opening and longest}
