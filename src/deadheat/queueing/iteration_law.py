"""The law of an iteration's time: with purging (the K-th result ends it) and without (the last one does).

Without purging T_itr is the maximum of independent assignments, P(T_itr <= t) = prod_p F_p(t) (section IV).
With purging it ends when K results are in: P(T_itr > t) = P(sum_p N_p(t) < K), N_p(t) = the tasks worker p has
finished by t, at most kappa_p. The paper does not give that law; it is exact for independent tasks.
"""

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from deadheat.errors import BadInput, whole
from deadheat.model import (
    Array,
    ArrayLike,
    Cluster,
    IntArray,
    Split,
    Switching,
    Tasks,
    allowed,
    checked,
    laws,
    require_tasks,
    special,
)
from deadheat.queueing import counting
from deadheat.queueing.quadrature import Integrals, integrate

TOLERANCE = 1e-9  # of the moments, for each panel of the quadrature
NEVER = 1e-15  # a survival that counts as zero
NOISE = 1e-14  # what the Fourier transforms leave of a survival of zero
FAR = 1e-12  # a survival below which a tail is not followed but closed
BODY = 1e-6  # convolved laws are precise down to this survival; one long task is the rest
NARROW = 1e-3  # of the mean: a spread below it is computed from the law's own left end
LEAST_SPREAD = 1e-9  # of the mean: a spread below it is none
BUSY_ERROR = 1e-4  # of the part of an iteration for which a worker is occupied
EXACT_BUSY = 200_000  # workers * K up to which it is exact; beyond it, the others' results are taken as normal
DOUBLINGS = 200  # of the tail, at most
CHUNK = 4_000_000  # table entries at a time, to bound memory
LONGEST = 8.0  # seconds that the law may take, roughly; a plan asks several questions of it


