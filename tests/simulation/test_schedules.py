"""Schedules: pull, top-up and speculation against event loops, bounds, each other and schedules by hand.

That the simulator, its fast paths and the master agree on the same draws is tested in tests/scheduling.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from event_loops import pulled
from hypothesis import given
from hypothesis import strategies as st

import deadheat as dh
from deadheat.model import Array
from deadheat.model.laws import Mixture
from deadheat.paper import worked_example as paper
from deadheat.scheduling.schedules import Duplicates, Pull, Schedule, Speculative, Static, TopUp
from deadheat.simulation import Purge, iteration_times, times_of
from deadheat.simulation.batch import Batch
from deadheat.simulation.event_by_event import event_by_event

CLUSTER = dh.Cluster.from_columns([1.0, 2.0, 0.5], [1.0, 1.0, 0.5], [0.3, 0.0, 0.6])
STREAM = dh.Stream.poisson(1.0, 1)


def batch_of(
    cluster: dh.Cluster, loads: Sequence[int], critical: int, size: int, seed: int = 1, stretch: Array | None = None
) -> Batch:
    return Batch(
        tasks=cluster.tasks(dh.CodeSpec(1)), loads=np.array(loads), critical=critical, size=size,
        seeds=np.random.SeedSequence(seed), number=0, stretch=stretch,
    )  # fmt: skip


def plenty(critical: int, workers: int = 3, ahead: int = 0) -> list[int]:
    """As many tasks as can be taken before the K-th result, in a split that plays no part."""
    return [critical - 1 + workers * (1 + ahead)] + [0] * (workers - 1)


def genie(cluster: dh.Cluster, critical: int, size: int, seed: int = 1) -> Array:
    """The K-th result of workers that never run out of tasks, on the same draws."""
    return times_of(Pull(0), batch_of(cluster, plenty(critical, len(cluster)), critical, size, seed))


# Pull


@pytest.mark.parametrize("ahead", [0, 1])
def test_a_pull_with_plenty_of_tasks_is_the_genies_bound(trio: dh.Cluster, ahead: int) -> None:
    spec = dh.CodeSpec.of(10, 12)
    times = times_of(Pull(ahead), batch_of(trio, plenty(10, ahead=ahead), 10, 20_000))
    expected = dh.theory.genie_bound(trio, spec, STREAM)
    # 1e-8: the digits of the forecast where nothing is left to chance.
    assert abs(times.mean() - expected.iteration_mean) <= 4 * times.std() / math.sqrt(20_000) + 1e-8 * times.mean()


def test_fewer_tasks_than_plenty_are_told_apart() -> None:
    """The negative control: uncoded, the last task of a slow worker is waited for."""
    times = times_of(Pull(0), batch_of(CLUSTER, [10, 0, 0], 10, 20_000))
    expected = dh.theory.genie_bound(CLUSTER, dh.CodeSpec(10), STREAM)
    assert times.mean() > expected.iteration_mean + 8 * times.std() / math.sqrt(20_000)


def test_tasks_in_hand_cost_where_there_are_no_others() -> None:
    """A task that waits in the hand of a slow worker is missed at the end; with plenty of tasks it is not."""
    scarce = [times_of(Pull(ahead), batch_of(CLUSTER, [10, 0, 0], 10, 2000)) for ahead in (0, 1, 2)]
    assert scarce[0].mean() < scarce[1].mean() < scarce[2].mean()
    many = [times_of(Pull(ahead), batch_of(CLUSTER, plenty(10, ahead=ahead), 10, 2000)) for ahead in (0, 1, 2)]
    np.testing.assert_array_equal(many[0], many[1])
    np.testing.assert_array_equal(many[0], many[2])


def test_the_facts_on_pulling() -> None:
    """facts.md, uncoded on the worked cluster: 4.94 s a job if a pull is free and nobody has a second task in hand."""
    split = dh.split(paper.cluster(), dh.CodeSpec(55, 1.0, paper.SAMPLES * paper.OPERATIONS / 55))
    free, ahead = (
        dh.simulate(paper.cluster(), split, paper.stream(), 500, seed=1, schedule=Pull(ahead)).delay.mean()
        for ahead in (0, 1)
    )
    assert free == pytest.approx(4.94, rel=0.02)
    assert free < ahead < 1.1 * free


@pytest.mark.parametrize(
    ("schedule", "seconds"),
    [("static", 0.761), ("pull", 0.691), ("top-up", 0.682), ("duplicates", 0.684), ("speculative", 0.682)],
)
def test_the_papers_code_under_every_schedule(schedule: str, seconds: float) -> None:
    """K = 50 of 55 with Theorem 2's split: seconds per iteration, as docs/decisions have them."""
    split = dh.split(paper.cluster(), paper.spec())
    trace = dh.simulate(paper.cluster(), split, paper.stream(), 80, seed=1, schedule=schedule, by_tasks=True)
    each = trace.service / 50
    error = 4 * each.std() / math.sqrt(each.size)
    assert abs(each.mean() - seconds) <= error + 0.0005  # of the last digit
    assert error < 0.0075  # which tells static, pull and the others apart


