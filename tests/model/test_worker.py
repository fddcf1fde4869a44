"""A worker is checked at the door, and its law has the moments it was given."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from deadheat.errors import BadInput
from deadheat.model import Worker
from deadheat.model.laws import FAMILIES, Deterministic, Gamma, Law

NOT_NUMBERS: list[Any] = [math.nan, math.inf, -math.inf, "1.0", True, None]


@pytest.mark.parametrize("bad", [*NOT_NUMBERS, 0.0, -1.0])
def test_a_mean_that_is_no_time_is_refused(bad: Any) -> None:
    with pytest.raises(BadInput) as caught:
        Worker(bad, 1.0)
    assert caught.value.field == "mean"
    assert "seconds" in caught.value.remedy


@pytest.mark.parametrize("bad", [*NOT_NUMBERS, -1e-9])
@pytest.mark.parametrize("field", ["std", "comm"])
def test_a_spread_or_shift_that_is_no_time_is_refused(field: str, bad: Any) -> None:
    with pytest.raises(BadInput) as caught:
        Worker(**{"mean": 1.0, "std": 1.0, field: bad})
    assert caught.value.field == field


@pytest.mark.parametrize("bad", [math.nan, -math.inf, -1.0, "8", True, None])
def test_a_capacity_that_holds_nothing_sensible_is_refused(bad: Any) -> None:
    with pytest.raises(BadInput) as caught:
        Worker(1.0, 1.0, capacity=bad)
    assert caught.value.field == "capacity"


def test_capacity_is_unlimited_unless_told() -> None:
    assert Worker(1.0, 1.0).capacity == math.inf
    assert Worker(1.0, 1.0, capacity=0).capacity == 0.0


def test_a_name_must_be_a_text() -> None:
    with pytest.raises(BadInput) as caught:
        Worker(1.0, 1.0, name=7)  # type: ignore[arg-type]
    assert caught.value.field == "name"


def test_a_misspelt_family_names_the_nearest() -> None:
    with pytest.raises(BadInput, match="did you mean 'lognormal'"):
        Worker(1.0, 1.0, law="lognormall")


def test_a_spread_that_the_family_does_not_have_is_refused() -> None:
    for family, std in (("shifted-exponential", 1.1), ("deterministic", 0.1), ("mixture", 1.0)):
        with pytest.raises(BadInput) as caught:
            Worker(1.0, std, law=family)
        assert caught.value.field == "std", family


def test_the_default_law_is_the_exponential_when_std_equals_mean() -> None:
    law = Worker(2.0, 2.0).unit_law()
    assert law == Gamma(1.0, 2.0)
    assert law.cdf(3.0) == pytest.approx(-math.expm1(-1.5), rel=1e-14)


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "mixture"])
def test_without_spread_every_family_is_a_constant(family: str) -> None:
    assert Worker(2.0, 0.0, law=family).unit_law() == Deterministic(2.0)


def test_of_reads_the_moments_off_any_law(law: Law) -> None:
    worker = Worker.of(law, 0.5, "w1", 40.0)
    assert worker.mean == pytest.approx(law.mean(), rel=1e-12)
    assert worker.std == pytest.approx(law.std(), rel=1e-12)
    assert (worker.comm, worker.name, worker.capacity) == (0.5, "w1", 40.0)
    assert worker.unit_law() is law


def test_a_law_must_have_the_moments_given_beside_it() -> None:
    Worker(2.0, 1.0, law=Gamma.from_moments(2.0, 1.0))
    for mean, std, field in ((2.1, 1.0, "mean"), (2.0, 1.1, "std")):
        with pytest.raises(BadInput, match=r"Worker\.of") as caught:
            Worker(mean, std, law=Gamma.from_moments(2.0, 1.0))
        assert caught.value.field == field


def test_a_frozen_scipy_distribution_becomes_a_law() -> None:
    worker = Worker(2.0, 2.0, law=stats.expon(scale=2.0))
    assert isinstance(worker.unit_law(), Law)
    assert Worker.of(stats.lognorm(0.5)).mean == pytest.approx(math.exp(0.125))


@pytest.mark.parametrize(
    "distribution",
    [
        pytest.param(stats.norm(1.0, 1.0), id="negative times"),
        pytest.param(stats.uniform(-0.1, 5.0), id="some negative times"),
        pytest.param(stats.pareto(1.5), id="infinite variance"),
        pytest.param(stats.pareto(0.5), id="infinite mean"),
        pytest.param(stats.cauchy(), id="no moments"),
        pytest.param(object(), id="no distribution"),
        pytest.param(7, id="a number"),
        pytest.param(None, id="nothing"),
    ],
)
def test_a_distribution_of_impossible_times_is_refused(distribution: Any) -> None:
    with pytest.raises(BadInput, match="law"):
        Worker.of(distribution)


def test_a_worker_is_a_value() -> None:
    assert Worker(1.0, 2.0, 3.0, "a") == Worker(1.0, 2.0, 3.0, "a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        Worker(1.0, 2.0).mean = 3.0  # type: ignore[misc]


def test_numpy_numbers_become_floats() -> None:
    worker = Worker(np.float32(0.5), np.int64(1))  # type: ignore[arg-type]
    assert type(worker.mean) is float
    assert type(worker.std) is float
