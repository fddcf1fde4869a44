"""First K of n: samples of which any K will do, such as rollouts of a policy or draws of a simulation.

An iteration asks for n samples and goes on with the first K. Those that come late are dropped, or recycled: a worker
that ended one after the iteration was over hands it in as its first of the next.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadheat.coding import Code, Cost, Recipe, Weights, sizes
from deadheat.errors import BadInput, finite, whole
from deadheat.model import AnyArray, Cluster, CodeSpec
from deadheat.planning import split
from deadheat.queueing import IterationLaw
from deadheat.scheduling import NumericProgram, Program, Token


class FirstOf(Code):
    """Any K of n results, as they are."""

    family, kind = "first of", "sample"

    def __init__(self, critical: int, total: int) -> None:
        self.critical, self._total = sizes(critical, total)
        self.cost = Cost(1 / self.critical, 0.0, plain=self._total)

    @property
    def total(self) -> int:
        return self._total

    @property
    def _inputs(self) -> AnyArray:
        return np.eye(self._total)[:, :, None]

    def decodable(self, done: Collection[int]) -> bool:
        return len(self._known(done)) >= self.critical

    def _recipe(self, done: tuple[int, ...]) -> Recipe | None:
        every = Weights(done, np.arange(len(done)), np.empty((0, len(done))), 1.0, 0.0)
        return every if len(done) >= self.critical else None


class RolloutProgram(NumericProgram):
    """Draws samples; one that ended too late is kept for the next iteration where it may be recycled."""

    repeatable = False  # a recycled sample is not that of its task

    def __init__(self, job: Rollouts) -> None:
        code = FirstOf(job.critical, job.total)
        super().__init__(
            code, work=float(job.critical), iterations=job.iterations, name=job.name, step=job.step,
            converges=job.converges,
        )  # fmt: skip
        self._sample, self._seed, self._recycle = job.sample, job.seed, job.recycle
        self._state: Any = None
        self._iteration = 0
        self._late: list[AnyArray] = []

    def begin(self, state: Any, iteration: int) -> None:
        self._state, self._iteration = state, iteration

    def run(self, task: int, token: Token) -> AnyArray:
        if self._late:
            return self._late.pop()
        seed = int(np.random.SeedSequence([self._seed, self._iteration, task]).generate_state(1)[0])
        value = np.asarray(self._sample(self._state, seed))
        if self._recycle and token.purged:
            self._late.append(value)
        return value


@dataclass(eq=False)
class Rollouts:
    """A job of samples. sample(state, seed) -> array; step(state, samples, iteration), the samples stacked, K or more.

    recycle: use samples that came late in the next iteration, though they are of the state before. converges: `step`
    ends the job at a tolerance.
    """

    sample: Callable[[Any, int], Any]
    start: Any
    step: Callable[[Any, AnyArray, int], Any]
    iterations: int
    critical: int
    total: int
    seed: int = 0
    recycle: bool = False
    name: str = ""
    converges: bool = False

    def __post_init__(self) -> None:
        whole("iterations", self.iterations, "give how often to iterate")
        sizes(self.critical, self.total)

    def program(self, code: Code | None, memory: float) -> Program:
        if code is not None:
            raise BadInput("code", code.family, "any K of n samples need none", "leave it out; set critical and total")
        return RolloutProgram(self)


def redundancy_for(cluster: Cluster, critical: int, within: float = 0.02, most: float = 3.0) -> float:
    """The least n/K that comes within a part of the shortest iteration: from the measured tail of the task times.

    cluster: as `dh.measure` found it; its unit of work is one sample.
    """
    finite("within", within, "give a part of the time, such as 0.02", above=0.0)
    means = {}
    for total in range(critical, math.floor(most * critical) + 1):
        spec = CodeSpec.of(critical, total)
        means[total] = IterationLaw(cluster.tasks(spec), split(cluster, spec).loads, critical).mean
    best = min(means.values())
    return next(total for total, mean in means.items() if mean <= (1 + within) * best) / critical
