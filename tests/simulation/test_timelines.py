"""Timelines: who worked on what when agrees with the trace, task by task."""

from __future__ import annotations

import numpy as np
import pytest

import deadheat as dh
from deadheat.model import Timeline
from deadheat.simulation import iteration_times

CLUSTER = dh.Cluster.from_columns([1.0, 2.0, 0.5, 3.0], [1.0, 1.0, 0.5, 1.0], [0.3, 0.0, 0.6, 0.1])
SPLIT = dh.Split.of([2, 1, 5, 0], dh.CodeSpec.of(6, 8))
STREAM = dh.Stream.poisson(0.08, 3)
JOBS, OVERHEAD = 60, 0.25


def run(purge: bool = True, timeline: bool = True, overhead: float = OVERHEAD, **more: object) -> dh.Trace:
    return dh.simulate(CLUSTER, SPLIT, STREAM, JOBS, purge, 5, timeline, overhead=overhead, **more)  # type: ignore[arg-type]


@pytest.fixture(params=[2**19, 2**8], ids=["one batch", "many batches"])
def trace(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> dh.Trace:
    monkeypatch.setattr(iteration_times, "DRAWS", request.param)
    return run()


def timeline_of(trace: dh.Trace) -> Timeline:
    assert trace.timeline is not None
    return trace.timeline


def places(timeline: Timeline) -> np.ndarray:
    """The number of each task's iteration over the whole run."""
    numbers: np.ndarray = timeline.job * STREAM.iterations + timeline.iteration
    return numbers


def iteration_ends(timeline: Timeline) -> np.ndarray:
    """When the last counted task of each iteration ends."""
    ends = np.full(JOBS * STREAM.iterations, -np.inf)
    np.maximum.at(ends, places(timeline)[timeline.done], timeline.end[timeline.done])
    return ends


def test_exactly_k_tasks_count_in_each_iteration(trace: dh.Trace) -> None:
    timeline = timeline_of(trace)
    counted = np.bincount(places(timeline)[timeline.done], minlength=JOBS * STREAM.iterations)
    assert (counted == SPLIT.spec.critical).all()


def test_the_last_counted_task_ends_the_iteration(trace: dh.Trace) -> None:
    ends = iteration_ends(timeline_of(trace)).reshape(JOBS, -1)
    np.testing.assert_allclose(ends[:, -1] + OVERHEAD, trace.end, rtol=1e-12)
    # The first task of a worker without comm begins with the iteration.
    timeline = timeline_of(trace)
    second = timeline.worker == 1
    begins = timeline.begin[second].reshape(JOBS, -1)
    np.testing.assert_allclose(begins[:, 0], trace.start, rtol=1e-12)
    np.testing.assert_allclose(begins[:, 1:], ends[:, :-1] + OVERHEAD, rtol=1e-12)


def test_purged_tasks_end_with_the_iteration(trace: dh.Trace) -> None:
    timeline = timeline_of(trace)
    purged = ~timeline.done
    assert purged.any()
    np.testing.assert_allclose(timeline.end[purged], iteration_ends(timeline)[places(timeline)[purged]], rtol=1e-12)
    key = places(timeline)[purged] * len(CLUSTER) + timeline.worker[purged]
    assert np.unique(key).size == key.size  # no worker has two tasks in hand


def test_tasks_of_a_worker_do_not_overlap(trace: dh.Trace) -> None:
    timeline = timeline_of(trace)
    assert (timeline.end > timeline.begin).all()
    for p in range(len(CLUSTER)):
        mine = timeline.worker == p
        order = np.argsort(timeline.begin[mine])
        begin, end = timeline.begin[mine][order], timeline.end[mine][order]
        assert (begin[1:] >= end[:-1] - 1e-9).all()


def test_no_worker_has_more_than_its_load(trace: dh.Trace) -> None:
    timeline = timeline_of(trace)
    for p, load in enumerate(SPLIT.loads):
        counts = np.bincount(places(timeline)[timeline.worker == p], minlength=JOBS * STREAM.iterations)
        assert counts.max() <= load
        assert counts.max() > 0 or load == 0


def test_first_tasks_wait_for_the_message(trace: dh.Trace) -> None:
    timeline = timeline_of(trace)
    key = places(timeline) * len(CLUSTER) + timeline.worker
    _, first = np.unique(key, return_index=True)
    first = first[(timeline.iteration[first] == 0)]
    begun = trace.start[timeline.job[first]] + CLUSTER.comm[timeline.worker[first]]
    np.testing.assert_allclose(timeline.begin[first], begun, rtol=1e-12)


@pytest.mark.parametrize("purge", [True, False])
@pytest.mark.parametrize("draws", [2**19, 2**8], ids=["one batch", "many batches"])
def test_recording_does_not_change_what_is_recorded(purge: bool, draws: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same seed, task by task with and without a record: the same run."""
    monkeypatch.setattr(iteration_times, "DRAWS", draws)
    seen, unseen = run(purge), run(purge, timeline=False, by_tasks=True)
    np.testing.assert_array_equal(seen.arrival, unseen.arrival)
    np.testing.assert_allclose(seen.service, unseen.service, rtol=1e-9)
    np.testing.assert_allclose(seen.end, unseen.end, rtol=1e-9)


def test_without_purging_all_tasks_count() -> None:
    timeline = timeline_of(run(purge=False))
    assert timeline.done.all()
    assert len(timeline) == JOBS * STREAM.iterations * SPLIT.spec.total


@pytest.mark.parametrize(
    "way",
    [
        {"timeline": True},
        {"timeline": False},
        {"timeline": False, "by_tasks": True},
        {"timeline": False, "schedule": "pull"},
        {"timeline": False, "purge": False},
    ],
    ids=str,
)
def test_the_masters_own_time_is_added_to_each_iteration(way: dict[str, bool]) -> None:
    with_it, without = run(overhead=OVERHEAD, **way), run(overhead=0.0, **way)
    np.testing.assert_allclose(with_it.service - without.service, OVERHEAD * STREAM.iterations, rtol=1e-9)


def test_slow_workers_are_on_record() -> None:
    """With a condition: tasks of a slow worker are longer by the factor, whole ones of a constant law exactly."""
    cluster = dh.Cluster.from_columns([1.0, 1.0], 0.0)
    split = dh.Split.of([2, 2], dh.CodeSpec(4))
    record = timeline_of(dh.simulate(cluster, split, STREAM, 50, True, 1, True, condition=dh.Switching(4.0, 0.3, 0.3)))
    lasted = np.round(record.end - record.begin, 6)
    assert set(lasted) == {1.0, 4.0}


def test_columns_are_the_fields_in_order() -> None:
    timeline = timeline_of(run())
    assert list(timeline.columns()) == ["job", "iteration", "worker", "begin", "end", "done"]
    assert {column.size for column in timeline.columns().values()} == {len(timeline)}


def test_trace_columns_hang_together() -> None:
    columns = run().columns()
    assert list(columns) == ["job", "arrival", "start", "end", "delay", "service", "wait"]
    np.testing.assert_allclose(columns["delay"], columns["wait"] + columns["service"])
    assert (columns["wait"] >= -1e-9).all()
    assert (np.diff(columns["end"]) > 0).all()
