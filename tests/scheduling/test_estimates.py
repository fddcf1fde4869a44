"""Estimates: they forget, notice changes, know what was only guessed, and are not deceived by purged tasks.

The laws are known here, so that every estimate can be held against the truth.
"""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest
import sampled

import deadheat as dh
from deadheat.coding import Code
from deadheat.model import Array
from deadheat.paper import worked_example
from deadheat.scheduling import Command, Event, Finished, Ticket
from deadheat.scheduling.estimates import (
    LEAST_SILENCE,
    MEMORY,
    PRIOR,
    SILENCE,
    UNHEARD,
    Estimate,
    Estimates,
    Running,
)

PAIR = dh.Cluster([dh.Worker(1.0, 0.5, comm=0.1), dh.Worker(2.0, 1.0, comm=0.2)])


def tasks(cv: float, count: int, seed: int) -> Array:
    """Times of mean 1."""
    return np.random.default_rng(seed).gamma(cv**-2, cv**2, count)


# Running averages


def test_an_average_forgets() -> None:
    average = Running(10.0)
    for _ in range(300):
        average.add(1.0, 1.0)
    assert average.weight == pytest.approx(10.0)
    for _ in range(10):
        average.add(3.0, 9.0)
    assert average.mean == pytest.approx(3 - 2 * 0.9**10)  # what is ten tasks old counts for a third
    for _ in range(100):
        average.add(3.0, 9.0)
    assert average.mean == pytest.approx(3.0, rel=1e-4)


def test_without_forgetting_it_is_the_plain_average() -> None:
    average, values = Running(1e9), tasks(1.0, 500, 1)
    for value in values.tolist():
        average.add(value, value * value)
    assert average.mean == pytest.approx(values.mean())
    assert average.std == pytest.approx(values.std(), rel=1e-5)
    assert average.weight == pytest.approx(500)


# Changes


def noticed(cv: float, factor: float, seed: int) -> float:
    """After how many tasks a change is noticed; infinity where it is not in a hundred."""
    estimate = Estimate()
    for value in tasks(cv, 150, seed).tolist():
        estimate.finished(value, 1.0)
    for count, value in enumerate(tasks(cv, 100, seed + 1000).tolist(), 1):
        if estimate.finished(factor * value, 1.0):
            return count
    return math.inf


# A test against the larger of the spreads before and after fails here, since the change itself widens both: of
# exponential tasks it noticed none of 200 changes, of nearly constant ones (cv = 0.1) 77 of 200.
@pytest.mark.parametrize(("cv", "usually"), [(0.1, 20), (0.3, 20), (1.0, 20)])
def test_a_worker_three_times_slower_is_noticed(cv: float, usually: int) -> None:
    counts = [noticed(cv, 3.0, seed) for seed in range(60)]
    assert np.median(counts) <= usually
    assert np.quantile(counts, 0.85, method="higher") <= 2 * usually


def test_after_a_change_the_estimate_follows() -> None:
    """Forty tasks after it has become three times slower it is taken for that, and not as a mixture (1.66)."""
    ends = []
    for seed in range(20):
        estimate = Estimate()
        for value in tasks(0.3, 150, seed).tolist() + (3 * tasks(0.3, 40, seed + 500)).tolist():
            estimate.finished(value, 1.0)
        ends.append(estimate.work.mean)
    assert np.mean(ends) == pytest.approx(3.0, rel=0.1)


@pytest.mark.parametrize("cv", [0.1, 0.5, 1.0])
def test_chance_is_hardly_ever_taken_for_a_change(cv: float) -> None:
    alarms = []
    for seed in range(8):
        estimate = Estimate()
        for value in tasks(cv, 5000, seed).tolist():
            estimate.finished(value, 1.0)
        alarms.append(estimate.changes)
    assert max(alarms) <= 5
    assert np.mean(alarms) <= 2


def test_a_steady_estimate_has_the_error_that_its_memory_allows() -> None:
    """An average with memory M is as good as one of 2 M - 1 tasks."""
    ends = []
    for seed in range(150):
        estimate = Estimate()
        for value in tasks(0.5, 600, seed).tolist():
            estimate.finished(value, 1.0)
        ends.append(estimate.work.mean)
    assert np.std(ends) == pytest.approx(0.5 / math.sqrt(2 * MEMORY - 1), rel=0.2)


# Scores


def test_scores_lie_between_0_and_1() -> None:
    estimates = Estimates(PAIR)
    for value in tasks(0.5, 100, 3).tolist():
        estimates[0].finished(value, 1.0)
        estimates[1].finished(4 * value, 1.0)
    for score in estimates.scores([0, 1]).values():
        assert 0 < score.relative <= 1
        assert 0 < score.individual <= 1
    assert estimates.scores([0, 1])[0].relative == 1
    assert estimates.scores([0, 1])[1].relative == pytest.approx(0.25, rel=0.05)
    assert estimates.scores([1])[1].relative == 1  # alone it is the fastest


