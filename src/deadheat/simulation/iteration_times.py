"""Iteration times by the hundred thousand: from the exact law where that will do, task by task where not."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import count

import numpy as np

from deadheat.coding import Code
from deadheat.model import Array, Cluster, Split
from deadheat.queueing import IterationLaw
from deadheat.scheduling import Schedule, Static, results
from deadheat.simulation.batch import Batch
from deadheat.simulation.condition import Condition
from deadheat.simulation.event_by_event import event_by_event
from deadheat.simulation.quantile_table import QuantileTable
from deadheat.simulation.seeds import child

DRAWS = 2**18  # numbers drawn at a time: what a processor keeps at hand (bench_simulate), and memory stays bounded
ITERATIONS, CONDITIONS = 1, 2  # places in the tree of seeds; 0 is the arrivals'


def exact(
    cluster: Cluster, split: Split, purge: bool, seeds: np.random.SeedSequence, *, multiple: int, total: int
) -> Iterator[Array]:
    """Times from the exact law of independent tasks under the static split: one draw per iteration, so many in all.

    They come in arrays of bounded size: a multiple of so many in each.
    """
    table, rng = _table(cluster, split, purge), child(seeds, ITERATIONS)
    usual = multiple * max(DRAWS // multiple, 1)
    for first in range(0, total, usual):
        yield table.draw(rng, min(usual, total - first))


@lru_cache(maxsize=64)
def _table(cluster: Cluster, split: Split, purge: bool) -> QuantileTable:
    """The law as a table; kept for the next replication (clusters and splits never change)."""
    return QuantileTable(IterationLaw(cluster.tasks(split.spec), split.loads, split.spec.critical, purge))


def batches(
    cluster: Cluster, split: Split, condition: Condition | None, seeds: np.random.SeedSequence, *,
    multiple: int = 1, total: int | None = None,
) -> Iterator[Batch]:  # fmt: skip
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


def times_of(schedule: Schedule, batch: Batch, code: Code | None = None) -> Array:
    """The time of each iteration of a batch under a schedule: by its fast path, else event by event.

    code: where iterations end on coverage or by peeling, and not at the K-th result.
    """
    if code is not None and code.fewest < code.critical:
        lengths = code.finish(results(batch)) if type(schedule) is Static else None
    else:
        code, lengths = None, schedule.lengths(batch)
    if lengths is None:
        return event_by_event(schedule, batch, code)
    lost = np.flatnonzero(~np.isfinite(lengths))
    if lost.size:
        lengths[lost] = event_by_event(schedule, batch, code, lost)
    return lengths
