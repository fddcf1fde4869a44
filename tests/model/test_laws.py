"""Every law: the moments it was fitted to, a distribution function, and draws that follow it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from deadheat.errors import BadInput
from deadheat.model.laws import FAMILIES, Deterministic, Empirical, Gamma, Law, Mixture, Pareto, Scaled, Weibull, fit

FITS = [
    *(("gamma", m, r) for m in (1e-8, 3.0, 1e5) for r in (0.01, 1.0, 4.0)),
    *(("shifted-exponential", m, r) for m in (1e-8, 3.0, 1e5) for r in (0.01, 1.0)),
    *(("lognormal", m, r) for m in (1e-8, 3.0, 1e5) for r in (0.01, 1.0, 4.0)),
    *(("weibull", m, r) for m in (1e-8, 3.0, 1e5) for r in (0.01, 1.0, 4.0)),
    *(("pareto", m, r) for m in (1e-8, 3.0, 1e5) for r in (0.01, 1.0, 4.0)),
    *(("mixture", m, r) for m in (1e-8, 3.0, 1e5) for r in (1.5, 4.0)),
    ("deterministic", 3.0, 0.0),
]


@pytest.mark.parametrize(("family", "mean", "ratio"), FITS)
def test_a_fitted_law_has_the_moments_it_was_given(family: str, mean: float, ratio: float) -> None:
    law = fit(family, mean, ratio * mean)
    assert law.mean() == pytest.approx(mean, rel=1e-9)
    assert law.std() == pytest.approx(ratio * mean, rel=1e-7)  # a small spread loses digits in the fit


def test_every_family_is_fitted_above() -> None:
    assert {family for family, _, _ in FITS} == set(FAMILIES)


@pytest.mark.parametrize("family", ["gamma", "shifted-exponential", "lognormal", "weibull", "pareto"])
@pytest.mark.parametrize("std", [1e-5, 1e-9, 1e-20, 1e-200, 1e-320])
def test_next_to_no_spread_is_nearly_a_constant(family: str, std: float) -> None:
    law = fit(family, 1.0, std)
    np.testing.assert_allclose(law.cdf([0.5, 0.99, 1.01, 1.5]), [0.0, 0.0, 1.0, 1.0], atol=1e-6)
    assert law.mean() == pytest.approx(1.0)
    assert law.std() <= 1e-4


def test_the_distribution_function_rises_from_0_to_1(law: Law) -> None:
    assert law.cdf(-1.0) == 0.0
    assert law.cdf(np.array([-1e-9, -1e9])).tolist() == [0.0, 0.0]
    values = law.cdf(np.linspace(0.0, 60.0, 2001))
    assert (np.diff(values) >= 0).all()
    assert values[0] < 1e-12
    assert law.cdf(1e9) == pytest.approx(1.0, abs=1e-15)


def test_the_distribution_function_agrees_with_the_moments(law: Law) -> None:
    # E[T] is the integral of 1 - F. A grid that doubles reaches the far tail of the Pareto; 2 % of a step is the
    # error of a staircase law on it.
    edges = np.concatenate([np.linspace(0.0, 40.0, 40_001), 40.0 * 1.001 ** np.arange(1, 16_000)])
    middle = (edges[1:] + edges[:-1]) / 2
    assert float((1 - law.cdf(middle)) @ np.diff(edges)) == pytest.approx(law.mean(), rel=1e-4)


def test_draws_follow_the_law(law: Law) -> None:
    draws = law.rvs(40_000, np.random.default_rng(3))
    error = draws.std() / math.sqrt(draws.size)
    assert abs(draws.mean() - law.mean()) <= 4 * error + 1e-12
    for t in law.mean() * np.array([0.61, 1.01, 1.53]):
        p = float(law.cdf(t))
        assert abs((draws <= t).mean() - p) <= 4 * math.sqrt(p * (1 - p) / draws.size) + 1e-12


def test_draws_would_betray_a_law_five_percent_longer(law: Law) -> None:
    draws = law.scaled(1.05).rvs(40_000, np.random.default_rng(3))
    assert abs(draws.mean() - law.mean()) > 4 * draws.std() / math.sqrt(draws.size)


def test_draws_take_any_shape_and_a_seed(law: Law) -> None:
    assert law.rvs((3, 2), 7).shape == (3, 2)
    assert np.ndim(law.rvs(random_state=7)) == 0
    np.testing.assert_array_equal(law.rvs(5, 7), law.rvs(5, 7))


def test_scaling_twice_is_scaling_once(law: Law) -> None:
    twice = law.scaled(2.0).scaled(3.5)
    assert twice.mean() == pytest.approx(7 * law.mean(), rel=1e-12)
    assert twice.std() == pytest.approx(7 * law.std(), rel=1e-9)
    assert not (isinstance(twice, Scaled) and isinstance(twice.law, Scaled))


@pytest.mark.parametrize(
    ("law", "other"),
    [
        (Gamma(2.5, 1.5), stats.gamma(2.5, scale=1.5)),
        (Weibull(0.7, 2.0), stats.weibull_min(0.7, scale=2.0)),
        (Pareto(3.0, 1.2), stats.pareto(3.0, scale=1.2)),
        (fit("lognormal", 2.0, 3.0), stats.lognorm(math.sqrt(math.log(3.25)), scale=2.0 / math.sqrt(3.25))),
        (fit("shifted-exponential", 2.0, 0.5), stats.expon(1.5, 0.5)),
    ],
)
def test_our_laws_are_those_of_scipy(law: Law, other: stats.rv_continuous) -> None:
    t = np.linspace(0.0, 20.0, 101)
    np.testing.assert_allclose(law.cdf(t), other.cdf(t), atol=1e-13)
    assert law.mean() == pytest.approx(other.mean(), rel=1e-12)
    assert law.var() == pytest.approx(other.var(), rel=1e-12)


def test_a_mixture_is_fast_or_slow() -> None:
    law = Mixture(Deterministic(1.0), 10.0, 0.25)
    assert law.cdf([0.9, 1.1, 9.9, 10.1]).tolist() == [0.0, 0.75, 0.75, 1.0]
    assert law.mean() == pytest.approx(0.75 + 2.5)
    assert law.var() == pytest.approx(0.75 * 0.25 * 81)


def test_a_mixture_names_the_least_spread_it_can_have() -> None:
    with pytest.raises(BadInput) as caught:
        Mixture.from_moments(1.0, 0.5)
    assert caught.value.remedy == "give std >= 1.421"
    assert Mixture.from_moments(1.0, 1.4211).std() == pytest.approx(1.4211)


@pytest.mark.parametrize(("slowdown", "probability"), [(0.5, 0.1), (math.nan, 0.1), (10.0, -0.1), (10.0, 1.1)])
def test_a_mixture_without_sense_is_refused(slowdown: float, probability: float) -> None:
    with pytest.raises(BadInput):
        Mixture(Deterministic(1.0), slowdown, probability)


def test_an_empirical_law_is_its_samples() -> None:
    law = Empirical([3.0, 1.0, 1.0, 2.0])
    assert law.cdf([0.9, 1.0, 1.5, 2.0, 3.0]).tolist() == [0.0, 0.5, 0.5, 0.75, 1.0]
    assert (law.mean(), law.var()) == (1.75, 0.6875)
    assert set(law.rvs(100, 1)) == {1.0, 2.0, 3.0}


@pytest.mark.parametrize("samples", [[], [0.0, 0.0], [-1.0], [math.nan], [math.inf], ["a"], None])
def test_samples_that_are_no_times_are_refused(samples: list[float]) -> None:
    with pytest.raises(BadInput) as caught:
        Empirical(samples)
    assert caught.value.field == "samples"