@pytest.mark.parametrize(("cv", "most"), [(0.1, 40), (1.0, 120)])
def test_a_worker_that_has_become_slower_is_called_so(cv: float, most: int) -> None:
    for seed in range(10):
        estimates = Estimates(dh.Cluster.from_columns([1.0], [cv]))
        for value in tasks(cv, 150, seed).tolist():
            estimates[0].finished(value, 1.0)
        assert not estimates.scores([0])[0].slower
        for value in tasks(cv, most, seed + 100).tolist():
            estimates[0].finished(3 * value, 1.0)
        assert estimates.scores([0])[0].slower
        assert estimates.scores([0])[0].individual < 0.7


def test_a_steady_worker_is_not_called_slower() -> None:
    """A negative control."""
    said = 0
    for seed in range(6):
        estimates = Estimates(dh.Cluster.from_columns([1.0], [1.0]))
        for value in tasks(1.0, 4000, seed).tolist():
            estimates[0].finished(value, 1.0)
            said += estimates.scores([0])[0].slower
    assert said <= 0.01 * 6 * 4000


# What was declared, and what was guessed


def test_a_declared_speed_counts_for_a_few_tasks() -> None:
    estimates = Estimates(PAIR, memory=1e9)
    for _ in range(int(PRIOR)):
        estimates[0].finished(3.0, 1.0)
    assert estimates[0].work.mean == pytest.approx(2.0)  # half of it declared, half measured
    assert estimates.cluster([0])[0].mean == pytest.approx(2.0)
    assert estimates.declared([0])[0].mean == 1.0


def test_a_guess_counts_for_nothing() -> None:
    estimates = Estimates(PAIR, guessed=True)
    assert estimates[0].work.weight == 0
    estimates[0].finished(30.0, 10.0)
    assert estimates[0].work.mean == 3.0
    assert estimates[0].work.std == 0.0


def test_who_was_not_seen_is_taken_to_be_like_the_others() -> None:
    estimates = Estimates(PAIR, guessed=True)
    assert estimates.cluster([0, 1]).mean.tolist() == [1.0, 2.0]  # nobody was seen: the guess
    estimates[0].finished(5.0, 1.0)
    assert estimates.cluster([0, 1, 7]).mean.tolist() == [5.0, 5.0, 5.0]
    estimates[1].finished(7.0, 1.0)
    assert estimates.cluster([0, 1, 7]).mean.tolist() == [5.0, 7.0, 6.0]
    assert estimates.cluster([7]).names == ["joined-8"]


def test_who_was_declared_stays_as_declared() -> None:
    """A negative control."""
    estimates = Estimates(PAIR)
    estimates[0].finished(5.0, 1.0)
    assert estimates.cluster([1]).mean.tolist() == [2.0]
    assert estimates.cluster([7]).mean.tolist() == [1.0]  # one that nobody knew of: like the first


def test_a_guess_is_nobodys_rival() -> None:
    estimates = Estimates(dh.Cluster.from_columns([1e-3] * 3, 0.0), guessed=True)
    estimates[0].finished(5.0, 1.0)
    estimates[1].finished(10.0, 1.0)
    assert estimates.scores([0, 1, 2])[0].relative == 1
    assert estimates.scores([0, 1, 2])[1].relative == 0.5


# Patience


def test_patience_is_far_beyond_a_task() -> None:
    estimates = Estimates(PAIR)
    assert estimates.patience(1, 1.0) == pytest.approx(0.2 + 2.0 + SILENCE * 1.0)
    assert estimates.patience(1, 3.0) == pytest.approx(0.2 + 3 * (2.0 + SILENCE * 1.0))
    assert estimates.patience(1, 1e-6) == LEAST_SILENCE  # never below what a busy machine may need


# With the patience of a mere guess (a millisecond), whoever joins a run whose tasks take more than two seconds would be
# ended in the middle of its first one, again and again.
def test_patience_with_one_that_was_not_seen_is_as_with_the_others() -> None:
    estimates = Estimates(dh.Cluster.from_columns([1e-3] * 2, 0.0), guessed=True)
    for value in (9.0, 11.0, 10.0, 12.0, 8.0):
        estimates[0].finished(value, 1.0)
    assert estimates.patience(0, 1.0) > 20
    assert estimates.patience(1, 1.0) > 20
    assert estimates.patience(5, 1.0) > 20


def test_patience_with_steady_tasks_leaves_room_for_a_hiccup() -> None:
    """Four tasks of a probe may be alike by chance: a task that takes a little longer is no sign of death."""
    estimates = Estimates(PAIR, guessed=True)
    for _ in range(4):
        estimates[0].finished(30.0, 1.0)
    assert estimates[0].work.std == 0.0
    assert estimates.patience(0, 1.0) >= 1.5 * 30.0


def test_where_nobody_was_heard_of_patience_is_long() -> None:
    estimates = Estimates(PAIR, guessed=True)
    assert estimates.patience(0, 1.0) == UNHEARD
    estimates[1].finished(0.001, 1.0)
    assert estimates.patience(0, 1.0) == LEAST_SILENCE


# Tasks that were cut off


