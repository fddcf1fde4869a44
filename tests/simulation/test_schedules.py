"""Schedules: pull, top-up and speculation against event loops, bounds and each other, on the same draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from event_loops import pulled
from hypothesis import given
from hypothesis import strategies as st

import deadheat as dh
from deadheat.model.laws import Mixture
from deadheat.simulation import Pull, Schedule, Speculative, Static, TopUp
from deadheat.simulation import iteration_times as lengths
from deadheat.simulation.batch import Batch

CLUSTER = dh.Cluster.from_columns([1.0, 2.0, 0.5], [1.0, 1.0, 0.5], [0.3, 0.0, 0.6])
STREAM = dh.Stream.poisson(1.0, 1)


def batch_of(
    cluster: dh.Cluster, loads: list[int], critical: int, size: int, seed: int = 1, stretch: np.ndarray | None = None
) -> Batch:
    return Batch(
        cluster.tasks(dh.CodeSpec(1)), np.array(loads), critical, size, np.random.SeedSequence(seed), 0, stretch
    )


def plenty(critical: int) -> list[int]:
    """More tasks than can be begun before the K-th result."""
    return [critical + 2, 0, 0]


def test_a_free_pull_with_plenty_of_tasks_is_the_genies_bound(trio: dh.Cluster) -> None:
    spec = dh.CodeSpec.of(10, 12)
    found = Pull(0.0).lengths(batch_of(trio, plenty(10), 10, 20_000))
    expected = dh.genie_bound(trio, spec, STREAM)
    # 1e-8: the digits of the forecast where nothing is left to chance.
    assert abs(found.mean() - expected.iteration_mean) <= 4 * found.std() / math.sqrt(20_000) + 1e-8 * found.mean()


def test_fewer_tasks_than_plenty_are_told_apart() -> None:
    """The negative control: uncoded, the last task of a slow worker is waited for."""
    found = Pull(0.0).lengths(batch_of(CLUSTER, [10, 0, 0], 10, 20_000))
    expected = dh.genie_bound(CLUSTER, dh.CodeSpec(10), STREAM)
    assert found.mean() > expected.iteration_mean + 8 * found.std() / math.sqrt(20_000)


def test_a_pull_that_costs_is_slower() -> None:
    batch = batch_of(CLUSTER, plenty(10), 10, 2000)
    free, own, dear = (Pull(cost).lengths(batch) for cost in (0.0, None, 5.0))
    assert (free <= own).all()
    assert (own <= dear).all()
    assert free.mean() < own.mean() < dear.mean()


def test_the_facts_on_pulling() -> None:
    """facts.md, uncoded on the worked cluster: 4.94 s a job if a pull is free, many times that if it costs c_p."""
    from deadheat.paper import worked_example as paper

    split = dh.split(paper.cluster(), dh.CodeSpec(55, 1.0, paper.SAMPLES * paper.OPERATIONS / 55))
    free, dear = (
        dh.simulate(paper.cluster(), split, paper.stream(), 500, seed=1, schedule=Pull(cost)).delay.mean()
        for cost in (0.0, None)
    )
    assert free == pytest.approx(4.94, rel=0.02)
    assert dear > 7 * free


TINY = st.lists(st.tuples(st.floats(0.2, 5.0), st.floats(0.0, 1.0)), min_size=1, max_size=4)


@given(TINY, st.integers(1, 6), st.integers(0, 5), st.one_of(st.none(), st.floats(0.0, 1.0)), st.integers(0, 2**32))
def test_pull_is_the_event_loop(
    workers: list[tuple[float, float]], critical: int, spare: int, cost: float | None, seed: int
) -> None:
    """Also where no more than K tasks exist (uncoded); nobody starts without a task here."""
    mean, comm = map(np.array, zip(*workers, strict=True))
    critical = max(critical, len(workers))
    cluster = dh.Cluster.from_columns(mean, mean, comm)
    total = critical + spare
    batch = batch_of(cluster, [total] + [0] * (len(workers) - 1), critical, 5, seed)
    found = Pull(cost).lengths(batch)
    pause = comm if cost is None else np.full(comm.size, cost)
    durations = [batch.durations(p, critical) for p in range(len(workers))]
    expected = [pulled([rows[:, i] for rows in durations], comm, pause, critical, total) for i in range(5)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("schedule", [Pull(0.0), Speculative(0.0, quantile=1.0)], ids=["pull", "speculative"])
def test_two_tasks_for_five_workers_are_two_tasks(schedule: Schedule) -> None:
    """Uncoded, K = n = 2, equal memoryless workers: whoever takes them, the later of two ends after 1.5 on average."""
    found = schedule.lengths(batch_of(dh.Cluster.from_columns(np.ones(5), 1.0), [1, 1, 0, 0, 0], 2, 4000))
    assert abs(found.mean() - 1.5) <= 4 * found.std() / math.sqrt(found.size)


@given(TINY, st.integers(0, 2**32), st.data())
def test_top_up_is_never_slower_than_the_static_split(
    workers: list[tuple[float, float]], seed: int, data: st.DataObject
) -> None:
    mean, comm = map(np.array, zip(*workers, strict=True))
    loads = data.draw(st.lists(st.integers(0, 4), min_size=len(workers), max_size=len(workers)).filter(any))
    critical = data.draw(st.integers(1, sum(loads)))
    cluster = dh.Cluster.from_columns(mean, mean, comm)
    batch = batch_of(cluster, loads, critical, 20, seed)
    static = Static().lengths(batch)
    free, own = TopUp(0.0).lengths(batch), TopUp().lengths(batch)
    assert (own <= static).all()
    assert (free <= own).all()
    assert (Pull(0.0).lengths(batch_of(cluster, [critical * 9, *loads[1:]], critical, 20, seed)) <= free).all()


def test_top_up_is_never_slower_for_any_law(trio: dh.Cluster) -> None:
    batch = batch_of(trio, [4, 2, 6], 10, 500)
    assert (TopUp().lengths(batch) <= Static().lengths(batch)).all()


def test_drawing_more_does_not_change_the_luck() -> None:
    """Rare stragglers: the others' counts are doubled again and again, and the mean is still the genie's."""
    law = Mixture.from_moments(1.0, 4.0)
    cluster = dh.Cluster([dh.Worker.of(law), dh.Worker.of(law), dh.Worker.of(law)])
    found = TopUp(0.0).lengths(batch_of(cluster, [4, 4, 4], 12, 20_000))
    expected = dh.genie_bound(cluster, dh.CodeSpec(12), STREAM).iteration_mean
    assert abs(found.mean() - expected) <= 4 * found.std() / math.sqrt(found.size)


def test_top_up_helps_where_the_split_is_bad() -> None:
    batch = batch_of(CLUSTER, [1, 10, 1], 10, 2000)
    assert TopUp().lengths(batch).mean() < 0.6 * Static().lengths(batch).mean()


def test_speculation_without_stragglers_is_pull() -> None:
    """A multiplier that nothing reaches; also where only K tasks exist."""
    for total in (10, 11, 30):
        for cost in (0.0, None, 0.4):
            batch = batch_of(CLUSTER, [total, 0, 0], 10, 300)
            never = Speculative(cost, multiplier=1e9)
            np.testing.assert_allclose(never.lengths(batch), Pull(cost).lengths(batch), rtol=1e-12)


def constant(mean: list[float], total: int) -> Batch:
    return batch_of(dh.Cluster.from_columns(mean, 0.0), [total] + [0] * (len(mean) - 1), total, 1)


def test_speculation_by_hand() -> None:
    """1 s and 100 s a task, four of them: three are done at 3, the long one is 3 > 1.5 old, its copy ends at 4."""
    assert Speculative(0.0).lengths(constant([1.0, 100.0], 4)) == pytest.approx([4.0])
    assert Pull(0.0).lengths(constant([1.0, 100.0], 4)) == pytest.approx([100.0])
    assert Speculative(0.25).lengths(constant([1.0, 100.0], 4)) == pytest.approx([1.0 + 3 * 1.25])
    assert Speculative(0.0, quantile=1.0).lengths(constant([1.0, 100.0], 4)) == pytest.approx([100.0])


def test_a_task_becomes_a_straggler_while_nothing_else_happens() -> None:
    """Three of four tasks end at 1 (Spark's 0.75); at 1.5 the fourth is 1.5 medians old, and a copy ends at 2.5."""
    assert Speculative(0.0).lengths(constant([1.0, 1.0, 1.0, 100.0], 4)) == pytest.approx([2.5])


def test_speculation_saves_an_uncoded_iteration_with_stragglers() -> None:
    """Independent stragglers ten times as slow: copies cut the mean by a good part, and never make it longer."""
    stretch = np.where(np.random.default_rng(3).random((300, 3)) < 0.2, 10.0, 1.0)
    cluster = dh.Cluster.from_columns([1.0, 1.2, 0.9], 0.0)
    batch = batch_of(cluster, [8, 0, 0], 8, 300, stretch=stretch)
    copied, plain = Speculative(0.0).lengths(batch), Pull(0.0).lengths(batch)
    assert (copied <= plain + 1e-9).all()
    assert copied.mean() < 0.8 * plain.mean()


AWAY = dh.Switching(math.inf, 0.3, 0.3)


@pytest.mark.parametrize("redundancy", [1.0, 1.5], ids=["uncoded", "coded"])
@pytest.mark.parametrize(
    ("schedule", "purge"),
    [
        ("static", True),
        ("static", False),
        ("static", "between-tasks"),
        ("pull", True),
        ("top-up", True),
        ("speculative", True),
    ],
)
def test_iterations_end_though_workers_are_away(
    schedule: str, purge: dh.simulation.Purge, redundancy: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lengths, "DRAWS", 2**10)
    spec = dh.CodeSpec(6, redundancy)
    split = dh.uniform(CLUSTER, spec)
    found = dh.simulate(CLUSTER, split, dh.Stream.poisson(0.01, 2), 60, purge, 1, schedule=schedule, condition=AWAY)
    usual = dh.simulate(CLUSTER, split, dh.Stream.poisson(0.01, 2), 60, purge, 1, schedule=schedule)
    assert np.isfinite(found.end).all()
    assert found.service.mean() > usual.service.mean()


def test_a_schedule_of_ones_own() -> None:
    class Constant:
        def lengths(self, batch: Batch) -> np.ndarray:
            return np.full(batch.size, 2.0)

    trace = dh.simulate(
        CLUSTER, dh.uniform(CLUSTER, dh.CodeSpec(6)), dh.Stream.poisson(0.01, 3), 5, schedule=Constant()
    )
    np.testing.assert_allclose(trace.service, 6.0)


def test_short_runs_do_not_pay_for_long_ones() -> None:
    """One job is one job's work: of a slow schedule no more iterations are asked than the run has."""
    asked = []

    class Counting:
        def lengths(self, batch: Batch) -> np.ndarray:
            asked.append(batch.size)
            return np.ones(batch.size)

    dh.simulate(CLUSTER, dh.uniform(CLUSTER, dh.CodeSpec(6)), dh.Stream.poisson(0.01, 3), 5, schedule=Counting())
    assert sum(asked) <= 2 * 15
