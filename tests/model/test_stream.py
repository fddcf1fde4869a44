"""A stream of jobs is checked at the door; Poisson is the stream whose std equals its mean."""

from __future__ import annotations

import math
from typing import Any

import pytest

from deadheat.errors import BadInput
from deadheat.model import Stream


def test_poisson_has_the_rate_it_was_given() -> None:
    stream = Stream.poisson(0.01, 50)
    assert (stream.interarrival_mean, stream.interarrival_std, stream.iterations) == (100.0, 100.0, 50)
    assert stream.rate == pytest.approx(0.01, rel=1e-15)
    assert stream.is_poisson


def test_another_spread_is_not_poisson() -> None:
    assert not Stream(100.0, 99.0, 50).is_poisson
    assert not Stream(100.0, 0.0, 50).is_poisson


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, "1", True, None])
def test_the_mean_and_the_rate_are_above_zero(bad: Any) -> None:
    with pytest.raises(BadInput) as mean:
        Stream(bad, 1.0, 50)
    with pytest.raises(BadInput) as rate:
        Stream.poisson(bad, 50)
    assert (mean.value.field, rate.value.field) == ("interarrival_mean", "rate")


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf, "1", True, None])
def test_the_spread_is_not_negative(bad: Any) -> None:
    with pytest.raises(BadInput) as caught:
        Stream(100.0, bad, 50)
    assert caught.value.field == "interarrival_std"


@pytest.mark.parametrize("bad", [0, -1, 1.5, math.nan, math.inf, "50", True, None])
def test_iterations_are_a_positive_whole_number(bad: Any) -> None:
    with pytest.raises(BadInput) as caught:
        Stream(100.0, 100.0, bad)
    assert caught.value.field == "iterations"
