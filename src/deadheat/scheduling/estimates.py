"""How fast each worker is, from what it did: running moments that forget, notice changes and count cut-off tasks.

Averaging finished tasks only makes a slow worker look fast: its long tasks are those that are purged. A task that was
cut off at age x counts as one of E[X | X > x], X a gamma variable with the moments known so far: one step of
expectation maximisation.

A change shows as a sum of surprises that does not end (Page's CUSUM): each task adds by how many standard deviations it
was longer than expected, less an allowance, and the sum never falls below zero. What came since it last was zero is
what the worker is like now.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from deadheat.model import Cluster, Worker, special

MEMORY = 100.0  # tasks after which an old one counts for a third
LONGER = (1, 1.0, 16.0)  # upwards; standard deviations allowed per task, and how many more in all are no chance
SHORTER = (-1, 0.35, 11.0)  # downwards; tasks have a bound below: what is shorter cannot surprise as much
MOST_SURPRISE = 6.0  # of one task: a single hiccup is no change
LEAST_SPREAD = 0.05  # of the mean: tasks that are more alike than that are not told apart
NOTICEABLE = 1.3  # how many times slower or faster a worker must be to be called changed
ENOUGH = 40  # tasks before anything is said of changes, or of a worker's best
SURE = 2.0  # standard errors
PRIOR = 3.0  # tasks that a declared speed counts for
SILENCE = 20.0  # standard deviations beyond the mean after which a task is overdue
LEAST_SILENCE = 2.0  # seconds
UNHEARD = 60.0  # seconds of silence that are allowed where nothing is known of any worker


@dataclass(slots=True)
class Running:
    """An average that forgets: weight, mean and mean square."""

    memory: float
    weight: float = 0.0
    mean: float = 0.0
    square: float = 0.0

    def add(self, value: float, square: float) -> None:
        """Add an observation, with its square (or the expectation of it)."""
        self.weight = self.weight * (1 - 1 / self.memory) + 1
        part = 1 / self.weight
        self.mean += part * (value - self.mean)
        self.square += part * (square - self.square)

    @property
    def std(self) -> float:
        return math.sqrt(max(self.square - self.mean**2, 0.0))

    @property
    def error(self) -> float:
        """How far the mean may be off by chance: its standard error."""
        return self.std / math.sqrt(self.weight) if self.weight else math.inf


@dataclass(slots=True)
class Surprise:
    """A sum of surprises in one direction, and what was seen since it began to grow.

    mean, spread: what was known of a task when it began: what came later may be of another worker.
    """

    sign: int
    allowance: float
    limit: float
    sum: float = 0.0
    mean: float = 0.0
    spread: float = 0.0
    since: Running = field(default_factory=lambda: Running(MEMORY))

    def add(self, value: float, square: float, usual: Running) -> bool:
        """Add an observation; return whether the surprises are too many for chance."""
        if not self.sum:
            self.mean, self.spread = usual.mean, max(usual.std, LEAST_SPREAD * usual.mean)
        surprise = self.sign * (value - self.mean) / self.spread
        self.sum += min(surprise, MOST_SURPRISE) - self.allowance
        if self.sum <= 0:
            self.forget()
            return False
        self.since.add(value, square)
        return self.sum > self.limit and not 1 / NOTICEABLE < self.since.mean / self.mean < NOTICEABLE

    def forget(self) -> None:
        self.sum, self.since = 0.0, Running(self.since.memory)


@dataclass(slots=True)
class Estimate:
    """One worker: seconds per unit of work, seconds per iteration, and how it was at its best."""

    work: Running = field(default_factory=lambda: Running(MEMORY))
    comm: Running = field(default_factory=lambda: Running(MEMORY / 4))
    longer: Surprise = field(default_factory=lambda: Surprise(*LONGER))
    shorter: Surprise = field(default_factory=lambda: Surprise(*SHORTER))
    seen: int = 0
    best: float = math.inf
    changes: int = 0

    def finished(self, seconds: float, units: float) -> bool:
        """A task of so many units took so long; whether the worker has changed."""
        value = seconds / units
        return self._add(value, value * value)

    def cut_off(self, seconds: float, units: float) -> bool:
        """A task was put down at this age."""
        return self._add(*self._expected(seconds / units))

    def _expected(self, age: float) -> tuple[float, float]:
        """Mean and mean square of a task that has gone on for so long."""
        m, v = self.work.mean, self.work.square - self.work.mean**2
        if not self.work.weight:  # nothing is known of it but that it is no faster
            return 1.5 * age, (1.5 * age) ** 2
        if v <= (LEAST_SPREAD * m) ** 2:
            return max(age, m), max(age, m) ** 2
        a, scale = m * m / v, v / m
        x = age / scale
        beyond = float(special.gammaincc(a, x))
        if beyond < 1e-12:  # far out every gamma law ends like an exponential one
            return age + scale, (age + scale) ** 2 + scale**2
        mean = m * float(special.gammaincc(a + 1, x)) / beyond
        return mean, m * (m + scale) * float(special.gammaincc(a + 2, x)) / beyond

    def _add(self, value: float, square: float) -> bool:
        changed = self.seen >= ENOUGH and self._changed(value, square)
        if not changed:
            self.work.add(value, square)
        self.seen += 1
        if self.work.weight >= ENOUGH:  # as good as it surely was, not as it seemed in a lucky moment
            self.best = min(self.best, self.work.mean + SURE * self.work.error)
        return changed

    def _changed(self, value: float, square: float) -> bool:
        """Whether it is another worker than it was; then what is old is forgotten."""
        for surprise in (self.longer, self.shorter):
            if surprise.add(value, square, self.work):
                since = surprise.since
                self.work.weight, self.work.mean, self.work.square = since.weight, since.mean, since.square
                self.longer.forget()
                self.shorter.forget()
                self.changes += 1
                return True
        return False


class Score(NamedTuple):
    """From 0 to 1: a worker's speed as a part of the fastest's, and as a part of its own best.

    slower: it is slower than it was, beyond chance.
    """

    relative: float
    individual: float
    slower: bool


class Estimates:
    """All workers of a run. `declared` is where they start: it counts as a few tasks each, until real ones come.

    guessed: nothing is known of them; who has done nothing yet is taken to be like those who have.
    memory: tasks after which an old one counts for a third.
    """

    def __init__(self, declared: Cluster, guessed: bool = False, memory: float = MEMORY) -> None:
        self._declared, self._guessed, self._memory = declared, guessed, memory
        self._of: dict[int, Estimate] = {}

    def __getitem__(self, worker: int) -> Estimate:
        """The estimate of a worker, made from what was declared of it (or of the first, for those that come later)."""
        if worker not in self._of:
            start = self._declared[worker if worker < len(self._declared) else 0]
            estimate = Estimate(Running(self._memory), comm=Running(self._memory / 4))
            estimate.work.weight = estimate.comm.weight = 0.0 if self._guessed else PRIOR
            estimate.work.mean, estimate.work.square = start.mean, start.mean**2 + start.std**2
            estimate.comm.mean, estimate.comm.square = start.comm, start.comm**2
            self._of[worker] = estimate
        return self._of[worker]

    def cluster(self, workers: Iterable[int]) -> Cluster:
        """The workers as they are now, for a split."""
        return Cluster([self._worker(worker) for worker in workers])

    def seconds(self, worker: int, adapt: bool) -> float:
        """Seconds per unit of work: as estimated now, or (adapt = False) as declared."""
        inside = not self._guessed and worker < len(self._declared)
        return float(self._declared.mean[worker]) if inside and not adapt else self._work(worker).mean

    def declared(self, workers: Iterable[int]) -> Cluster:
        """The workers as they were declared; those that came later like the first."""
        if self._guessed:
            return self.cluster(workers)
        declared = self._declared
        return Cluster([declared[w] if w < len(declared) else replace(declared[0], name=self.name(w)) for w in workers])

    def _work(self, worker: int) -> Running:
        """The speed of a worker; of one that was guessed and has done nothing yet, that of the others."""
        now = self[worker]
        return (self._like_the_others() if self._guessed and not now.seen else None) or now.work

    def _like_the_others(self) -> Running | None:
        seen = [estimate.work for estimate in self._of.values() if estimate.seen]
        if not seen:
            return None
        mean, square = (sum(getattr(work, name) for work in seen) / len(seen) for name in ("mean", "square"))
        return Running(MEMORY, 1.0, mean, square)

    def _worker(self, worker: int) -> Worker:
        now, work = self[worker], self._work(worker)
        inside = worker < len(self._declared)
        capacity = float(self._declared.capacity[worker]) if inside else math.inf
        return Worker(work.mean, work.std, max(now.comm.mean, 0.0), self.name(worker), capacity=capacity)

    def name(self, worker: int) -> str:
        return self._declared.names[worker] if worker < len(self._declared) else f"joined-{worker + 1}"

    def patience(self, worker: int, units: float) -> float:
        """Seconds of silence after which a worker with a task in hand is taken for lost."""
        if self._guessed and not any(estimate.seen for estimate in self._of.values()):
            return UNHEARD
        work = self._work(worker)
        spread = max(work.std, LEAST_SPREAD * work.mean)  # tasks that were alike so far may still have a hiccup
        return max(self[worker].comm.mean + units * (work.mean + SILENCE * spread), LEAST_SILENCE)

    def scores(self, workers: Iterable[int]) -> dict[int, Score]:
        """How each worker does, against the fastest of them and against itself."""
        now = {w: self._work(w).mean for w in workers}
        fastest = min(now.values(), default=1.0)
        return {
            w: Score(fastest / mean, min(self[w].best / mean, 1.0), self._slower(self[w])) for w, mean in now.items()
        }

    def _slower(self, estimate: Estimate) -> bool:
        return estimate.work.mean - SURE * estimate.work.error > NOTICEABLE * estimate.best
