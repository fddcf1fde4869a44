"""Errors: bad input carries its numbers, is a ValueError, and says what to do."""

from __future__ import annotations

import copy
import importlib
import inspect
import math
import pickle
import pkgutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deadheat
from deadheat.errors import BadInput, DeadheatError, NoConvergence, finite, nearest, whole
from deadheat.runtime import Delivery
from deadheat.runtime.structure import Structure

CLUSTER = deadheat.Cluster.from_columns([1.0, 2.0], 0.1)
SPEC = deadheat.CodeSpec(4)


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
    assert str(NoConvergence("it", 3, 0.5, "scale it")) == "it did not converge in 3 steps (residual 0.5); scale it"


# On their way to other processes


def every_error() -> list[type[DeadheatError]]:
    """All classes of errors in the package, with all of its modules imported."""
    for module in pkgutil.walk_packages(deadheat.__path__, "deadheat."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    kinds: list[type[DeadheatError]] = [DeadheatError]
    for kind in kinds:  # which grows
        kinds += kind.__subclasses__()
    return [kind for kind in kinds if kind.__module__.startswith("deadheat.")]


def specimen(kind: type[DeadheatError]) -> DeadheatError:
    """An error with arguments that its parameters can be given."""
    samples: dict[str, Any] = {
        "message": "went wrong", "args": "went wrong", "field": "mean", "value": np.arange(3.0), "family": "mds",
        "problem": "too long", "remedy": "cut it", "done": (0, 2), "rejected": (1,), "path": Path("a"), "why": "torn",
        "what": "it", "package": "torch", "extra": "torch", "target": 4.0,
        "best": deadheat.forecast(CLUSTER, deadheat.uniform(CLUSTER, SPEC), deadheat.Stream.poisson(0.1, 5)),
        "delivery": Delivery(3, "job", np.ones(2), 4, arrived=0.0, started=1.0, delivered=2.0, error="no"),
    }  # fmt: skip
    parameters = list(inspect.signature(kind.__init__).parameters.values())[1:]
    return kind(*(samples.get(parameter.name, 3) for parameter in parameters))


def test_every_error_survives_pickle_and_copy() -> None:
    kinds = every_error()
    assert len(kinds) >= 14
    for kind in kinds:
        error = specimen(kind)
        error.add_note("chunk 3")
        for again in (*(pickle.loads(pickle.dumps(error, protocol)) for protocol in range(6)), copy.copy(error)):
            assert type(again) is kind
            assert (str(again), again.args) == (str(error), error.args)
            assert Structure().digest(vars(again)) == Structure().digest(vars(error)), kind


def test_what_cannot_be_pickled_travels_in_words() -> None:
    error = BadInput("compute", lambda: 3, "too slow", "make haste")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert again.value.startswith("<function")


# On the terminal


class Loud:
    """Shows itself in red."""

    def __repr__(self) -> str:
        return "\x1b[31mred\x07"


class Broken:
    def __repr__(self) -> str:
        raise RuntimeError("no name")


def test_no_control_character_is_in_a_message() -> None:
    for error in (
        BadInput("name\x1b[2J", "a\x1bb", "un\u202eknown", "did you mean '\x9b'?"),
        BadInput("job", Loud(), "odd", "mend it"),
        DeadheatError("first\nsecond\x00"),
    ):
        assert str(error).isprintable(), repr(str(error))
    assert str(DeadheatError("first\n  second\x07")) == "first second\\x07"
    assert str(BadInput("naïve", "größe", "日本", "ok")) == "naïve = 'größe': 日本; ok"


def test_a_value_that_cannot_be_shown_is_named_by_its_type() -> None:
    assert str(BadInput("job", Broken(), "odd", "mend it")) == "job = <Broken>: odd; mend it"


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
