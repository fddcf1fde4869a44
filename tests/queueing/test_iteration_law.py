"""The law of T_itr against a plain Monte Carlo, for every law of task times, with and without purging."""

from __future__ import annotations

import numpy as np
import pytest
from monte_carlo import play

import deadheat as dh
from deadheat import theory
from deadheat.model.laws import Law

LOADS, CRITICAL = [4, 2, 6], 10
UNIT = dh.CodeSpec(1)  # a task is one unit of work
PURGE = pytest.mark.parametrize("purge", [True, False], ids=["purge", "no purge"])
SLACK = 2e-3  # of the mean: what a convolution may be off (IterationLaw.error is an upper bound, often a wide one)


def _slack(law: theory.IterationLaw) -> float:
    return min(law.error, SLACK * law.mean) + 1e-8 * law.mean


@PURGE
def test_the_mean_is_that_of_a_monte_carlo(trio: dh.Cluster, purge: bool) -> None:
    law = theory.IterationLaw(trio.tasks(UNIT), LOADS, CRITICAL, purge)
    played = play(trio, LOADS, CRITICAL, purge, seed=11)
    assert abs(law.mean - played.ended.mean()) <= 4 * played.error + _slack(law)


@PURGE
def test_the_distribution_is_that_of_a_monte_carlo(trio: dh.Cluster, purge: bool) -> None:
    law = theory.IterationLaw(trio.tasks(UNIT), LOADS, CRITICAL, purge)
    played = play(trio, LOADS, CRITICAL, purge, seed=12)
    t = law.mean * np.array([0.71, 0.88, 0.99, 1.13, 1.37])
    p = law.cdf(t)
    error = np.sqrt(p * (1 - p) / played.ended.size)
    assert (np.abs(p - played.below(t)) <= 4 * error + 2e-3).all()


@PURGE
def test_a_worker_ten_percent_slower_is_seen(law: Law, trio: dh.Cluster, purge: bool) -> None:
    # Negative control. Of 13 tasks 12 are needed, so that worker 1, which ends last, counts with and without purging.
    slower = dh.Cluster([dh.Worker.of(law.scaled(1.1), 0.3), trio[1], trio[2]])
    loads, critical = [5, 2, 6], 12
    right, wrong = (theory.IterationLaw(cluster.tasks(UNIT), loads, critical, purge) for cluster in (trio, slower))
    played = play(trio, loads, critical, purge, seed=11)
    assert abs(right.mean - played.ended.mean()) <= 4 * played.error + _slack(right)
    assert abs(wrong.mean - played.ended.mean()) > 4 * played.error + _slack(wrong)


def test_one_slower_worker_of_three_is_seen() -> None:
    cluster = dh.Cluster.from_columns([2.0, 3.4, 1.2], [2.0, 3.4, 1.2], [0.3, 0.1, 0.9])
    slower = dh.Cluster.from_columns([2.2, 3.4, 1.2], [2.2, 3.4, 1.2], [0.3, 0.1, 0.9])
    for purge in (True, False):
        played = play(cluster, LOADS, CRITICAL, purge, seed=13)
        right, wrong = (theory.IterationLaw(c.tasks(UNIT), LOADS, CRITICAL, purge).mean for c in (cluster, slower))
        assert abs(right - played.ended.mean()) < 4 * played.error < abs(wrong - played.ended.mean())


@PURGE
def test_the_spread_is_that_of_a_monte_carlo(purge: bool) -> None:
    # For laws whose fourth moment is finite: the standard error of a sample's std is std sqrt((kurtosis - 1)/4n).
    for family, std in (("gamma", 1.0), ("lognormal", 0.8), ("weibull", 1.5), ("shifted-exponential", 0.7)):
        cluster = dh.Cluster(dh.Worker(m * 2, m * std, c, law=family) for m, c in ((1, 0.3), (1.7, 0.1), (0.6, 0.9)))
        law, ended = (
            theory.IterationLaw(cluster.tasks(UNIT), LOADS, CRITICAL, purge),
            play(cluster, LOADS, CRITICAL, purge).ended,
        )
        kurtosis = ((ended - ended.mean()) ** 4).mean() / ended.var() ** 2
        error = ended.std() * np.sqrt((kurtosis - 1) / 4 / ended.size)
        assert abs(law.std - ended.std()) <= 4 * error, family


def test_workers_of_different_families_mix() -> None:
    cluster = dh.Cluster(
        [
            dh.Worker(1.0, 0.5, 0.2, law="lognormal"),
            dh.Worker(2.0, 0.0),
            dh.Worker(1.5, 1.5, 0.5),
            dh.Worker(1.2, 0.6, law="pareto"),
        ]
    )
    loads = [5, 2, 4, 4]
    for purge in (True, False):
        law, played = (
            theory.IterationLaw(cluster.tasks(UNIT), loads, 12, purge),
            play(cluster, loads, 12, purge, seed=14),
        )
        assert abs(law.mean - played.ended.mean()) <= 4 * played.error + _slack(law)


def test_an_idle_worker_is_as_good_as_none() -> None:
    cluster = dh.Cluster.from_columns([1.0, 2.0, 5.0], [1.0, 1.0, 5.0], [0.1, 0.2, 9.0])
    with_it, without = (
        theory.IterationLaw(cluster.tasks(UNIT), [5, 3, 0], 6),
        theory.IterationLaw(cluster[:2].tasks(UNIT), [5, 3], 6),
    )
    assert with_it.mean == without.mean
    assert with_it.busy.tolist() == [*without.busy.tolist(), 0.0]


def test_quantiles_invert_the_distribution(trio: dh.Cluster, law: Law) -> None:
    found = theory.IterationLaw(trio.tasks(UNIT), LOADS, CRITICAL)
    levels = np.array([0.01, 0.5, 0.9, 0.999])
    t = found.quantile(levels)
    assert (np.diff(t) >= 0).all()
    if law.std() == 0:
        np.testing.assert_allclose(t, 6.9, rtol=1e-9)
        return
    # The least t with cdf >= level: reached there, and not yet a little before (1e-6 of the time).
    assert (found.cdf(t) >= levels - 1e-9).all()
    assert (found.cdf(t * (1 - 1e-6)) <= levels).all()


def test_a_quantile_keeps_the_shape_of_its_levels() -> None:
    law = theory.IterationLaw(dh.Cluster.from_columns([1.0, 2.0], 1.0).tasks(UNIT), [3, 2], 4)
    assert law.quantile(0.5).shape == ()
    assert law.quantile([[0.1, 0.5], [0.6, 0.9]]).shape == (2, 2)
    for bad in (0.0, 1.0, -0.1, np.nan):
        with pytest.raises(dh.BadInput):
            law.quantile(bad)


def test_loads_must_fit_cluster_and_code() -> None:
    tasks = dh.Cluster.from_columns([1.0, 2.0], 1.0).tasks(UNIT)
    with pytest.raises(dh.BadInput, match="3 loads for 2 workers"):
        theory.IterationLaw(tasks, [1, 1, 1], 2)
    with pytest.raises(dh.BadInput, match="fewer than the 5"):
        theory.IterationLaw(tasks, [2, 2], 5)
