"""The adaptive split: computed anew when the estimates have moved beyond chance, and adopted only if it pays."""

from __future__ import annotations

import pytest

import deadheat as dh
from deadheat.planning import split
from deadheat.scheduling import Estimates
from deadheat.scheduling.adaptive_split import AdaptiveSplit

SPEC = dh.CodeSpec.of(12, 12)
STEADY = dh.Cluster([dh.Worker(1.0, 0.0), dh.Worker(1.0, 0.0)])  # without chance every move means something
NOISY = dh.Cluster([dh.Worker(1.0, 1.0), dh.Worker(1.0, 1.0)])


class Counting:
    """The optimal split, and the clusters for which it was asked."""

    def __init__(self) -> None:
        self.clusters: list[dh.Cluster] = []

    def __call__(self, cluster: dh.Cluster, spec: dh.CodeSpec, gamma: float) -> dh.Split:
        self.clusters.append(cluster)
        return split(cluster, spec, gamma)


def adaptive(cluster: dh.Cluster, adapt: bool = True, guessed: bool = False) -> tuple[AdaptiveSplit, Estimates]:
    estimates = Estimates(cluster, guessed)
    return AdaptiveSplit(estimates, split, 1.0, adapt), estimates


def set_mean(estimates: Estimates, worker: int, mean: float, std: float = 0.0) -> None:
    """What a worker's estimate would be after some tasks."""
    work = estimates[worker].work
    work.mean, work.square = mean, mean**2 + std**2


def test_the_first_split_is_the_policys() -> None:
    policy = Counting()
    loads = AdaptiveSplit(Estimates(dh.Cluster.from_columns([1.0, 2.0], 0.0)), policy, 1.0, True)
    assert loads.loads(0, SPEC, [0, 1]) == [8, 4]
    assert len(policy.clusters) == loads.splits == 1
    assert policy.clusters[0].mean.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(("mean", "splits"), [(1.04, 1), (0.96, 1), (1.06, 2), (0.94, 2)])
def test_an_estimate_that_moved_by_less_than_5_percent_is_not_worth_a_new_split(mean: float, splits: int) -> None:
    loads, estimates = adaptive(STEADY)
    assert loads.loads(0, SPEC, [0, 1]) == [6, 6]
    set_mean(estimates, 0, mean)
    assert loads.loads(0, SPEC, [0, 1]) == [6, 6]
    assert loads.splits == splits


def test_a_worker_that_has_become_slower_gets_less() -> None:
    loads, estimates = adaptive(STEADY)
    loads.loads(0, SPEC, [0, 1])
    set_mean(estimates, 0, 2.0)
    assert loads.loads(0, SPEC, [0, 1]) == [4, 8]
    assert loads.splits == 2
    assert loads.loads(0, SPEC, [0, 1]) == [4, 8]  # it was computed for these estimates
    assert loads.splits == 2


def test_a_worker_that_has_come_to_be_far_away_gets_less() -> None:
    loads, estimates = adaptive(STEADY)
    loads.loads(0, SPEC, [0, 1])
    estimates[0].comm.mean, estimates[0].comm.square = 4.0, 16.0
    assert loads.loads(0, SPEC, [0, 1]) == [4, 8]


@pytest.mark.parametrize(("weight", "splits"), [(16.0, 1), (100.0, 2)])
def test_what_may_be_chance_is_not_followed(weight: float, splits: int) -> None:
    """A third slower by the estimate: within two standard errors of 16 tasks, beyond those of 100."""
    loads, estimates = adaptive(NOISY)
    loads.loads(0, SPEC, [0, 1])
    set_mean(estimates, 0, 1.33, std=1.0)
    estimates[0].work.weight = weight
    loads.loads(0, SPEC, [0, 1])
    assert loads.splits == splits


def test_a_split_that_gains_less_than_2_percent_is_not_adopted() -> None:
    """Of 1000 tasks six more for the faster one would end the iteration 1.1 % sooner: moving data is not worth it."""
    policy = Counting()
    estimates = Estimates(STEADY)
    loads, spec = AdaptiveSplit(estimates, policy, 1.0, True), dh.CodeSpec.of(1000, 1000)
    assert loads.loads(0, spec, [0, 1]) == [500, 500]
    set_mean(estimates, 0, 1.06)
    set_mean(estimates, 1, 1.04)
    assert split(policy.clusters[0], spec).loads.tolist() == [500, 500]
    assert loads.loads(0, spec, [0, 1]) == [500, 500]
    assert split(policy.clusters[1], spec).loads.tolist() != [500, 500]  # it was computed, and put aside
    assert loads.loads(0, spec, [0, 1]) == [500, 500]
    assert len(policy.clusters) == 2  # and not once more for the same estimates
    set_mean(estimates, 0, 1.3)
    assert loads.loads(0, spec, [0, 1])[0] < 450  # a negative control


def test_another_job_or_other_workers_are_split_anew() -> None:
    trio = dh.Cluster.from_columns([1.0, 1.0, 2.0], 0.0)
    loads, _ = adaptive(trio)
    assert loads.loads(0, SPEC, [0, 1]) == [6, 6]
    assert loads.loads(0, SPEC, [0, 2]) == [8, 4]
    assert loads.loads(1, SPEC, [0, 2]) == [8, 4]
    assert loads.loads(1, dh.CodeSpec.of(6, 6), [0, 2]) == [8, 4]  # the job's number says it all
    assert loads.loads(2, dh.CodeSpec.of(6, 6), [0, 2]) == [4, 2]
    assert loads.splits == 4


def test_without_adapting_what_was_declared_decides() -> None:
    loads, estimates = adaptive(dh.Cluster.from_columns([1.0, 2.0], 0.0), adapt=False)
    set_mean(estimates, 0, 50.0)
    assert loads.loads(0, SPEC, [0, 1]) == [8, 4]
    set_mean(estimates, 0, 100.0)
    assert loads.loads(0, SPEC, [0, 1]) == [8, 4]
    assert loads.splits == 1
    assert loads.loads(0, SPEC, [1]) == [12]


def test_without_adapting_workers_that_were_guessed_are_split_by_the_estimates() -> None:
    loads, estimates = adaptive(STEADY, adapt=False, guessed=True)
    for worker, seconds in ((0, 1.0), (1, 2.0)):
        estimates[worker].finished(seconds, 1.0)
    assert loads.loads(0, SPEC, [0, 1]) == [8, 4]
