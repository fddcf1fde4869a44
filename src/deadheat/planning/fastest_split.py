"""The fastest split: whole loads that minimise E[T_itr] itself, where Theorem 2 only equalises a score.

One more task for worker q ends the iteration sooner by the integral of P(q has done it by t, the others have done
exactly K - kappa_q - 1): that task was the one missing. One task less for p costs the same integral with p's last
task. So from a split with one task too many the exact price of every removal follows from ONE pass over the counts,
and a round of exchanges needs one pass for the additions and one for each addition that is tried.
"""

import numpy as np

from deadheat.model import Array, Cluster, CodeSpec, IntArray, Split, Tasks, checked, laws
from deadheat.planning.fixed_ratio import caps
from deadheat.planning.split import split
from deadheat.queueing import IterationLaw, counting

SURVIVALS = (0.999, 0.9, 0.5, 0.1, 1e-2, 1e-4, 1e-7)  # of T_itr, where the panels of the time grid end
TRIED = 3  # additions tried in a round: the best exchange is among them but for rare ties
LEAST_GAIN = 1e-7  # of E[T_itr]; below it the grid decides, not the split
MOST_ROUNDS = 500_000  # times workers * K: a round takes up to 10 us of each, and few of many rounds matter


@checked
def fastest(cluster: Cluster, spec: CodeSpec, gamma: float = 1.0) -> Split:
    """The split with the least mean iteration under purging that exchanges of single tasks reach.

    It starts from Theorem 2's split and from the best one for tasks of constant time, and is no worse than either.
    Where workers and tasks are very many, the search ends after some rounds with what it has.
    """
    start = split(cluster, spec, gamma)
    tasks = cluster.tasks(spec)
    candidates = [start.loads, _earliest(tasks, spec.total)]
    judged = [IterationLaw(tasks, loads, spec.critical) for loads in candidates]
    first = int(np.argmin([law.mean for law in judged]))
    loads, search = candidates[first], _Search(tasks, judged[first])
    for _ in range(min(spec.total, MOST_ROUNDS // (len(cluster) * spec.critical))):
        better = search.exchange(loads)
        if better is None:
            break
        loads = better
    if IterationLaw(tasks, loads, spec.critical).mean >= judged[first].mean:
        loads = candidates[first]
    return Split(spec, loads, loads.astype(float), start.theta, gamma, "fastest")


def _earliest(tasks: Tasks, total: int) -> IntArray:
    """Give each next task to whoever would finish it first if every task took its mean."""
    m, c, most = tasks.pace, tasks.ready, np.minimum(caps(tasks), total)

    def done(by: float) -> IntArray:
        return np.asarray(np.minimum(np.floor(np.maximum(by - c, 0.0) / m), most), np.int64)

    low, high = 0.0, 2 * float((c + total * m).max())
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if done(middle).sum() >= total else (middle, high)
    loads = done(high)
    last = np.argsort(c + loads * m, kind="stable")[::-1]  # at a tie the latest finishers give back
    having = last[loads[last] > 0]
    loads[having[: int(loads.sum()) - total]] -= 1
    return loads


class _Search:
    """Exchanges of single tasks on one grid of times."""

    def __init__(self, tasks: Tasks, law: IterationLaw) -> None:
        width = max(law.std / law.mean, LEAST_GAIN)
        ends = np.unique([0.0, *law.quantile([1 - s for s in SURVIVALS], 1e-3 * width)])
        nodes, weights = np.polynomial.legendre.leggauss(8)
        half = np.diff(ends) / 2
        self._times = ((ends[:-1] + half)[:, None] + half[:, None] * nodes).ravel()
        self._weights = (half[:, None] * weights).ravel()
        self._tasks, self._critical, self._mean = tasks, law.critical, law.mean
        self._rows: dict[int, Array] = {}

    def exchange(self, loads: IntArray) -> IntArray | None:
        """The best exchange among the most promising additions, or None where none pays."""
        gains = np.where(loads < caps(self._tasks), self._prices(loads, 1), 0.0)
        best, least = None, -LEAST_GAIN * self._mean
        for q in np.argsort(-gains, kind="stable")[:TRIED]:
            more = loads.copy()
            more[q] += 1
            losses = self._prices(more, 0)
            losses[(more == 0) | (np.arange(loads.size) == q)] = np.inf
            p = int(np.argmin(losses))
            if losses[p] - gains[q] < least:
                best, least = more, float(losses[p] - gains[q])
                best[p] -= 1
        return best

    def _prices(self, loads: IntArray, extra: int) -> Array:
        """For each worker what its last task (extra = 0) or one more (extra = 1) takes off E[T_itr]."""
        busy = np.flatnonzero(loads > 0).tolist()
        tables = [counting.counts(self._done(p, int(loads[p]))) for p in busy]
        others = dict(zip(busy, counting.halves_without_each(tables, self._critical), strict=True))
        if extra and len(busy) < loads.size:  # for an idle worker the others are all
            everyone = counting.total(tables, self._critical), np.ones((self._times.size, 1))
            others |= {p: everyone for p in range(loads.size) if p not in others}
        prices = np.zeros(loads.size)
        for p, halves in others.items():
            count = int(loads[p]) + extra
            if count <= self._critical:
                price = self._done(p, count)[count - 1] * counting.chance(halves, self._critical - count)
                prices[p] = float(price @ self._weights)
        return prices

    def _done(self, p: int, most: int) -> Array:
        """Rows of P(N_p(t) >= j), j = 1 ... most, on the grid; kept, and grown when more are asked for."""
        rows = self._rows.get(p)
        if rows is None or len(rows) < most:
            tasks, upto = self._tasks, most + 4
            since = self._times - tasks.comm[p]
            latest = float(max(since.max(), 0.0)) + float(tasks.mean[p])
            table = laws.sums_of(tasks.laws[p], upto + tasks.shared_chunks, latest)
            done = laws.results_by(table, upto, np.maximum(since, 0.0), tasks.shared_chunks, tasks.seconds_per_task)
            self._rows[p] = rows = np.where(since >= 0, done, 0.0)
        return rows[:most]
