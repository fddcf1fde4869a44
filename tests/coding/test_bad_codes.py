"""Codes that cannot be: the message names the field, the value and the nearest that can be, and those can."""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from typing import Any

import numpy as np
import pytest

from deadheat.coding import Code, codes
from deadheat.errors import BadInput

# What is asked for, the field that is wrong, what the message must say, and the changes that it suggests.
IMPOSSIBLE: list[tuple[Callable[..., Code], dict[str, Any], str, tuple[str, ...], list[dict[str, Any]]]] = [
    # K > n
    (codes.mds, {"critical": 9, "total": 7}, "critical", ("at most 7", "total = 9"), [{"critical": 7}, {"total": 9}]),
    (
        codes.short_dot,
        {"critical": 9, "total": 7, "rows": 2},
        "critical",
        ("at most 7", "total = 9"),
        [{"critical": 7}, {"total": 9}],
    ),
    (codes.bernoulli, {"critical": 9, "total": 7}, "critical", ("at most 7",), [{"critical": 7}, {"total": 9}]),
    (codes.ldpc, {"parts": 9, "total": 7}, "parts", ("at most", "total = "), []),
    (codes.lt, {"parts": 9, "total": 7}, "parts", ("at most 5", "total = 11"), [{"parts": 5}, {"total": 11}]),
    (codes.lt, {"parts": 10, "total": 11}, "total", ("at least 12", "codes.ldpc"), [{"total": 12}]),
    (codes.fft, {"parts": 9, "total": 7}, "total", ("K = 9", "take 9"), [{"total": 9}]),
    (codes.polynomial, {"left": 2, "right": 3, "total": 5}, "total", ("K = 6", "take 6"), [{"total": 6}]),
    (codes.matdot, {"inner": 3, "total": 4}, "total", ("K = 5", "2 inner - 1", "take 5"), [{"total": 5}]),
    (codes.polydot, {"inner": 2, "outer": 2, "total": 9}, "total", ("K = 12", "take 12"), [{"total": 12}]),
    (
        codes.entangled,
        {"inner": 2, "left": 2, "right": 1, "total": 3},
        "total",
        ("K = 5", "inner left right + inner - 1", "take 5"),
        [{"total": 5}],
    ),
    (
        codes.lagrange,
        {"parts": 3, "degree": 4, "total": 7},
        "total",
        ("K = 9", "(parts - 1) degree + 1", "take 9"),
        [{"total": 9}],
    ),
    # d > m: more chunks in a task than there are
    (
        codes.cyclic,
        {"tasks": 5, "stragglers": 5},
        "stragglers",
        ("d = 6 of the 5 chunks", "at most 4", "tasks = 6"),
        [{"stragglers": 4}, {"tasks": 6}],
    ),
    *(
        (
            make,
            {"tasks": 5, "stragglers": 7},
            "stragglers",
            ("d = 8 of the 5 chunks", "at most 4", "tasks = 8"),
            [{"stragglers": 4}, {"tasks": 8}],
        )
        for make in (codes.cyclic_mds, codes.reed_solomon, codes.fractional_repetition)
    ),
    (
        codes.communication_efficient,
        {"tasks": 6, "stragglers": 3, "parts": 4},
        "parts",
        ("d = s + parts = 7 of the 6 chunks", "at most 3 parts", "2 stragglers"),
        [{"parts": 3}, {"stragglers": 2}],
    ),
    (
        codes.communication_efficient,
        {"tasks": 4, "stragglers": 1, "parts": 6},
        "parts",
        ("at most 3 parts", "tasks = 7"),
        [{"parts": 3}, {"tasks": 7}],
    ),
    (
        codes.bernoulli,
        {"critical": 5, "total": 7, "degree": 8},
        "degree",
        ("m = 7 chunks", "at most 7"),
        [{"degree": 7}],
    ),
    (codes.ldpc, {"parts": 5, "total": 7, "degree": 3}, "degree", ("2 parities", "at most 2"), [{"degree": 2}]),
    (
        codes.short_dot,
        {"critical": 5, "total": 8, "rows": 6},
        "rows",
        ("K = 5", "at most 5", "critical = 6"),
        [{"rows": 5}, {"critical": 6}],
    ),
    # s + 1 must divide n
    (
        codes.fractional_repetition,
        {"tasks": 10, "stragglers": 3},
        "stragglers",
        ("s + 1 = 4 does not divide", "stragglers = 4", "tasks = 8 or 12"),
        [{"stragglers": 4}, {"tasks": 8}, {"tasks": 12}],
    ),
    (
        codes.fractional_repetition,
        {"tasks": 55, "stragglers": 5},
        "stragglers",
        ("s + 1 = 6 does not divide", "stragglers = 4", "tasks = 54 or 60"),
        [{"stragglers": 4}, {"tasks": 54}, {"tasks": 60}],
    ),
    (
        codes.fractional_repetition,
        {"tasks": 7, "stragglers": 2},
        "stragglers",
        ("stragglers = 0", "tasks = 6 or 9"),
        [{"stragglers": 0}, {"tasks": 6}, {"tasks": 9}],
    ),
    # names
    (
        codes.mds,
        {"critical": 4, "total": 6, "basis": "gausian"},
        "basis",
        ("did you mean 'gaussian'",),
        [{"basis": "gaussian"}],
    ),
    (
        codes.mds,
        {"critical": 4, "total": 6, "basis": "Vandermond"},
        "basis",
        ("did you mean 'vandermonde'",),
        [{"basis": "vandermonde"}],
    ),
    (
        codes.mds,
        {"critical": 4, "total": 6, "basis": "xyz"},
        "basis",
        ("known: chebyshev, circle, gaussian, vandermonde",),
        [],
    ),
    (codes.mds, {"critical": 4, "total": 6, "basis": None}, "basis", ("no such basis",), []),
    (codes.uncoded, {"parts": 4, "kind": "gradent"}, "kind", ("did you mean 'gradient'",), [{"kind": "gradient"}]),
    (
        codes.replication,
        {"parts": 4, "times": 2, "kind": "lineal"},
        "kind",
        ("did you mean 'linear'",),
        [{"kind": "linear"}],
    ),
    (
        codes.fractional_repetition,
        {"tasks": 4, "stragglers": 1, "kind": "prodct"},
        "kind",
        ("did you mean 'product'",),
        [{"kind": "product"}],
    ),
    (codes.product, {"side": 3, "kind": "gradient"}, "kind", ("known: linear, product",), [{"kind": "linear"}]),
    (
        codes.product,
        {"side": 3, "dimensions": 3},
        "dimensions",
        ("take 2", 'kind="linear"'),
        [{"dimensions": 2}, {"kind": "linear"}],
    ),
    (
        codes.entangled,
        {"inner": 2, "left": 1, "right": 1, "total": 4, "points": "round"},
        "points",
        ('"real"', '"circle"'),
        [{"points": "real"}, {"points": "circle"}],
    ),
]


