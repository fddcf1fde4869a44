"""How fast each worker is, from what it did: running moments that forget, notice changes and know of cut-off tasks.

Averaging finished tasks only makes a slow worker look fast: its long tasks are those that are purged. A task that was
cut off at age x counts as one of x + m (1 + cv^2)/2, the time that a task in hand has still to go on average (the
inspection paradox); the estimate is then right for any law.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from deadheat.model import Cluster, Worker

MEMORY = 100.0  # tasks after which an old one counts for a third
SHORT = 12.0  # the same for the quick average that notices changes
CHANGED = 5.0  # standard errors between the two that are no accident
NOTICEABLE = 1.3  # and how many times slower or faster, at least
ENOUGH = 20  # tasks before anything is said of a worker's best
SURE = 2.0  # standard errors
PRIOR = 3.0  # tasks that a declared speed counts for
SILENCE = 20.0  # standard deviations beyond its mean after which a task is overdue
LEAST_SILENCE = 2.0  # seconds


@dataclass(slots=True)
class Running:
    """An average that forgets: weight, mean and mean square."""

    memory: float
    weight: float = 0.0
    mean: float = 0.0
    square: float = 0.0

    def add(self, value: float, square: float) -> None:
        """One more observation, with its square (or the expectation of it)."""
        self.weight = self.weight * (1 - 1 / self.memory) + 1
        part = 1 / self.weight
        self.mean += part * (value - self.mean)
        self.square += part * (square - self.square)

    @property
    def std(self) -> float:
        """The spread of one observation."""
        return math.sqrt(max(self.square - self.mean**2, 0.0))

    @property
    def error(self) -> float:
        """How far the mean may be off by chance: its standard error."""
        return self.std / math.sqrt(self.weight) if self.weight else math.inf


@dataclass(slots=True)
class Estimate:
    """One worker: seconds per unit of work, seconds per iteration, and how it was at its best."""

    work: Running = field(default_factory=lambda: Running(MEMORY))
    quick: Running = field(default_factory=lambda: Running(SHORT))
    comm: Running = field(default_factory=lambda: Running(MEMORY / 4))
    seen: int = 0
    best: float = math.inf
    changes: int = 0

    def finished(self, seconds: float, units: float) -> bool:
        """A task of so many units took so long; whether the worker has changed."""
        value = seconds / units
        return self._add(value, value * value)

    def cut_off(self, seconds: float, units: float) -> bool:
        """A task was put down at this age."""
        age = seconds / units
        m, v = self.work.mean, max(self.work.square - self.work.mean**2, 0.0)
        if not self.work.weight:  # nothing is known of it but that it is no faster
            m, v = age, 0.0
        rest = m * (1 + v / m**2) / 2
        return self._add(age + rest, (age + rest) ** 2 + rest**2)

    def _add(self, value: float, square: float) -> bool:
        self.work.add(value, square)
        self.quick.add(value, square)
        self.seen += 1
        if self.seen >= ENOUGH:  # as good as it surely was, not as it seemed in a lucky moment
            self.best = min(self.best, self.work.mean + SURE * self.work.error)
        return self._changed()

    def _changed(self) -> bool:
        """Two averages that disagree beyond chance: what is old is forgotten."""
        work, quick = self.work, self.quick
        if quick.weight < SHORT * 0.9 or work.weight < 2 * quick.weight or not work.mean:
            return False
        if 1 / NOTICEABLE < quick.mean / work.mean < NOTICEABLE:
            return False
        error = max(work.std, quick.std, 0.05 * work.mean) / math.sqrt(quick.weight)
        if abs(quick.mean - work.mean) < CHANGED * error:
            return False
        work.weight, work.mean, work.square = quick.weight, quick.mean, quick.square
        self.changes += 1
        return True


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
            known = self._declared[worker if worker < len(self._declared) else 0]
            made = Estimate(Running(self._memory), comm=Running(self._memory / 4))
            made.work.weight = made.comm.weight = 0.0 if self._guessed else PRIOR
            made.work.mean, made.work.square = known.mean, known.mean**2 + known.std**2
            made.comm.mean, made.comm.square = known.comm, known.comm**2
            self._of[worker] = made
        return self._of[worker]

    def cluster(self, workers: Iterable[int]) -> Cluster:
        """The workers as they are now, for a split."""
        return Cluster([self._worker(worker) for worker in workers])

    def declared(self, workers: Iterable[int]) -> Cluster:
        """The workers as they were declared; those that came later like the first."""
        if self._guessed:
            return self.cluster(workers)
        known = self._declared
        return Cluster([known[w] if w < len(known) else replace(known[0], name=f"joined-{w + 1}") for w in workers])

    def _like_the_others(self) -> Running | None:
        seen = [one.work for one in self._of.values() if one.seen]
        if not seen:
            return None
        mean, square = (sum(getattr(one, name) for one in seen) / len(seen) for name in ("mean", "square"))
        return Running(MEMORY, 1.0, mean, square)

    def _worker(self, worker: int) -> Worker:
        now = self[worker]
        work = (self._like_the_others() if self._guessed and not now.seen else None) or now.work
        inside = worker < len(self._declared)
        name = self._declared.names[worker] if inside else f"joined-{worker + 1}"
        capacity = float(self._declared.capacity[worker]) if inside else math.inf
        return Worker(work.mean, work.std, max(now.comm.mean, 0.0), name, capacity=capacity)

    def patience(self, worker: int, units: float) -> float:
        """Seconds of silence after which a worker with a task in hand is taken for lost."""
        now = self[worker]
        return max(now.comm.mean + units * (now.work.mean + SILENCE * now.work.std), LEAST_SILENCE)

    def scores(self, workers: Iterable[int]) -> dict[int, Score]:
        """How each worker does, against the fastest of them and against itself."""
        now = {w: self[w].work.mean for w in workers}
        fastest = min(now.values(), default=1.0)
        return {
            w: Score(fastest / mean, min(self[w].best / mean, 1.0), self._slower(self[w])) for w, mean in now.items()
        }

    def _slower(self, one: Estimate) -> bool:
        return one.work.mean - SURE * one.work.error > NOTICEABLE * one.best
