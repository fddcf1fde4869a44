"""What the tests of the tuner share: workloads and searches on the worked example, and checks by simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import deadheat as dh
from deadheat.coding import Code
from deadheat.model import Array, Interval
from deadheat.paper import worked_example as paper
from deadheat.scheduling import Schedule, Static, schedule_named
from deadheat.simulation import Replications, replicate, times_of
from deadheat.simulation.batch import Batch
from deadheat.tuning import Choice, Ranking
from deadheat.tuning.candidates import Candidate

CLUSTER, STREAM = paper.cluster(), paper.stream()
WORK = 5_544_000.0  # ten operations for each of 554,400 samples: one plain gradient
GRADIENT, LINEAR, PRODUCT = (dh.Workload(kind, WORK) for kind in ("gradient", "linear", "product"))
SLOW = dh.Switching(10.0, 0.2, 0.8)
FEW = dh.Search(critical=(10,), redundancy=(1.0, 1.2, 1.5))
WIDE = dh.Search(critical=(10, 50, 200), redundancy=(1.0, 1.02, 1.1, 1.5))
NARROW = dh.Search(critical=(10, 50), redundancy=(1.0, 1.1, 1.5, 2.0))
PLAIN = ("uncoded", "cyclic")  # families of which any K results suffice: nothing is left to chance
SEARCHES = {
    "gradient": (GRADIENT, WIDE, None),
    "linear": (LINEAR, NARROW, None),
    "product": (PRODUCT, NARROW, None),
    "slow": (GRADIENT, NARROW, SLOW),
}


@dataclass(frozen=True, eq=False)
class UntilDecodable(Static):
    """The static split, ended by the code itself and not by a number of results."""

    code: Code

    def lengths(self, batch: object) -> Array:
        assert isinstance(batch, Batch)
        return times_of(Static(), batch, self.code)


def key(tried: Candidate | Choice) -> tuple[object, ...]:
    """What tells a candidate from all others."""
    shape = tried.shape
    settings = tuple(sorted(shape.settings.items()))
    return shape.family, shape.critical, shape.total, settings, tried.policy, tried.schedule


def the_choice(ranking: Ranking, family: str, critical: int, total: int, **settings: object) -> Choice:
    """The choice of these parameters with Theorem 2's split."""
    (choice,) = (
        choice
        for choice in ranking
        if (choice.family, choice.spec.critical, choice.spec.total, choice.policy)
        == (family, critical, total, "optimal")
        and settings.items() <= dict(choice.shape.settings).items()
    )
    return choice


def schedule_of(choice: Choice) -> Schedule:
    return schedule_named(choice.schedule) if choice.shape.any_critical else UntilDecodable(choice.shape.build())


def simulated(choice: Choice, seed: int, condition: Any = None, draws: int = 12_000_000) -> Replications:
    """Twelve independent runs of the choice, task by task."""
    jobs = max(int(draws / 12 / STREAM.iterations / choice.spec.total), 10)
    schedule = schedule_of(choice)

    def run(number: int) -> dh.Trace:
        return dh.simulate(
            CLUSTER, choice.split, STREAM, jobs, seed=number,
            schedule=schedule, condition=condition, overhead=choice.overhead, by_tasks=True,
        )  # fmt: skip

    return replicate(run, seed, 12)


def reach(interval: Interval) -> float:
    """Four standard errors, from a 95 % interval over twelve runs (Student's 2.2)."""
    return (interval.high - interval.low) / 2 / 2.2 * 4


def own_reach(choice: Choice) -> float:
    """The same of a choice that was judged by simulation, over many iterations; nothing where it is exact."""
    return 0.0 if choice.interval is None else (choice.interval.high - choice.interval.low) / 2 / 1.96 * 4


def confirm(choice: Choice, seed: int, condition: Any = None, draws: int = 12_000_000) -> Replications:
    """What was predicted is what a simulation gives; five per cent more or less would be seen."""
    sample = simulated(choice, seed, condition, draws)
    assert abs(choice.service_mean - sample.service.mean) <= reach(sample.service) + own_reach(choice)
    assert abs(choice.delay - sample.delay.mean) <= reach(sample.delay) + own_reach(choice)
    assert reach(sample.service) + own_reach(choice) < 0.05 * sample.service.mean
    return sample
