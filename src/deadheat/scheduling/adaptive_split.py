"""The loads of an iteration: split anew when the workers have changed, and only if it pays."""

from collections.abc import Sequence

import numpy as np

from deadheat.model import Cluster, CodeSpec, assignment_moments
from deadheat.planning import Policy
from deadheat.scheduling.estimates import Estimates, Running

MOVED = 0.05  # an estimate that moved by less is not worth a new split
CHANCE = 2.0  # standard errors by which an estimate moves without meaning
GAIN = 0.02  # of the expected finish, below which the old split stays


class AdaptiveSplit:
    """Remembers the last split of a job and the estimates it was computed for.

    adapt: split anew when the estimates have moved; else what was declared of the workers decides.
    """

    def __init__(self, estimates: Estimates, policy: Policy, gamma: float, adapt: bool) -> None:
        self._estimates, self._policy, self._gamma, self._adapt = estimates, policy, gamma, adapt
        self._job: int | None = None
        self._workers: Sequence[int] = ()
        self._computed_for: list[float] = []
        self._loads: list[int] = []
        self.splits = 0  # how often a new one was computed

    def loads(self, job: int, spec: CodeSpec, workers: Sequence[int]) -> list[int]:
        """Whole loads for these workers, in their order."""
        same = job == self._job and workers == self._workers
        if same and not self._adapt:
            return self._loads
        now = [running for w in workers for running in (self._estimates[w].work, self._estimates[w].comm)]
        if same and not any(map(_moved, now, self._computed_for)):
            return self._loads
        cluster = self._estimates.cluster(workers) if self._adapt else self._estimates.declared(workers)
        fresh = self._policy(cluster, spec, self._gamma).loads.tolist()
        self.splits += 1
        if not same or _finish(cluster, spec, fresh) < (1 - GAIN) * _finish(cluster, spec, self._loads):
            self._loads = fresh
        self._job, self._workers, self._computed_for = job, workers, [running.mean for running in now]
        return self._loads


def _moved(now: Running, then: float) -> bool:
    """Whether an estimate has moved far enough, and beyond chance."""
    return abs(now.mean - then) > max(MOVED * then, CHANCE * now.error)


def _finish(cluster: Cluster, spec: CodeSpec, loads: list[int]) -> float:
    """When the last worker is expected to be done."""
    return float(np.max(assignment_moments(cluster.tasks(spec), loads)[0]))
