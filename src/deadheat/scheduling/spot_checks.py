"""Copies of tasks: spot checks, so that a worker that gives wrong results is found, and looks at idle workers.

A task that is checked and its copy are the first that their workers do, so that both results are mostly there when the
iteration is. Where they are not it waits, for no more than a part of the time that iterations take.
"""

from collections.abc import Callable, Iterable, Mapping
from math import inf

from deadheat.scheduling.messages import Arrived

EXPLORED = 10  # iterations after which workers without a share get a task, to see whether they have become faster
GOLDEN = 0.6180339887498949  # its multiples, modulo 1, lie evenly wherever one stops: no chance is needed
SHARE = 0.02  # of the time of iterations that waiting for checks may take
FIRST_CREDIT = 0.05  # seconds that need not be saved up for
JITTER = 0.002  # seconds that a result may be late without being slow
MOST_DUE = 10.0  # checks that are made up for, when they had to be put off
Opening = dict[int, tuple[int, ...]]


class SpotChecks:
    """Counts what is due, and chooses. credit: seconds that iterations may wait for checks."""

    def __init__(self) -> None:
        self._due = 0.0
        self._chosen = 0
        self._credit = FIRST_CREDIT

    def chosen(
        self, job: Arrived, opening: Opening, workers: Iterable[int], expected: Callable[[int, int], float]
    ) -> tuple[Opening, set[tuple[int, int]]]:
        """An iteration's opening with copies of some tasks, and the results, (task, worker), that are compared.

        workers: all that are there; the quickest gets the copy, also without a share. expected(worker, tasks): the time
        that a worker takes for so many tasks. A check for which the iteration would have to wait too long is put off.
        """
        tasks, pairs, places = dict(opening), set(), [(worker, task) for worker, own in opening.items() for task in own]
        length = max((expected(worker, len(own)) for worker, own in opening.items()), default=0.0)
        self._due = min(self._due + job.checks * job.code.total, MOST_DUE if job.thrifty else inf)
        for _ in range(min(int(self._due), len(places))):
            worker, task = places[int((self._chosen + 1) * GOLDEN % 1 * len(places))]
            others = [w for w in workers if w != worker and task not in tasks.get(w, ())]
            other = min(others, key=lambda w: expected(w, len(tasks.get(w, ())) + 1), default=None)
            if other is None:
                break
            if job.thrifty and expected(other, len(tasks.get(other, ())) + 1) - length > self._credit:
                break
            self._chosen += 1
            self._due -= 1
            tasks[worker] = (task, *(own for own in tasks[worker] if own != task))
            tasks[other] = (task, *tasks.get(other, ()))
            pairs |= {(task, worker), (task, other)}
        return tasks, pairs

    def allowed(self, job: Arrived) -> float:
        """Seconds for which an iteration that is done but for its checks may wait for these."""
        return self._credit + JITTER if job.thrifty else inf

    def waited(self, seconds: float) -> None:
        self._credit = max(self._credit - seconds, 0.0)

    def earn(self, seconds: float) -> None:
        """Save up for checks: an iteration took so long."""
        self._credit += SHARE * seconds


def exploratory_copies(workers: Iterable[int], opening: Mapping[int, tuple[int, ...]]) -> Opening:
    """For each worker without a share a copy of the last task of the longest queue."""
    longest = max(opening.values(), key=len, default=())
    return {worker: longest[-1:] for worker in workers if worker not in opening and longest}