@pytest.mark.parametrize(("make", "given", "field", "words", "remedies"), IMPOSSIBLE)
def test_what_cannot_be_is_answered_with_what_can(
    make: Callable[..., Code],
    given: dict[str, Any],
    field: str,
    words: tuple[str, ...],
    remedies: list[dict[str, Any]],
) -> None:
    with pytest.raises(BadInput) as refused:
        make(**given)
    error = refused.value
    assert isinstance(error, ValueError)
    assert (error.field, error.value) == (field, given[field])
    assert str(error).startswith(f"{field} = {given[field]!r}: ")
    for word in words:
        assert word in str(error)
    for change in remedies:
        assert isinstance(make(**{**given, **change}), Code)


def test_the_nearest_fractional_repetitions_are_found() -> None:
    for tasks, stragglers in ((n, s) for n in range(2, 40) for s in range(n) if n % (s + 1)):
        with pytest.raises(BadInput) as refused:
            codes.fractional_repetition(tasks, stragglers)
        words = refused.value.remedy.replace(",", "").split()
        near, low, high = int(words[3]), int(words[7]), int(words[9])
        possible = [s for s in range(tasks) if tasks % (s + 1) == 0]
        assert near in possible
        assert abs(near - stragglers) == min(abs(s - stragglers) for s in possible)
        assert codes.fractional_repetition(tasks, near).critical == tasks - near
        assert low < tasks < high
        for other in (low, high):
            assert codes.fractional_repetition(other, stragglers).critical == other - stragglers


def test_a_suggestion_is_never_negative_or_beyond_the_other_numbers() -> None:
    with pytest.raises(BadInput) as refused:
        codes.communication_efficient(4, 1, 6)  # not "-2 stragglers"
    assert refused.value.remedy == "take at most 3 parts, or tasks = 7"
    with pytest.raises(BadInput) as refused:
        codes.short_dot(3, 5, 9)  # not "critical = 9" of 5 tasks
    assert refused.value.remedy == "take at most 3"


