"""The law of k tasks in a row: closed forms, and the lattice within the error it states."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from deadheat.model.arrays import Array
from deadheat.model.laws import (
    Deterministic,
    Empirical,
    ExactSums,
    Gamma,
    Law,
    Lognormal,
    Mixture,
    Pareto,
    ShiftedExponential,
    Weibull,
    sums_of,
)
from deadheat.model.laws.sums import Closed, Lattice

DRAWS = 40_000
CLOSED: list[ExactSums] = [Gamma.from_moments(2.0, 1.0), ShiftedExponential(1.2, 0.8), Gamma.from_moments(1e-6, 3e-6)]
OPEN: dict[str, Law] = {
    "lognormal": Lognormal.from_moments(2.0, 1.0),
    "weibull": Weibull.from_moments(2.0, 1.5),
    "pareto": Pareto.from_moments(2.0, 1.0),
    "mixture": Mixture.from_moments(2.0, 3.2),
    "empirical": Empirical(np.random.default_rng(8).gamma(4.0, 0.5, 300)),
}


@dataclass(frozen=True)
class Plain(Law):
    """A law whose closed form of sums is hidden, so that the lattice must find it."""

    law: ExactSums

    def mean(self) -> float:
        return self.law.mean()

    def var(self) -> float:
        return self.law.var()

    def cdf(self, t: ArrayLike) -> Array:
        return self.law.cdf(t)

    def rvs(self, size: int | tuple[int, ...] | None = None, random_state: Any = None) -> Any:
        return self.law.rvs(size, random_state)


def _draws(law: Law, count: int) -> Array:
    times: Array = law.rvs((DRAWS, count), np.random.default_rng(count)).sum(axis=1)
    return times


def _within_four_errors(found: Array, times: Array, at: Array, slack: float) -> bool:
    seen = (times[:, None] <= at).mean(axis=0)
    return bool((np.abs(found - seen) <= 4 * np.sqrt(found * (1 - found) / DRAWS) + slack).all())


@pytest.mark.parametrize("law", CLOSED, ids=repr)
@pytest.mark.parametrize("count", [1, 2, 7])
def test_closed_sums_against_monte_carlo(law: ExactSums, count: int) -> None:
    at = law.mean() * count * np.array([0.6, 0.9, 1.0, 1.2, 1.6])
    found = law.sum_cdf(count, at)
    assert _within_four_errors(found, _draws(law, count), at, 1e-9)
    assert not _within_four_errors(law.sum_cdf(count, 1.1 * at), _draws(law, count), at, 1e-9)  # negative control


def test_deterministic_sums_are_steps() -> None:
    assert Deterministic(2.0).sum_cdf(3, [5.999, 6.0, 6.001]).tolist() == [0.0, 1.0, 1.0]


def test_sums_are_closed_where_they_can_be_and_convolved_otherwise() -> None:
    assert isinstance(sums_of(CLOSED[0], 5, 20.0), Closed)
    assert sums_of(CLOSED[0], 5, 20.0).error == 0.0
    assert isinstance(sums_of(OPEN["weibull"], 5, 20.0), Lattice)


@pytest.mark.parametrize("std", [0.2, 0.5, 1.0, 1.3])
@pytest.mark.parametrize("mean", [1e-6, 1.0, 1e5])
def test_the_lattice_keeps_the_error_it_states(mean: float, std: float) -> None:
    exact = Gamma.from_moments(mean, std * mean)
    lattice = Lattice.of(Plain(exact), 20, 30 * mean)
    t = np.linspace(0.0, 30 * mean, 1001)
    rows = np.arange(1, 21)[:, None]
    gap = float(np.abs(lattice.upto(20, t) - exact.sum_cdf(rows, t)).max())
    assert gap <= lattice.error
    assert lattice.error < 0.01  # an error that promises nothing would pass anything


@pytest.mark.parametrize("scale", [0.5, 2.0])
def test_the_lattice_of_a_shifted_exponential_keeps_its_error(scale: float) -> None:
    exact = ShiftedExponential(1.0, scale)
    lattice = Lattice.of(Plain(exact), 12, 60.0)
    t = np.linspace(0.0, 60.0, 1001)
    gap = float(np.abs(lattice.upto(12, t) - exact.sum_cdf(np.arange(1, 13)[:, None], t)).max())
    assert gap <= lattice.error < 0.01


def test_a_lattice_of_the_wrong_law_would_be_seen() -> None:
    exact, other = Gamma.from_moments(1.0, 0.5), Gamma.from_moments(1.01, 0.5)
    lattice = Lattice.of(Plain(other), 10, 20.0)
    t = np.linspace(0.0, 20.0, 301)
    assert float(np.abs(lattice.cdf(10, t) - exact.sum_cdf(10, t)).max()) > 10 * lattice.error


@pytest.mark.parametrize("name", OPEN)
@pytest.mark.parametrize("count", [1, 2, 9])
def test_convolved_sums_against_monte_carlo(name: str, count: int) -> None:
    law = OPEN[name]
    lattice = Lattice.of(law, 9, 60.0)
    at = law.mean() * count * np.array([0.7, 0.93, 1.07, 1.3, 1.9])
    assert lattice.error < 0.001
    assert _within_four_errors(lattice.cdf(count, at), _draws(law, count), at, lattice.error)
    assert not _within_four_errors(lattice.cdf(count, 1.1 * at), _draws(law, count), at, lattice.error)


@pytest.mark.parametrize("name", OPEN)
def test_more_tasks_are_never_done_sooner(name: str) -> None:
    rows = sums_of(OPEN[name], 12, 30.0).upto(12, np.linspace(0.0, 200.0, 801))
    assert (np.diff(rows, axis=0) <= 0).all()
    assert ((rows >= 0) & (rows <= 1)).all()


@pytest.mark.parametrize("name", OPEN)
def test_probabilities_do_not_fall_with_time(name: str) -> None:
    lattice = Lattice.of(OPEN[name], 12, 200.0)
    for count in (1, 2, 12):
        rises = np.diff(lattice.cdf(count, np.linspace(0.0, 200.0, 801)))
        assert rises.min() >= -lattice.error, count


def test_beyond_the_horizon_one_long_task_decides() -> None:
    # A sum of subexponential times exceeds t like its largest term does: the ratio tends to 1.
    law, t = Pareto.from_moments(1.0, 1.0), np.array([3e3, 1e5])
    survival = 1 - Lattice.of(law, 5, 50.0).cdf(5, t)
    np.testing.assert_allclose(survival, 5 * (1 - law.cdf(t)), rtol=0.02)


@pytest.mark.parametrize(
    "law",
    [Mixture(Deterministic(1.0), 10.0, 0.1), Empirical([1.0, 1.5, 2.0]), Empirical([1.0, math.pi])],
    ids=["mixture of constants", "three samples", "two samples"],
)
def test_a_law_of_few_atoms_is_summed_too(law: Law) -> None:
    # Away from the atoms of the sum a binomial count decides; the lattice may be off by the cells next to an atom.
    lattice = Lattice.of(law, 5, 60.0)
    at = np.array([5.3, 7.0 + 1 / 3, 9.7, 14.8, 24.2])
    assert _within_four_errors(lattice.cdf(5, at), _draws(law, 5), at, 0.002)