def test_a_task_that_was_cut_off_where_nothing_is_known() -> None:
    estimate = Estimate()
    estimate.cut_off(8.0, 4.0)
    assert estimate.work.mean == pytest.approx(3.0)  # it was at it for 2, and has half of that still to go
    assert estimate.seen == 1


def test_a_task_that_was_cut_off_is_never_shorter_than_it_was() -> None:
    for age in (0.01, 0.5, 1.0, 5.0):
        estimate = Estimates(PAIR, memory=1e9)[0]
        before = estimate.work.mean
        estimate.cut_off(age, 1.0)
        value = (PRIOR + 1) * estimate.work.mean - PRIOR * before  # what it was counted as
        assert value > age


def test_an_exponential_task_that_was_cut_off_has_a_whole_one_to_go() -> None:
    estimate = Estimates(dh.Cluster.from_columns([2.0], [2.0]), memory=1e9)[0]
    estimate.cut_off(3.0, 1.0)
    assert estimate.work.mean == pytest.approx((PRIOR * 2.0 + 5.0) / (PRIOR + 1))


class Counted:
    """Finished tasks only."""

    def __init__(self, units: float, shared_chunks: int) -> None:
        self.units, self.shared_chunks = units, shared_chunks
        self.finished: dict[int, list[float]] = defaultdict(list)
        self._seen: set[tuple[int, Ticket]] = set()

    def __call__(self, message: Event | Command, at: float) -> None:
        match message:
            case Finished(worker=worker, ticket=ticket, seconds=seconds):
                first = (worker, ticket) not in self._seen
                self._seen.add((worker, ticket))
                self.finished[worker].append(seconds / self.units / (1 + self.shared_chunks if first else 1))


def errors(cluster: dh.Cluster, code: Code, iterations: int, seed: int) -> tuple[Array, Array, Array, Array]:
    """Of each worker's mean, how far finished tasks alone and the estimate are off the truth; of the spread the latter.

    The last are three standard errors of a mean over as many tasks as count.
    """
    work = worked_example.spec().work
    estimates = Estimates(cluster, memory=1e6)
    job = sampled.program(code, work, iterations)
    count = Counted(work, job.spec.shared_chunks)
    sampled.run_through(sampled.driver(cluster, job, seed, estimates, [count]), job)
    used = range(len(cluster))
    naive = np.array([np.mean(count.finished[w]) for w in used])
    ours = np.array([estimates[w].work.mean for w in used])
    spread = np.array([estimates[w].work.std for w in used])
    weight = np.array([estimates[w].work.weight for w in used])  # fewer than all tasks after a false alarm
    chance = 3 * cluster.std / cluster.mean / np.sqrt(weight)
    return naive / cluster.mean - 1, ours / cluster.mean - 1, spread / cluster.std - 1, chance


def test_purged_tasks_do_not_make_a_slow_worker_look_fast() -> None:
    """The worked example: the slowest has three tasks per iteration, of which every third iteration purges estimate."""
    cluster = worked_example.cluster()
    naive, ours, _, chance = errors(cluster, dh.codes.cyclic(55, 5), 2000, seed=2)
    slowest = int(np.argmax(cluster.mean))
    assert -0.23 < naive[slowest] < -0.14  # what the correction is for
    assert (naive < chance).all()  # nobody looks slower than it is
    assert (np.abs(ours) < 0.006 + chance).all()
    assert chance[slowest] < 0.05


def test_where_nothing_is_purged_both_agree() -> None:
    """A negative control: all results are needed."""
    naive, ours, _, chance = errors(worked_example.cluster(), dh.codes.uncoded(50), 300, seed=2)
    assert (np.abs(naive) < chance).all()
    assert np.abs(naive - ours).max() < 0.005


# A task cut off at age x must not count as x + m (1 + cv^2)/2, which is right for exponential tasks alone: where they
# are steady (cv = 0.1) the third worker looks 2.4 % slower than it is, where finished tasks alone are off by 0.2 %, and
# its spread is taken for 2.2 times what it is. The law of the rest given the age does: E[X | X > x] of a gamma law.
def test_steady_tasks_are_estimated_as_well() -> None:
    cluster = dh.Cluster([dh.Worker(w.mean, 0.1 * w.mean, w.comm, w.name) for w in worked_example.cluster()])
    _, ours, spread, chance = errors(cluster, dh.codes.cyclic(55, 5), 500, seed=2)
    assert (np.abs(ours) < 0.006 + chance).all()
    assert np.abs(spread).max() < 0.3


# The first task of a worker in an iteration must not count as one unit of work, as it has 1 + shared_chunks where tasks
# share chunks: the third worker looks 8 % slower than it is, and its spread is taken for 1.3 times what it is.
def test_a_first_task_that_was_cut_off_has_the_work_of_the_shared_chunks() -> None:
    cluster = dh.Cluster([w for w in worked_example.cluster() if w.name != "w4"])  # which would get nothing to do
    code = dh.codes.cyclic(55, 5, reuse=True)
    assert code.cost.shared_chunks > 0
    _, ours, spread, chance = errors(cluster, code, 800, seed=2)
    assert (np.abs(ours) < 0.006 + chance).all()
    assert spread.max() < 0.15