class IterationLaw:
    """The law of T_itr for whole loads; under a condition each worker is slow for the whole iteration, or not."""

    def __init__(
        self, tasks: Tasks, loads: ArrayLike, critical: int, purge: bool = True, condition: Switching | None = None
    ) -> None:
        require_tasks(tasks)
        if condition is not None and not condition.independent:
            problem = "theory knows states that are finite and new in every iteration"
            raise BadInput("condition", condition, problem, "give leave = 1 - enter, or simulate")
        try:
            counts = np.asarray(loads, np.int64)
        except (TypeError, ValueError):
            raise BadInput("loads", loads, "not whole numbers", "give one load per worker") from None
        critical = whole("critical", critical, "give the number of results that suffice (K)")
        if counts.shape != (len(tasks),):
            problem = f"{counts.size} loads for {len(tasks)} workers"
            raise BadInput("loads", counts.tolist(), problem, "give one load per worker")
        if counts.sum() < critical:
            raise BadInput("loads", int(counts.sum()), f"fewer than the {critical} tasks needed", "raise the loads")
        self._workers = len(tasks)
        self._busy = busy = np.flatnonzero(counts > 0)
        self._loads, self._laws = counts[busy], tasks.laws_of(busy.tolist())
        self._comm, self._mean = tasks.comm[busy], tasks.mean[busy]
        self._second = self._mean**2 + tasks.std[busy] ** 2
        self._ready, self._pace = tasks.ready[busy], tasks.pace[busy]
        self._shared_chunks, self._seconds_per_task = tasks.shared_chunks, tasks.seconds_per_task
        self._states = [(1.0, 1.0)]  # the chance of each state, and how many times slower a worker is in it
        if condition is not None:
            self._states = [(1 - condition.share, 1.0), (condition.share, condition.factor)]
        self.critical = critical
        self.purge = purge and self.critical < counts.sum()  # all are needed: the K-th result is the last
        self._sums = self._prepare()

    def sf(self, t: ArrayLike) -> Array:
        times = np.asarray(t, float).ravel()
        width = min(int(self._caps(float(times.max())).sum()), 2 * self.critical) + 1 if self.purge else 1
        rows = max(CHUNK // width, 16)
        parts = [self._survival(times[i : i + rows], self._sums) for i in range(0, times.size, rows)]
        return np.concatenate(parts).reshape(np.shape(t))

    def cdf(self, t: ArrayLike) -> Array:
        return 1 - self.sf(t)

    def quantile(self, level: ArrayLike, precision: float = 1e-12) -> Array:
        """The least t with P(T_itr <= t) >= level: by grids that close in on it, 32 points at a time."""
        try:
            wanted = np.asarray(level, float)
        except (TypeError, ValueError):
            wanted = np.array(np.nan)
        if not ((wanted > 0) & (wanted < 1)).all():
            raise BadInput("level", level, "a quantile needs a probability", "give numbers between 0 and 1")
        return np.reshape([self._locate(1 - q, precision) for q in wanted.ravel()], wanted.shape)

    @property
    def mean(self) -> float:
        start, integrals = self._moments
        mean = start + float(integrals.first)
        if not mean > 0:  # every task takes time: the quadrature has missed all of it
            problem = "task times differ by more orders of magnitude than the integral of their law can follow"
            raise BadInput("law", mean, problem, "cut off the longest samples, or simulate")
        return mean

    @property
    def std(self) -> float:
        """The standard deviation of T_itr; none where it is below what the quadrature can tell."""
        _, integrals = self._moments  # from the left end of the law, so that a narrow one keeps its digits
        std = math.sqrt(max(float(integrals.second - integrals.first**2), 0.0))
        return std if std > LEAST_SPREAD * self.mean else 0.0

    @property
    def error(self) -> float:
        """How many seconds the mean may be off, by quadrature and convolution."""
        return float(self._moments[1].first_error) + 10 * TOLERANCE * self.mean + sum(s.mean_error for s in self._sums)

    @cached_property
    def busy(self) -> Array:
        """E[min(T_{p,kappa_p}, T_itr)]/E[T_itr]: the part of an iteration for which each worker is occupied."""
        part = np.zeros(self._workers)
        before, ends = (
            [0.0, self._origin],
            np.unique([self._origin, *(self._locate(q, 1e-3) for q in (0.5, 0.01, BODY))]),
        )
        alone = integrate(self._unfinished, np.array(before), BUSY_ERROR).first if self._origin > 0 else 0.0
        part[self._busy] = (alone + integrate(self._occupied, ends, BUSY_ERROR).first) / self.mean
        return np.minimum(part, 1.0)

    @cached_property
    def _origin(self) -> float:
        """A time before which the iteration is never over."""
        low, fluid = 0.0, self._fluid()
        for _ in range(12):  # the left edge need not be sharp: the quadrature adapts
            grid = np.linspace(low, fluid, 9)
            sure = int(np.flatnonzero(self.sf(grid) >= 1 - NEVER).max(initial=0))
            low = float(grid[sure]) if sure < 8 else low
            if sure < 7:
                break
        return low

    @cached_property
    def _moments(self) -> tuple[float, Integrals]:
        """A time before which the iteration is never over, and the integrals from there on."""
        start, integrals = self._origin, self._integrate(self._origin)
        if integrals.second - integrals.first**2 < (NARROW * (start + integrals.first)) ** 2:
            # The variance is the difference of two squares: from the law's own left end it keeps its digits.
            start = self._locate(1 - FAR, 1e-12)
            integrals = self._integrate(start)
        return start, integrals

    def _integrate(self, start: float) -> Integrals:
        """The integrals from `start` on: panels to the middle of the law, then doublings until nothing is left."""
        middle = self._fluid()
        width = max(middle - start, 1e-12 * middle)
        ends, light = [start + width], False
        for _ in range(DOUBLINGS):
            ends.append(start + 2 * (ends[-1] - start))
            left = float(self.sf(ends[-1]))
            # Over one more doubling the integral of 2 t S(t) is below 4 (t - start)^2 S(t): is that nothing?
            light = left * (ends[-1] - start) ** 2 <= 1e-2 * TOLERANCE * width**2
            if light or left < FAR:
                break
        integrals = integrate(self.sf, np.concatenate([np.linspace(start, ends[0], 4), ends[1:]]), TOLERANCE)
        if light:
            return integrals
        # Add what lies beyond: a power's contributions over doublings fall by one ratio, a geometric series.
        last = np.array(ends[-3:])
        before, after = (integrate(self.sf, last[i : i + 2], 1e-6) for i in (0, 1))
        lever = 2 * (last - start)
        firsts = before.first, after.first
        seconds = before.second + lever[0] * before.first, after.second + lever[1] * after.first
        rest = [float(b * (b / a) / (1 - b / a)) if 0 < b < a else 0.0 for a, b in (firsts, seconds)]
        return Integrals(*(a + b for a, b in zip(integrals, (*rest, *rest), strict=True)))

    def _fluid(self) -> float:
        """When the iteration would end if every task took its mean: the middle of the law, roughly."""
        low, high = float(self._ready.min()), float((self._ready + self._loads * self._pace).max())
        if not self.purge:
            return high
        for _ in range(60):
            middle = (low + high) / 2
            placed = np.minimum(np.maximum(middle - self._ready, 0.0) / self._pace, self._loads).sum()
            low, high = (middle, high) if placed < self.critical else (low, middle)
        return high

    def _prepare(self) -> list[laws.Sums]:
        """The sums of every worker, up to a time by which the iteration is over but for BODY."""
        latest, convolved = self._fluid(), 0
        for _ in range(8):
            latest *= 2
            keys = list(zip(self._laws, self._caps(latest).tolist(), self._comm.tolist(), strict=True))
            every = {key: (key[0], key[1], latest - key[2]) for key in keys}
            convolved += sum(laws.table_size(*sums) for sums in every.values())
            self._must_be_short(convolved)
            distinct = {key: laws.sums_of(*sums) for key, sums in every.items()}
            tables = [distinct[key] for key in keys]
            if float(self._survival(np.array([latest]), tables)[0]) < BODY or not any(s.error for s in tables):
                break
        return tables

    def _must_be_short(self, convolved: int) -> None:
        """Refuse what would take minutes and gigabytes. convolved: numbers in the tables of sums by convolution."""
        workers, most = len(self._loads), int(self._loads.sum())
        seconds = seconds_of_law(workers, most if self.purge else 0, self.critical) + 1e-7 * convolved
        if seconds > allowed(LONGEST):
            problem = f"the law of an iteration with {workers} workers would take some {seconds:.0f} s and more"
            raise BadInput("critical", self.critical, problem, "cut an iteration into fewer, larger tasks")

    def _caps(self, latest: float) -> IntArray:
        """Tasks' worth of work (loads and shared chunks), cut to what can be finished by then but for NEVER.

        A sum of j non-negative times is below j m - x with a probability of at most exp(-x^2/(2 j E[T^2])).
        """
        units = self._loads + self._shared_chunks
        if not self.purge:
            return units
        width = -2 * math.log(NEVER) * self._second
        room = np.maximum(latest - self._comm, 0.0)
        root = (np.sqrt(width) + np.sqrt(width + 4 * self._mean * room)) / (2 * self._mean)
        return np.minimum(units, np.ceil(np.minimum(root**2, 2.0**62)).astype(np.int64) + 1)

    def _finished(self, p: int, t: Array, tables: Sequence[laws.Sums]) -> Array:
        """F_p(t): the probability that worker p has finished its whole assignment."""
        load = int(self._loads[p])
        since = np.maximum(t - self._comm[p] - load * self._seconds_per_task, 0.0)
        count = load + self._shared_chunks
        finished = sum(chance * tables[p].cdf(count, since / slow) for chance, slow in self._states)
        return np.where(t >= self._comm[p] + load * self._seconds_per_task, finished, 0.0)

    def _survival(self, t: Array, tables: Sequence[laws.Sums]) -> Array:
        if self.purge:
            survival = np.clip(counting.total(self._counts(t, tables), self.critical).sum(1), 0.0, 1.0)
            return np.where(survival < NOISE, 0.0, survival)
        product = np.ones(t.size)
        for p in range(len(self._loads)):
            product *= self._finished(p, t, tables)
        return 1 - product

    def _counts(self, t: Array, tables: Sequence[laws.Sums]) -> list[Array]:
        """Each worker's table of counts, without those that nobody can have reached by the latest of t."""
        caps = self._caps(float(t.max())) - self._shared_chunks
        known: dict[tuple[int, float, int], Array] = {}  # equal workers share their table
        kinds = [(id(tables[p]), float(self._comm[p]), int(cap)) for p, cap in enumerate(caps)]
        for p, kind in enumerate(kinds):
            if kind not in known:
                known[kind] = self._count(t, tables[p], *kind[1:])
        return [known[kind] for kind in kinds]

    def _count(self, t: Array, table: laws.Sums, comm: float, most: int) -> Array:
        """The table of counts of a worker; most: the results that it can have brought."""
        if most <= 0:  # not even the shared chunks can be done by then
            return counting.counts(np.zeros((1, t.size)))
        since = np.maximum(t - comm, 0.0)
        rows = sum(
            chance * laws.results_by(table, most, since, self._shared_chunks, self._seconds_per_task, slow)
            for chance, slow in self._states
        )
        done = np.where(t >= comm, rows, 0.0)
        return counting.counts(done[: max(np.count_nonzero(done[:, int(np.argmax(t))] > NEVER), 1)])

    def _occupied(self, t: Array) -> Array:
        """Rows of P(worker p is not done and the iteration is not over at t), one for each busy worker."""
        if not self.purge:
            return self._unfinished(t)
        tables = self._counts(t, self._sums)
        rows = [counting.total(tables, self.critical).sum(1)] * len(tables)
        able = [p for p, table in enumerate(tables) if table.shape[1] > self._loads[p]]  # the others cannot be done
        done = {p: tables[p][:, -1] for p in able if tables[p][:, -1].max() > BUSY_ERROR}
        for p, short in self._others_short(tables, list(done)).items():
            rows[p] = rows[p] - done[p] * short
        return np.asarray(np.clip(rows, 0.0, 1.0))

    def _others_short(self, tables: Sequence[Array], workers: Sequence[int]) -> dict[int, Array]:
        """For each of these workers P(the others bring fewer than the K - kappa_p results that are needed of them)."""
        if not workers:
            return {}
        needed = {p: max(self.critical - int(self._loads[p]), 0) for p in workers}
        if len(tables) * self.critical <= EXACT_BUSY:
            halves = counting.halves_without_each(tables, self.critical)
            return {p: counting.merge(*halves[p], self.critical)[:, : needed[p]].sum(1) for p in workers}
        # A sum of many counts is nearly normal, and a table without each of many workers takes minutes.
        means = np.array([table @ np.arange(table.shape[1]) for table in tables])
        squares = np.array([table @ np.arange(table.shape[1]) ** 2.0 for table in tables])
        mean, var = means.sum(axis=0), (squares - means**2).sum(axis=0)
        others = {p: (mean - means[p], var - (squares[p] - means[p] ** 2)) for p in workers}
        return {
            p: special.ndtr((needed[p] - 0.5 - m) / np.sqrt(np.maximum(v, LEAST_SPREAD)))
            for p, (m, v) in others.items()
        }

    def _unfinished(self, t: Array) -> Array:
        """Rows of P(worker p is not done with its assignment at t), as if nothing ended the iteration."""
        return np.array([1 - self._finished(p, t, self._sums) for p in range(len(self._loads))])

    def _locate(self, survival: float, precision: float) -> float:
        """The least t with P(T_itr > t) <= survival."""
        low, high = 0.0, self._fluid()
        while float(self.sf(high)) > survival:
            low, high = high, 2 * high
        for _ in range(12):
            grid = np.linspace(low, high, 33)
            first = int(np.argmax(self.sf(grid) <= survival))
            low, high = float(grid[max(first - 1, 0)]), float(grid[first])
            if high - low <= precision * high:
                break
        return high


def seconds_of_law(workers: int, total: int, critical: int) -> float:
    """How long the moments of a law take, roughly: counts, their transforms and the workers, each at some 700 times."""
    return 1e-5 * (total + critical * math.log2(2 * workers)) + 3.5e-4 * workers


@checked
def iteration_law(cluster: Cluster, split: Split, purge: bool = True) -> IterationLaw:
    """The law of an iteration under a split."""
    return IterationLaw(cluster.tasks(split.spec), split.loads, split.spec.critical, purge)
