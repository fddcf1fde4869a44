"""A code's parameters: K*Omega is a whole number of tasks, or the nearest ones are named."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadheat.errors import BadInput
from deadheat.model import CodeSpec


def test_fifty_times_one_point_one_is_fifty_five() -> None:
    assert 50 * 1.1 != 55  # in floating point
    assert CodeSpec(50, 1.1).total == 55


def test_a_broken_number_of_tasks_names_the_nearest_redundancies() -> None:
    with pytest.raises(BadInput) as caught:
        CodeSpec(50, 1.05)
    assert caught.value.field == "redundancy"
    assert "52.5" in caught.value.problem
    assert "1.04 (52 tasks)" in caught.value.remedy
    assert "1.06 (53 tasks)" in caught.value.remedy
    assert [CodeSpec(50, near).total for near in (1.04, 1.06)] == [52, 53]


@pytest.mark.parametrize("bad", [0, -1, 2.5, math.nan, math.inf, "50", True, None])
def test_critical_is_a_positive_whole_number(bad: Any) -> None:
    with pytest.raises(BadInput) as caught:
        CodeSpec(bad)
    assert caught.value.field == "critical"


@pytest.mark.parametrize("bad", [0.9, 0.0, -1.0, math.nan, math.inf, "1.1", True, None])
def test_redundancy_is_at_least_one(bad: Any) -> None:
    with pytest.raises(BadInput) as caught:
        CodeSpec(50, bad)
    assert caught.value.field == "redundancy"


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, "1", True, None])
def test_work_is_above_zero(bad: Any) -> None:
    with pytest.raises(BadInput) as caught:
        CodeSpec(50, 1.1, bad)
    assert caught.value.field == "work"


def test_the_default_is_no_redundancy_and_unit_work() -> None:
    assert (CodeSpec(7).total, CodeSpec(7).redundancy, CodeSpec(7).work) == (7, 1.0, 1.0)


@given(critical=st.integers(1, 10_000), spare=st.integers(0, 10_000))
def test_of_gives_out_exactly_the_total_asked_for(critical: int, spare: int) -> None:
    spec = CodeSpec.of(critical, critical + spare)
    assert spec.critical == critical
    assert spec.total == critical + spare


@pytest.mark.parametrize(("critical", "total"), [(10, 9), (10, 0), (10, 10.5), (0, 5), (-1, 5), ("x", 5)])
def test_of_refuses_what_cannot_be_a_code(critical: Any, total: Any) -> None:
    with pytest.raises(BadInput):
        CodeSpec.of(critical, total)