NUMBERS: list[tuple[Callable[..., Code], dict[str, Any], tuple[str, ...]]] = [
    (codes.uncoded, {"parts": 4}, ("parts",)),
    (codes.replication, {"parts": 3, "times": 2}, ("parts", "times")),
    (codes.fractional_repetition, {"tasks": 6, "stragglers": 1}, ("tasks",)),
    (codes.cyclic, {"tasks": 6, "stragglers": 1}, ("tasks",)),
    (codes.communication_efficient, {"tasks": 6, "stragglers": 1, "parts": 2}, ("tasks", "parts")),
    (codes.cyclic_mds, {"tasks": 6, "stragglers": 1}, ("tasks",)),
    (codes.reed_solomon, {"tasks": 6, "stragglers": 1}, ("tasks",)),
    (codes.bernoulli, {"critical": 5, "total": 7}, ("critical", "total")),
    (codes.mds, {"critical": 4, "total": 6}, ("critical", "total")),
    (codes.short_dot, {"critical": 5, "total": 8, "rows": 2}, ("critical", "total", "rows")),
    (codes.lt, {"parts": 5, "total": 10}, ("parts", "total")),
    (codes.ldpc, {"parts": 5, "total": 10, "degree": 3}, ("parts", "total", "degree")),
    (codes.product, {"side": 2, "dimensions": 2}, ("side", "dimensions")),
    (codes.polynomial, {"left": 2, "right": 3, "total": 9}, ("left", "right", "total")),
    (codes.matdot, {"inner": 3, "total": 8}, ("inner", "total")),
    (codes.polydot, {"inner": 2, "outer": 1, "total": 6}, ("inner", "outer", "total")),
    (codes.entangled, {"inner": 2, "left": 2, "right": 1, "total": 8}, ("inner", "left", "right", "total")),
    (codes.lagrange, {"parts": 3, "degree": 2, "total": 9}, ("parts", "degree", "total")),
    (codes.fft, {"parts": 4, "total": 8}, ("parts", "total")),
]


@pytest.mark.parametrize(
    ("make", "given", "field"), [(make, given, field) for make, given, fields in NUMBERS for field in fields]
)
@pytest.mark.parametrize("wrong", [0, -3, 2.5, nan, "5", None, True, [5]])
def test_counts_are_whole_and_positive(
    make: Callable[..., Code], given: dict[str, Any], field: str, wrong: object
) -> None:
    with pytest.raises(BadInput) as refused:
        make(**{**given, field: wrong})
    assert refused.value.field == field
    assert refused.value.remedy


@pytest.mark.parametrize("make", [codes.cyclic, codes.communication_efficient, codes.cyclic_mds, codes.reed_solomon])
@pytest.mark.parametrize("wrong", [-1, 1.5, "2"])
def test_stragglers_are_whole_and_not_negative(make: Callable[..., Code], wrong: object) -> None:
    with pytest.raises(BadInput, match="stragglers"):
        make(6, wrong)
    assert make(6, 0).critical == 6


@pytest.mark.parametrize(("make", "given", "field"), [(m, g, f) for m, g, fields in NUMBERS for f in fields[:1]])
def test_whole_floats_and_numpy_integers_are_counts(
    make: Callable[..., Code], given: dict[str, Any], field: str
) -> None:
    for kind in (float, np.int64, np.float32):
        assert make(**{**given, field: kind(given[field])}).total == make(**given).total


@pytest.mark.parametrize("wrong", [0.0, -1.0, nan, "x"])
def test_the_law_of_a_fountain_has_positive_parameters(wrong: object) -> None:
    with pytest.raises(BadInput, match="spread"):
        codes.lt(5, 10, spread=wrong)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="failure"):
        codes.lt(5, 10, failure=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "make", [codes.matdot, lambda inner, total, limit: codes.mds(inner, total, "circle", limit=limit)]
)
@pytest.mark.parametrize("wrong", [nan, "x", None])
def test_a_limit_is_a_number(make: Callable[..., Code], wrong: object) -> None:
    """Not a number that everything is below."""
    with pytest.raises(BadInput, match="limit"):
        make(2, 4, limit=wrong)


def test_every_constructor_with_numbers_is_in_the_tables() -> None:
    without = {"paper_example", "paper_preset", "register"}
    assert {make.__name__ for make, _, _ in NUMBERS} == set(codes.__all__) - without
