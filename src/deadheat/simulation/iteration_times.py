"""Iteration times by the hundred thousand: from the exact law where that will do, task by task where not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import count

import numpy as np

from deadheat.model import Array, Cluster, Split
from deadheat.queueing import IterationLaw
from deadheat.simulation.batch import Batch
from deadheat.simulation.quantile_table import QuantileTable
from deadheat.simulation.replay import Condition
from deadheat.simulation.schedules import Schedule, Static
from deadheat.simulation.seeds import child

DRAWS = 2**18  # numbers drawn at a time: what a processor keeps at hand (bench_simulate), and memory stays bounded
Source = Callable[[int], Array]
ITERATIONS, CONDITIONS = 1, 2  # places in the tree of seeds; 0 is the arrivals'


def exact(cluster: Cluster, split: Split, purge: bool, seeds: np.random.SeedSequence) -> Source:
    """Times from the exact law: one draw per iteration. The law is that of independent tasks under the static split."""
    table, rng = _table(cluster, split, purge), child(seeds, ITERATIONS)
    return lambda size: table.draw(rng, size)


@lru_cache(maxsize=64)
def _table(cluster: Cluster, split: Split, purge: bool) -> QuantileTable:
    """The law as a table; kept for the next replication (clusters and splits never change)."""
    return QuantileTable(IterationLaw(cluster.tasks(split.spec), split.loads, split.spec.critical, purge))


def batches(
    cluster: Cluster,
    split: Split,
    condition: Condition | None,
    seeds: np.random.SeedSequence,
    multiple: int = 1,
    total: int | None = None,
) -> Iterator[Batch]:
    """Batch after batch of iterations, task by task: a multiple of so many in each, so many in all or without end."""
    tasks = cluster.tasks(split.spec)
    factors = None if condition is None else condition.factors(len(tasks), child(seeds, CONDITIONS))
    place = np.random.SeedSequence(seeds.entropy, spawn_key=(*seeds.spawn_key, ITERATIONS))
    usual = multiple * max(DRAWS // split.spec.total // multiple, 1)
    for number in count():
        size = usual if total is None else min(usual, total - number * usual)
        if size <= 0:
            return
        stretch = None if factors is None else factors(size)
        yield Batch(tasks, split.loads, split.spec.critical, size, place, number, stretch)


def all_needed(split: Split) -> Split:
    """The same loads where every result is awaited: no purging."""
    return Split.of(split.loads, replace(split.spec, critical=split.spec.total, redundancy=1.0))


def by_task(
    cluster: Cluster,
    split: Split,
    purge: bool,
    seeds: np.random.SeedSequence,
    schedule: Schedule,
    condition: Condition | None = None,
    multiple: int = 1,
    total: int | None = None,
) -> Source:
    """Times from every task's own draw, for any schedule and condition; of so many iterations in all."""
    if not purge:
        split = all_needed(split)
    source = batches(cluster, split, condition, seeds, multiple, total)
    left: list[Array] = []

    def following(size: int) -> Array:
        nonlocal left
        have = sum(part.size for part in left)
        while have < size:
            left.append(schedule.lengths(next(source)))
            have += left[-1].size
        joined = np.concatenate(left)
        left = [joined[size:]]
        return joined[:size]

    return following


def is_exact(schedule: Schedule, condition: Condition | None) -> bool:
    """Whether the exact law tells all: the static split with independent tasks."""
    return isinstance(schedule, Static) and condition is None