TINY = st.lists(st.tuples(st.floats(0.2, 5.0), st.floats(0.0, 1.0)), min_size=1, max_size=4)


@given(TINY, st.integers(1, 6), st.integers(0, 5), st.integers(0, 2), st.integers(0, 2**32))
def test_pull_is_the_event_loop(
    workers: list[tuple[float, float]], critical: int, spare: int, ahead: int, seed: int
) -> None:
    """Also where no more than K tasks exist (uncoded), and fewer than workers."""
    mean, comm = map(np.array, zip(*workers, strict=True))
    cluster = dh.Cluster.from_columns(mean, mean, comm)
    total = critical + spare
    batch = batch_of(cluster, [total] + [0] * (len(workers) - 1), critical, 5, seed)
    times = times_of(Pull(ahead), batch)
    durations = [batch.durations(p, critical + 1) for p in range(len(workers))]
    expected = [pulled([rows[:, i] for rows in durations], comm, ahead, critical, total) for i in range(5)]
    np.testing.assert_allclose(times, expected, rtol=1e-12)


@pytest.mark.parametrize("schedule", [Pull(0), Speculative(quantile=1.0)], ids=["pull", "speculative"])
def test_two_tasks_for_five_workers_are_two_tasks(schedule: Schedule) -> None:
    """Uncoded, K = n = 2, equal memoryless workers: whoever takes them, the later of two ends after 1.5 on average."""
    times = times_of(schedule, batch_of(dh.Cluster.from_columns(np.ones(5), 1.0), [1, 1, 0, 0, 0], 2, 4000))
    assert abs(times.mean() - 1.5) <= 4 * times.std() / math.sqrt(times.size)


# Top-up


def constant(mean: Sequence[float], loads: Sequence[int], critical: int, comm: float = 0.0) -> Batch:
    """One iteration of tasks without spread."""
    return batch_of(dh.Cluster.from_columns(mean, 0.0, comm), loads, critical, 1)


def test_top_up_by_hand() -> None:
    """Tasks of 1 and 10 s, K = 4 of 6: two each at the start, and the spare ones go to the first worker.

    It brings results at 1 (one task left: a spare), 2 (a spare), 3 and 4. Its own c_p of 0.25 comes once.
    """
    assert times_of(Static(), constant([1.0, 10.0], [3, 3], 4)) == pytest.approx([10.0])
    assert times_of(TopUp(), constant([1.0, 10.0], [3, 3], 4)) == pytest.approx([4.0])
    assert times_of(TopUp(), constant([1.0, 10.0], [3, 3], 4, comm=0.25)) == pytest.approx([4.25])


def test_copies_come_after_the_spare_tasks() -> None:
    """K = 4 of 5, two each at the start.

    The first worker ends its own at 1 and 2, the spare task at 3, and a copy of the other's last task at 4; uncoded
    it begins with the copies at 2 and is done at 4 as well.
    """
    assert times_of(TopUp(), constant([1.0, 10.0], [3, 2], 4)) == pytest.approx([4.0])
    assert times_of(TopUp(), constant([1.0, 10.0], [2, 2], 4)) == pytest.approx([4.0])


def test_an_idle_worker_copies_the_last_task_of_who_has_most_left() -> None:
    """All four tasks are needed, three of 3 s and one of 4 s.

    The other worker is idle at 4, when the first has two tasks left: it copies the last of them and brings it at 8.
    """
    assert times_of(TopUp(), constant([3.0, 4.0], [3, 1], 4)) == pytest.approx([8.0])
    assert times_of(Static(), constant([3.0, 4.0], [3, 1], 4)) == pytest.approx([9.0])


def test_who_has_no_task_at_the_start_gets_a_spare_one() -> None:
    """K = 1 of 3 on three equal memoryless workers: the first result of three, a third of a task on average."""
    batch = batch_of(dh.Cluster.from_columns(np.ones(3), 1.0), [1, 1, 1], 1, 2000)
    np.testing.assert_array_equal(times_of(TopUp(), batch), times_of(Static(), batch))


