"""Errors: bad input carries its numbers, is a ValueError, and says what to do."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deadheat.errors import BadInput, DeadheatError, NoConvergence, finite, nearest, whole


def test_bad_input_is_both_a_deadheat_error_and_a_value_error() -> None:
    error = BadInput("mean", -1.0, "must be above 0", "give seconds")
    assert isinstance(error, DeadheatError)
    assert isinstance(error, ValueError)


def test_bad_input_carries_what_its_message_says() -> None:
    error = BadInput("mean", -1.0, "must be above 0", "give seconds")
    assert (error.field, error.value, error.problem, error.remedy) == ("mean", -1.0, "must be above 0", "give seconds")
    assert str(error) == "mean = -1.0: must be above 0; give seconds"


def test_within_names_the_larger_thing_and_keeps_the_rest() -> None:
    error = BadInput("mean", -1.0, "must be above 0", "give seconds").within("workers[2]")
    assert error.field == "workers[2].mean"
    assert (error.value, error.remedy) == (-1.0, "give seconds")
    assert str(error).startswith("workers[2].mean = -1.0")


def test_a_long_value_stays_one_short_line() -> None:
    text = str(BadInput("ratio", np.arange(1000.0), "too long", "cut it"))
    assert "\n" not in text
    assert len(text) < 120


def test_a_numpy_number_is_shown_as_a_number() -> None:
    assert str(BadInput("mean", np.float64(-1.5), "bad", "fix")).startswith("mean = -1.5:")


def test_no_convergence_carries_its_numbers() -> None:
    error = NoConvergence("the balance", 200, 0.75)
    assert (error.steps, error.residual) == (200, 0.75)
    assert not isinstance(error, ValueError)


@pytest.mark.parametrize("value", [True, False, "3", b"3", None, [3.0], {}, 3j])
def test_what_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(BadInput, match="not a number"):
        finite("x", value, "give a number")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.nan])
def test_what_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(BadInput, match="not a finite number"):
        finite("x", value, "give a number")


def test_an_integer_beyond_floating_point_is_refused() -> None:
    with pytest.raises(BadInput):
        finite("critical", 10**400, "give a number")


def test_an_array_is_refused_as_a_number() -> None:
    with pytest.raises(BadInput):
        finite("mean", np.array([1.0, 2.0]), "give a number")


def test_bounds_are_open_above_and_closed_at_least() -> None:
    assert finite("x", 0.0, "r", least=0.0) == 0.0
    with pytest.raises(BadInput, match="above 0"):
        finite("x", 0.0, "r", above=0.0)
    with pytest.raises(BadInput, match="at least 0"):
        finite("x", -1e-9, "r", least=0.0)


def test_whole_takes_whole_floats_and_numpy_integers_only() -> None:
    assert whole("n", 5.0, "r") == 5
    assert isinstance(whole("n", np.int64(5), "r"), int)
    with pytest.raises(BadInput, match="not a whole number"):
        whole("n", 5.5, "r")
    with pytest.raises(BadInput, match="at least 1"):
        whole("n", 0, "r")


def test_nearest_suggests_the_closest_name_or_lists_all() -> None:
    assert nearest("rat", ["rate", "jobs"]) == "did you mean 'rate'?"
    assert nearest("zzz", ["rate", "jobs"]) == "known: jobs, rate"
