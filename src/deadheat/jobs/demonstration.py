"""The demonstration: one stream of training jobs on five unequal workers, run three ways; then one worker is killed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.coding import Code, codes
from deadheat.jobs.least_squares import in_series, made_least_squares
from deadheat.model import Cluster, CodeSpec, Search, Split, Stream, Workload, assignment_moments
from deadheat.planning import policy
from deadheat.runtime import Job, LocalEngine, Run, run
from deadheat.runtime.messages import Command, Event, Resolved
from deadheat.tuning import tune

WORK = 5_544_000.0  # W, operations of a plain iteration: about 0.1 s on the paper's workers
ITERATIONS, JOBS, EVERY = 20, 3, 2.5  # of a job; jobs; seconds between their arrivals
CODE = 55, 5  # tasks, and results that may be missing
TRIED = Search(
    ("uncoded", "cyclic", "fractional repetition", "replication"), (10, 20, 50), (1.0, 1.1, 1.5, 2.0), ("optimal",)
)


@dataclass(frozen=True, eq=False)
class Way:
    """One way to run the stream: a code and a policy of splitting it."""

    name: str
    code: Code
    policy: str

    @property
    def spec(self) -> CodeSpec:
        """Its tasks."""
        return CodeSpec.of(
            self.code.critical, self.code.total, WORK * self.code.cost.work, self.code.cost.shared_chunks
        )

    def split(self, cluster: Cluster) -> Split:
        """Who does how much."""
        return policy(self.policy)(cluster, self.spec, 1.0)

    def finish(self, cluster: Cluster) -> list[float]:
        """When each worker is expected to be done with its share."""
        found: list[float] = assignment_moments(cluster.tasks(self.spec), self.split(cluster).loads)[0].tolist()
        return found


def ways(cluster: Cluster) -> list[Way]:
    """An even split, Theorem 2 with the same code, and what the tuner finds best."""
    code = codes.cyclic(*CODE, reuse=True)
    best = tune(Workload("gradient", WORK), cluster, Stream(EVERY, 0.0, ITERATIONS), TRIED).best
    return [
        Way("even split", code, "uniform"),
        Way("Theorem 2", code, "optimal"),
        Way("tuner's choice", best.shape.build(), best.policy),
    ]


def stream(way: Way, cluster: Cluster, seed: int = 1) -> Run:
    """The jobs on emulated local workers, one every few seconds."""
    arrivals = [EVERY * n for n in range(JOBS)]
    return run(
        jobs(way.code, JOBS), cluster, way.code, "local", arrivals=arrivals, policy=way.policy, work=WORK,
        emulate=True, adapt=False, seed=seed,
    )  # fmt: skip


def jobs(code: Code, count: int) -> list[Job]:
    """Training jobs of different data, cut as the code wants it."""
    return [made_least_squares(code.chunks, ITERATIONS, seed=n, name=f"job {n + 1}") for n in range(count)]


def with_a_death(way: Way, cluster: Cluster, worker: int, seed: int = 2) -> tuple[Run, Death]:
    """One job, and a worker that is killed in its middle."""
    death = Death(worker)
    under_way = run(
        jobs(way.code, 1), cluster, way.code, "local", policy=way.policy, work=WORK, emulate=True, seed=seed,
        listeners=[death],
    )  # fmt: skip
    death.of = under_way
    return under_way, death


@dataclass(eq=False)
class Death:
    """A listener that kills a worker half way."""

    worker: int
    of: Run | None = None
    at: int | None = None  # the iteration

    def __call__(self, news: Event | Command, at: float) -> None:
        """Kill it, once."""
        if self.at is None and isinstance(news, Resolved) and news.ticket.iteration == ITERATIONS // 2 and self.of:
            self.at = news.ticket.iteration
            assert isinstance(self.of.driver.engine, LocalEngine)
            self.of.driver.engine.kill(self.worker)


def difference(done: Run, given: Sequence[Job]) -> float:
    """The largest difference between the weights of a run and those of one process alone."""
    return max(
        float(np.abs(np.asarray(delivery.state) - in_series(job)).max())
        for delivery, job in zip(done.deliveries, given, strict=True)
    )