@given(TINY, st.integers(0, 2**32), st.integers(0, 1), st.data())
def test_top_up_is_never_faster_than_the_genie(
    workers: list[tuple[float, float]], seed: int, ahead: int, data: st.DataObject
) -> None:
    mean, comm = map(np.array, zip(*workers, strict=True))
    loads = data.draw(st.lists(st.integers(0, 4), min_size=len(workers), max_size=len(workers)).filter(any))
    critical = data.draw(st.integers(1, sum(loads)))
    cluster = dh.Cluster.from_columns(mean, mean, comm)
    times = times_of(TopUp(ahead), batch_of(cluster, loads, critical, 20, seed))
    assert (genie(cluster, critical, 20, seed) <= times * (1 + 1e-12)).all()


@given(TINY, st.integers(1, 4), st.integers(0, 2**32), st.integers(0, 1))
def test_top_up_with_plenty_of_spare_tasks_is_the_genie(
    workers: list[tuple[float, float]], critical: int, seed: int, ahead: int
) -> None:
    """Nobody ever copies then: K - 1 + P tasks are begun at most, and each of P workers has `ahead` more."""
    mean, comm = map(np.array, zip(*workers, strict=True))
    cluster = dh.Cluster.from_columns(mean, mean, comm)
    count = len(workers)
    loads = [critical + critical - 1 + count * (1 + ahead), *[critical] * (count - 1)]
    times = times_of(TopUp(ahead), batch_of(cluster, loads, critical, 20, seed))
    np.testing.assert_allclose(times, genie(cluster, critical, 20, seed), rtol=1e-12)


def test_top_up_is_never_slower_than_the_static_split_for_any_law(trio: dh.Cluster) -> None:
    """In every iteration of these; where the split is good it gains little, and nothing where times have no spread."""
    batch = batch_of(trio, [4, 2, 6], 10, 500)
    assert (times_of(TopUp(), batch) <= times_of(Static(), batch)).all()
    bad = batch_of(trio, [2, 6, 4], 10, 500)
    assert times_of(TopUp(), bad).mean() < 0.8 * times_of(Static(), bad).mean()


def test_drawing_more_does_not_change_the_luck() -> None:
    """Rare stragglers: the others' counts are doubled again and again, and the mean is still the genie's."""
    law = Mixture.from_moments(1.0, 4.0)
    cluster = dh.Cluster([dh.Worker.of(law), dh.Worker.of(law), dh.Worker.of(law)])
    expected = dh.theory.genie_bound(cluster, dh.CodeSpec(12), STREAM).iteration_mean
    for schedule, loads, size in ((Pull(0), plenty(12), 20_000), (TopUp(), [10, 10, 10], 4000)):
        times = times_of(schedule, batch_of(cluster, loads, 12, size))
        assert abs(times.mean() - expected) <= 4 * times.std() / math.sqrt(times.size)


def test_top_up_helps_where_the_split_is_bad() -> None:
    batch = batch_of(CLUSTER, [1, 10, 1], 10, 2000)
    assert times_of(TopUp(), batch).mean() < 0.6 * times_of(Static(), batch).mean()


# Speculation


@pytest.mark.parametrize("ahead", [0, 1])
def test_speculation_without_stragglers_is_pull(ahead: int) -> None:
    """A multiplier that nothing reaches; also where only K tasks exist."""
    for total in (10, 11, 30):
        batch = batch_of(CLUSTER, [total, 0, 0], 10, 300)
        never = Speculative(ahead, multiplier=1e9)
        np.testing.assert_allclose(times_of(never, batch), times_of(Pull(ahead), batch), rtol=1e-12)


def test_speculation_by_hand() -> None:
    """1 s and 100 s a task, four of them: three are done at 3, the long one is 3 > 1.5 old, its copy ends at 4.

    With a c_p of 0.25, once, all of that is 0.25 later; the median task is seen to take 1 s then too.
    """
    four = constant([1.0, 100.0], [4, 0], 4)
    assert times_of(Speculative(), four) == pytest.approx([4.0])
    assert times_of(Pull(0), four) == pytest.approx([100.0])
    assert times_of(Speculative(), constant([1.0, 100.0], [4, 0], 4, comm=0.25)) == pytest.approx([4.25])
    assert times_of(Speculative(quantile=1.0), four) == pytest.approx([100.0])


def test_a_task_becomes_a_straggler_while_nothing_else_happens() -> None:
    """Three of four tasks end at 1 (Spark's 0.75); at 1.5 the fourth is 1.5 medians old, and a copy ends at 2.5."""
    assert times_of(Speculative(), constant([1.0, 1.0, 1.0, 100.0], [4, 0, 0, 0], 4)) == pytest.approx([2.5])


