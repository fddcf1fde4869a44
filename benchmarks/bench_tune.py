"""The tuner on a thousand candidates and five workers, against the time a person waits."""

from __future__ import annotations

import time

import deadheat as dh
from benchmarks.timing import Row
from deadheat.paper import worked_example
from deadheat.tuning.candidates import candidates

PLAIN = worked_example.OPERATIONS * worked_example.SAMPLES  # W of one plain gradient
SEARCH = dh.Search(
    critical=(5, 10, 20, 50, 100, 150, 200),
    redundancy=(1.0, 1.02, 1.05, 1.1, 1.2, 1.3, 1.5, 2.0),
    policies=("optimal", "fastest", "uniform"),
)


def rows() -> list[Row]:
    """The limit of the issue that brought it in; once only, for it takes long."""
    workload, cluster, stream = dh.Workload("gradient", PLAIN), worked_example.cluster(), worked_example.stream()
    count = len(list(candidates(workload, stream, SEARCH)))
    if count < 1000:
        raise AssertionError(f"{count} candidates: widen the search")
    start = time.perf_counter()
    ranking = dh.tune(workload, cluster, stream, SEARCH)
    taken = time.perf_counter() - start
    judged = len(ranking) + ranking.refused
    return [Row(f"tune of {count} candidates ({judged} judged, {ranking.pruned} pruned)", taken, "60 s", 60.0, 1)]
