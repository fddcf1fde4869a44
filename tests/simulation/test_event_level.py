"""Iterations drawn from their exact law are distributed as iterations played task by task."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import deadheat as dh
from deadheat.queueing import IterationLaw
from deadheat.simulation.quantile_table import QuantileTable

ONE = dh.Stream.poisson(1.0, 1)
SPEC = dh.CodeSpec(10, 1.2)
DRAWS = 20_000
DOUBT = 1e-3  # a p-value below this at a fixed seed is no accident


def times(cluster: dh.Cluster, purge: bool, by_tasks: bool, seed: int) -> np.ndarray:
    split = dh.split(cluster, SPEC)
    # Rounding apart, so that constant iterations are equal ones.
    return np.round(dh.simulate(cluster, split, ONE, DRAWS, purge, seed, by_tasks=by_tasks).service, 7)


@pytest.mark.parametrize("purge", [True, False], ids=["purge", "wait"])
def test_both_samplers_have_one_law(trio: dh.Cluster, purge: bool) -> None:
    compared = stats.ks_2samp(times(trio, purge, False, 21), times(trio, purge, True, 22))
    assert compared.pvalue > DOUBT


def test_two_per_cent_are_told_apart(trio: dh.Cluster) -> None:
    slower = dh.Cluster(dh.Worker.of(w.unit_law().scaled(1.02), w.comm) for w in trio)
    assert stats.ks_2samp(times(trio, True, False, 21), times(slower, True, True, 22)).pvalue < DOUBT


@pytest.mark.parametrize("purge", [True, False], ids=["purge", "wait"])
def test_the_table_is_the_laws_inverse(trio: dh.Cluster, purge: bool) -> None:
    """One sample against the law itself, and the far tail by counting."""
    split = dh.split(trio, SPEC)
    law = IterationLaw(trio.tasks(SPEC), split.loads, SPEC.critical, purge)
    if law.std <= 1e-9 * law.mean:
        assert (QuantileTable(law).draw(np.random.default_rng(1), 5) == law.mean).all()
        return
    drawn = np.sort(QuantileTable(law).draw(np.random.default_rng(1), 400_000))
    for survival in (0.1, 0.01, 0.001, 1e-4):
        above = int(np.count_nonzero(drawn > float(np.asarray(law.quantile([1 - survival]))[0])))
        expected = drawn.size * survival
        assert abs(above - expected) <= 4 * np.sqrt(expected) + 1e-3 * expected


def test_common_ranks_under_two_laws() -> None:
    """The same generator gives the same ranks: a slower law is slower at every draw."""
    fast, slow = (dh.Cluster.from_columns([m, 2 * m], [m, m], 0.1) for m in (1.0, 1.1))
    split = dh.split(fast, SPEC)
    one, other = (dh.simulate(c, split, ONE, 1000, seed=4).service for c in (fast, slow))
    assert (other > one).all()


def test_task_j_is_the_same_under_any_load(trio: dh.Cluster) -> None:
    """Common random numbers, as Batch promises; and what lets first_results draw more without changing the past."""
    from deadheat.simulation.batch import Batch

    batch = Batch(trio.tasks(SPEC), np.array([4, 4, 4]), 10, 7, np.random.SeedSequence(1), 0)
    for p in range(3):
        np.testing.assert_array_equal(batch.durations(p, 9)[:4], batch.durations(p, 4))