def test_speculation_saves_an_uncoded_iteration_with_stragglers() -> None:
    """Independent stragglers ten times as slow: copies cut the mean by a good part, and never make it longer."""
    stretch = np.where(np.random.default_rng(3).random((300, 3)) < 0.2, 10.0, 1.0)
    cluster = dh.Cluster.from_columns([1.0, 1.2, 0.9], 0.0)
    batch = batch_of(cluster, [8, 0, 0], 8, 300, stretch=stretch)
    copied, plain = times_of(Speculative(), batch), times_of(Pull(0), batch)
    assert (copied <= plain + 1e-9).all()
    assert copied.mean() < 0.8 * plain.mean()


# Workers that are away


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
        ("duplicates", True),
        ("speculative", True),
    ],
)
def test_iterations_end_though_workers_are_away(
    schedule: str, purge: Purge, redundancy: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(iteration_times, "DRAWS", 2**10)
    spec = dh.CodeSpec(6, redundancy)
    split = dh.uniform(CLUSTER, spec)
    away = dh.simulate(CLUSTER, split, dh.Stream.poisson(0.01, 2), 60, purge, 1, schedule=schedule, condition=AWAY)
    usual = dh.simulate(CLUSTER, split, dh.Stream.poisson(0.01, 2), 60, purge, 1, schedule=schedule)
    assert np.isfinite(away.end).all()
    assert away.service.mean() > usual.service.mean()


@pytest.mark.parametrize("spare", [0, 3], ids=["uncoded", "coded"])
@pytest.mark.parametrize("schedule", [Static(), Pull(0), Pull(1)], ids=["static", "pull, none ahead", "pull"])
def test_fast_paths_are_the_definition_where_workers_are_away(schedule: Schedule, spare: int) -> None:
    """What the master gives out in their place takes longer: it begins when the others have nothing left."""
    stretch = AWAY.factors(3, np.random.default_rng(2))(400)
    assert np.isinf(stretch).any(axis=1).mean() > 0.5
    batch = batch_of(CLUSTER, [2, 2, 2 + spare], 6, 400, stretch=stretch)
    times = times_of(schedule, batch)
    np.testing.assert_allclose(times, event_by_event(schedule, batch), rtol=1e-12)
    everybody = times_of(schedule, batch_of(CLUSTER, [2, 2, 2 + spare], 6, 400))
    assert times.mean() > everybody.mean()


@pytest.mark.parametrize("schedule", [Static(), Duplicates(), TopUp(), Pull(0)], ids=lambda s: type(s).__name__)
def test_workers_without_a_load_take_over(schedule: Schedule) -> None:
    """Who has all tasks is away: the others share them, one task of 2 s and two of 1 s."""
    stretch = np.array([[math.inf, 1.0, 1.0]])
    batch = batch_of(dh.Cluster.from_columns([1.0, 2.0, 1.0], 0.0), [3, 0, 0], 3, 1, stretch=stretch)
    assert times_of(schedule, batch) == pytest.approx([2.0])


def test_shared_chunks_are_computed_at_the_start() -> None:
    """Event by event as by the fast path: two shared chunks take the time of two tasks and bring no result."""
    spec = dh.CodeSpec.of(8, 10, shared_chunks=2, seconds_per_task=0.25)
    batch = Batch(CLUSTER.tasks(spec), np.array([3, 2, 5]), 8, 300, np.random.SeedSequence(4), 0)
    np.testing.assert_allclose(event_by_event(Static(), batch), times_of(Static(), batch), rtol=1e-12)


# Schedules of one's own


@dataclass(frozen=True)
class Constant(Static):
    """A fast path of its own."""

    def lengths(self, batch: object) -> Array:
        assert isinstance(batch, Batch)
        return np.full(batch.size, 2.0)


def test_a_schedule_of_ones_own() -> None:
    split = dh.uniform(CLUSTER, dh.CodeSpec(6))
    trace = dh.simulate(CLUSTER, split, dh.Stream.poisson(0.01, 3), 5, schedule=Constant())
    np.testing.assert_allclose(trace.service, 6.0)


def test_short_runs_do_not_pay_for_long_ones() -> None:
    """One job is one job's work: of a slow schedule no more iterations are asked than the run has."""
    asked = []

    class Counting(Static):
        def lengths(self, batch: object) -> Array:
            assert isinstance(batch, Batch)
            asked.append(batch.size)
            return np.ones(batch.size)

    dh.simulate(CLUSTER, dh.uniform(CLUSTER, dh.CodeSpec(6)), dh.Stream.poisson(0.01, 3), 5, schedule=Counting())
    assert sum(asked) <= 2 * 15
