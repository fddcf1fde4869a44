"""Intervals: a number and the ends of its 95 % range."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from deadheat.model import Interval, interval


def test_students_interval() -> None:
    values = np.random.default_rng(4).normal(10.0, 2.0, 12)
    low, high = stats.t.interval(0.95, 11, values.mean(), stats.sem(values))
    found = interval(values)
    assert (found.mean, found.low, found.high) == pytest.approx((values.mean(), low, high))
    assert found.precision == pytest.approx((high - low) / 2 / values.mean())


def test_one_value_says_nothing_of_its_error() -> None:
    assert interval([3.0]) == Interval(3.0, -math.inf, math.inf)


def test_it_holds_its_ends_and_what_is_between() -> None:
    found = Interval(2.0, 1.0, 4.0)
    assert [found.holds(x) for x in (0.999, 1.0, 3.0, 4.0, 4.001)] == [False, True, True, True, False]
    assert Interval(0.0, -1.0, 1.0).precision == math.inf
