"""Purging between tasks: the task in hand is finished first, and costs its worker the start of the next iteration."""

from __future__ import annotations

import numpy as np
import pytest
from event_loops import between_tasks
from hypothesis import given
from hypothesis import strategies as st

import deadheat as dh
from deadheat.simulation import iteration_times
from deadheat.simulation.batch import Batch
from deadheat.simulation.purge_between_tasks import follow

CLUSTER = dh.Cluster.from_columns([1.0, 2.0, 0.5], [1.0, 1.0, 0.5], [0.3, 0.0, 0.6])
SPLIT = dh.Split.of([2, 1, 5], dh.CodeSpec.of(6, 8))
LOST = "lost_seconds_per_iteration"


def constant(mean: list[float], loads: list[int], critical: int, iterations: int, comm: float = 0.0) -> dh.Trace:
    cluster = dh.Cluster.from_columns(mean, 0.0, comm)
    split = dh.Split.of(loads, dh.CodeSpec.of(critical, sum(loads)))
    return dh.simulate(cluster, split, dh.Stream(1e3, 0.0, iterations), 1, "between-tasks", 1)


def test_by_hand() -> None:
    """Tasks of 2 and 3 s, two each, K = 2.

    Iteration 1: results at 2 and 3, over at 3. The first worker's second task has 1 s to go; the other brings the last
    result and begins its second task, 3 s, before it hears of the end. Iteration 2: results at 1 + 2, 1 + 4 and 3 + 3:
    over at 5, the first worker has no more to do, the other's task has 1 s to go. Iteration 3: results at 2, 4 and
    1 + 3: over at 4.
    """
    trace = constant([2.0, 3.0], [2, 2], 2, 3)
    assert trace.service == pytest.approx([3.0 + 5.0 + 4.0])
    assert trace.about[LOST] == pytest.approx(((0 + 0) + (1 + 3) + (0 + 1)) / 2 / 3)


@pytest.mark.parametrize(
    ("second", "service", "left"),
    [(100.0, 3.0, 0.0), (6.0, 3.0, 0.0), (3.25, 4.75, 0.75 + 2.75), (1.0, 5.0, 1.0 + 3.0)],
)
def test_a_pause_between_jobs_is_used_up(second: float, service: float, left: float) -> None:
    """The first job is over at 3, with tasks in hand until 4 and 6; a later job waits less for them."""
    cluster = dh.Cluster.from_columns([2.0, 3.0], 0.0)
    split = dh.Split.of([2, 2], dh.CodeSpec.of(2, 4))
    trace = dh.simulate(cluster, split, dh.Stream(1e3, 0.0, 1), 2, "between-tasks", 1, arrivals=[0.0, second])
    assert trace.start == pytest.approx([0.0, max(second, 3.0)])
    assert trace.service == pytest.approx([3.0, service])
    assert trace.about[LOST] == pytest.approx(left / 2 / 2)


def test_a_worker_that_is_behind_skips_what_is_over() -> None:
    """Tasks of 1 s (two of them, K = 2) and of 3.5 s (one).

    All iterations last 2 s. The slow worker begins at 0 and at 3.5 (iteration 2), is done at 7 and begins again in
    iteration 4, which started at 6: before the four iterations it has 0, 1.5, 3 and 1 s to go. It must not run the task
    of iteration 3, which was over before it was free.
    """
    trace = constant([1.0, 3.5], [2, 1], 2, 4)
    assert trace.service == pytest.approx([8.0])
    assert trace.about[LOST] == pytest.approx((0 + 1.5 + 3 + 1) / 2 / 4)


def test_a_very_slow_worker_does_not_fall_behind_for_ever() -> None:
    """Of a task of 50.5 s in iterations of 1 s, at most 50.5 s can be left, however long the job."""
    trace = constant([1.0, 50.5], [1, 1], 1, 1000)
    assert trace.service == pytest.approx([1000.0])
    assert trace.about[LOST] <= 50.5 / 2


@given(
    st.lists(st.tuples(st.floats(0.2, 5.0), st.integers(1, 3)), min_size=1, max_size=4),
    st.integers(1, 3),
    st.floats(0.0, 1.0),
    st.integers(0, 2**32),
    st.data(),
)
def test_follow_is_the_event_loop(
    workers: list[tuple[float, int]], iterations: int, overhead: float, seed: int, data: st.DataObject
) -> None:
    mean, loads = zip(*workers, strict=True)
    critical = data.draw(st.integers(1, sum(loads)))
    cluster = dh.Cluster.from_columns(mean, mean)
    jobs = 6
    batch = Batch(
        cluster.tasks(dh.CodeSpec(1)), np.array(loads), critical, jobs * iterations, np.random.SeedSequence(seed), 0
    )
    arrival = np.cumsum(np.random.default_rng(seed).exponential(float(np.mean(mean)), jobs))
    start, end, lost = follow(iter([batch]), arrival, iterations, overhead)
    durations = [batch.durations(p, load) for p, load in enumerate(loads)]
    expected = between_tasks(durations, critical, arrival.tolist(), iterations, overhead)
    np.testing.assert_allclose(start, expected[0], rtol=1e-9)
    np.testing.assert_allclose(end, expected[1], rtol=1e-9)
    assert lost == pytest.approx(expected[2], rel=1e-9, abs=1e-9)


def test_never_faster_than_purging_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the same draws, job by job: arrivals at once, so that all are served without a pause."""
    monkeypatch.setattr(iteration_times, "DRAWS", 2**12)
    stream = dh.Stream.poisson(1e-6, 3)
    for seed in range(5):
        at_once = dh.simulate(CLUSTER, SPLIT, stream, 300, True, seed, by_tasks=True)
        between = dh.simulate(CLUSTER, SPLIT, stream, 300, "between-tasks", seed)
        assert (between.service >= at_once.service - 1e-6).all()
        assert between.service.mean() > 1.02 * at_once.service.mean()
        assert between.about[LOST] > 0


def test_where_all_results_are_needed_nothing_is_lost() -> None:
    split = dh.Split.of([2, 1, 3], dh.CodeSpec(6))
    stream = dh.Stream.poisson(0.05, 3)
    between = dh.simulate(CLUSTER, split, stream, 200, "between-tasks", 3)
    assert between.about[LOST] == 0.0
    np.testing.assert_allclose(between.end, dh.simulate(CLUSTER, split, stream, 200, True, 3, by_tasks=True).end)


def test_lost_seconds_are_reported_only_there() -> None:
    assert LOST not in dh.simulate(CLUSTER, SPLIT, dh.Stream.poisson(0.05, 3), 5, True, 3).about


def test_slower_in_the_worked_example_too() -> None:
    from deadheat.paper import worked_example as paper

    cluster, stream = paper.cluster(), paper.stream()
    split = dh.split(cluster, paper.spec())
    between = dh.simulate(cluster, split, stream, 200, "between-tasks", 3)
    expected = dh.forecast(cluster, split, stream)
    error = between.service.std() / np.sqrt(200)
    assert between.service.mean() > expected.service_mean + 4 * error
    # A worker loses at most what is left of one task, and a memoryless task has a whole one left.
    assert between.about[LOST] < float(cluster.tasks(paper.spec()).mean.mean())
