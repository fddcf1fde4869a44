"""The law of T_itr where it is known by other means: capped Poisson counts, one worker, constant tasks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, stats

import deadheat as dh
from deadheat import theory
from deadheat.model.laws import Deterministic, Empirical, Law, Mixture
from deadheat.paper import worked_example as paper

Array = NDArray[np.float64]
UNIT = dh.CodeSpec(1)  # a task is one unit of work


def _capped_poisson(rates: Array, comm: Array, loads: list[int], critical: int, t: Array) -> Array:
    """P(T_itr > t) for exponential tasks: each count is a Poisson one, cut at the load, and they are convolved."""
    totals = [np.ones(1)] * t.size
    for rate, c, load in zip(rates, comm, loads, strict=True):
        counts = stats.poisson.pmf(np.arange(load + 1), rate * np.maximum(t - c, 0.0)[:, None])
        counts[:, load] = 1 - counts[:, :load].sum(axis=1)
        totals = [np.convolve(total, row) for total, row in zip(totals, counts, strict=True)]
    return np.array([total[:critical].sum() for total in totals])


@pytest.mark.parametrize("loads", [[13, 18, 7, 3, 14], [11] * 5, [50] * 5, [20, 30, 0, 1, 4]], ids=str)
def test_exponential_tasks_are_capped_poisson_counts(loads: list[int]) -> None:
    tasks = paper.cluster().tasks(paper.spec())
    law = theory.IterationLaw(tasks, loads, 50)
    t = np.linspace(0.02, 4.0, 80)
    exact = _capped_poisson(1 / tasks.mean, tasks.comm, loads, 50, t)
    np.testing.assert_allclose(law.sf(t), exact, atol=1e-6, rtol=0)
    np.testing.assert_allclose(law.cdf(t), 1 - exact, atol=1e-6, rtol=0)


def test_the_capped_poisson_form_would_betray_one_task_more() -> None:
    tasks, t = paper.cluster().tasks(paper.spec()), np.linspace(0.3, 2.0, 20)
    law = theory.IterationLaw(tasks, [14, 17, 7, 3, 14], 50)
    exact = _capped_poisson(1 / tasks.mean, tasks.comm, [13, 18, 7, 3, 14], 50, t)
    assert np.abs(law.sf(t) - exact).max() > 1e-3


def test_its_mean_is_the_integral_of_the_capped_poisson_form() -> None:
    tasks, loads = paper.cluster().tasks(paper.spec()), [13, 18, 7, 3, 14]
    t = np.linspace(0.0, 6.0, 1201)
    survival = _capped_poisson(1 / tasks.mean, tasks.comm, loads, 50, t)
    mean, square = integrate.simpson(survival, x=t), integrate.simpson(2 * t * survival, x=t)
    law = theory.IterationLaw(tasks, loads, 50)
    assert law.mean == pytest.approx(mean, rel=1e-7)
    assert law.std == pytest.approx(math.sqrt(square - mean**2), rel=1e-5)


def test_random_exponential_clusters() -> None:
    rng = np.random.default_rng(6)
    for _ in range(10):
        size = int(rng.integers(1, 7))
        mean, comm = rng.uniform(0.1, 3.0, size), rng.uniform(0.0, 3.0, size)
        loads = rng.integers(1, 9, size).tolist()
        critical = int(rng.integers(1, sum(loads) + 1))
        law = theory.IterationLaw(dh.Cluster.from_columns(mean, mean, comm).tasks(UNIT), loads, critical)
        t = np.linspace(0.0, 30.0, 40)
        exact = _capped_poisson(1 / mean, comm, loads, critical, t)
        np.testing.assert_allclose(law.sf(t), exact, atol=1e-6, rtol=0)


def test_without_purging_it_is_the_product_of_the_assignments() -> None:
    mean, std, comm, loads = np.array([1.0, 2.0]), np.array([0.5, 2.0]), np.array([0.3, 0.0]), np.array([5, 3])
    law = theory.IterationLaw(dh.Cluster.from_columns(mean, std, comm).tasks(UNIT), loads, 6, purge=False)
    t = np.linspace(0.1, 25.0, 50)
    parts = [
        stats.gamma(k * (m / s) ** 2, c, s**2 / m).cdf(t) for m, s, c, k in zip(mean, std, comm, loads, strict=True)
    ]
    np.testing.assert_allclose(law.cdf(t), parts[0] * parts[1], atol=1e-12)


def test_when_all_tasks_are_needed_purging_changes_nothing(trio: dh.Cluster) -> None:
    purged, not_purged = (theory.IterationLaw(trio.tasks(UNIT), [4, 2, 6], 12, purge) for purge in (True, False))
    assert purged.mean == not_purged.mean
    assert purged.std == not_purged.std
    t = np.linspace(0.0, 30.0, 100)
    np.testing.assert_array_equal(purged.sf(t), not_purged.sf(t))


def test_purging_never_takes_longer(trio: dh.Cluster) -> None:
    t = np.linspace(0.0, 30.0, 200)
    purged, not_purged = (theory.IterationLaw(trio.tasks(UNIT), [4, 2, 6], 10, purge) for purge in (True, False))
    assert purged.mean < not_purged.mean
    assert (purged.sf(t) <= not_purged.sf(t) + 1e-3).all()  # 1e-3: convolutions of the laws without closed sums


@pytest.mark.parametrize("load", [5, 8])
def test_one_worker_needs_its_first_k_tasks(law: Law, load: int) -> None:
    # c + K tasks in a row, whatever else it was given: the moments are known for every law.
    found = theory.IterationLaw(dh.Cluster([dh.Worker.of(law, 0.3)]).tasks(UNIT), [load], 5)
    assert found.mean == pytest.approx(0.3 + 5 * law.mean(), rel=1e-4)
    assert found.std == pytest.approx(math.sqrt(5) * law.std(), rel=2e-3, abs=1e-6)


@pytest.mark.parametrize("load", [5, 8])
@pytest.mark.parametrize(
    "law",
    [Mixture(Deterministic(1.0), 10.0, 0.1), Empirical([1.0, 1.5, 2.0]), Empirical([1.0, math.pi])],
    ids=["mixture of constants", "three samples", "two samples"],
)
def test_one_worker_whose_times_are_few_atoms(law: Law, load: int) -> None:
    found = theory.IterationLaw(dh.Cluster([dh.Worker.of(law, 0.3)]).tasks(UNIT), [load], 5)
    assert found.mean == pytest.approx(0.3 + 5 * law.mean(), rel=1e-3)
    assert found.error < 0.1 * found.mean  # an error of more than that states nothing


def test_constant_tasks_end_at_the_kth_smallest_time() -> None:
    mean, comm, loads = np.array([1.0, 2.3, 0.7]), np.array([0.5, 0.0, 1.1]), [4, 2, 6]
    arrivals = sorted(c + m * j for m, c, k in zip(mean, comm, loads, strict=True) for j in range(1, k + 1))
    cluster = dh.Cluster.from_columns(mean, 0.0, comm)
    for critical in (1, 5, 10, 12):
        law = theory.IterationLaw(cluster.tasks(UNIT), loads, critical)
        assert law.mean == pytest.approx(arrivals[critical - 1], rel=1e-7)
        assert law.std == pytest.approx(0.0, abs=1e-4)
        assert float(law.quantile(0.5)) == pytest.approx(arrivals[critical - 1], rel=1e-9)
    assert theory.IterationLaw(cluster.tasks(UNIT), loads, 5, purge=False).mean == pytest.approx(arrivals[-1], rel=1e-7)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_the_unit_of_time_does_not_matter(unit: float) -> None:
    args = np.array([1.0, 2.0]), np.array([1.0, 0.5]), np.array([0.1, 0.0])
    here = theory.IterationLaw(dh.Cluster.from_columns(*args).tasks(UNIT), [6, 3], 7)
    there = theory.IterationLaw(dh.Cluster.from_columns(*(unit * a for a in args)).tasks(UNIT), [6, 3], 7)
    assert there.mean == pytest.approx(unit * here.mean, rel=1e-9)
    assert there.std == pytest.approx(unit * here.std, rel=1e-7)


def test_a_narrow_law_keeps_its_digits() -> None:
    # One worker, a thousand tasks with a spread of 1e-5 each: std = sqrt(1000) * 1e-5 beside a mean of 1000.
    law = theory.IterationLaw(dh.Cluster([dh.Worker(1.0, 1e-5, 0.0)]).tasks(UNIT), [1000], 1000)
    assert law.mean == pytest.approx(1000.0, rel=1e-12)
    assert law.std == pytest.approx(math.sqrt(1000) * 1e-5, rel=1e-4)


def test_survival_falls_from_one_to_nothing(trio: dh.Cluster) -> None:
    law = theory.IterationLaw(trio.tasks(UNIT), [4, 2, 6], 10)
    t = np.linspace(0.0, 1000.0, 500)
    values = law.sf(t)
    assert values[0] == pytest.approx(1.0, abs=1e-12)
    assert ((values >= 0) & (values <= 1)).all()
    assert (np.diff(values) <= 1e-3).all()
    assert values[-1] < 1e-4


def test_survival_keeps_the_shape_of_its_times() -> None:
    law = theory.IterationLaw(dh.Cluster.from_columns([1.0, 2.0], 1.0).tasks(UNIT), [3, 2], 4)
    t = np.linspace(0.0, 10.0, 12)
    assert law.sf(3.0).shape == ()
    np.testing.assert_array_equal(law.sf(t.reshape(3, 4)), law.sf(t).reshape(3, 4))
