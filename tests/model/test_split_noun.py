"""A split's loads are whole, not negative and sum to K*Omega."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from deadheat.errors import BadInput
from deadheat.model import CodeSpec, Split

SPEC = CodeSpec(5, 1.2)  # six tasks


def test_of_keeps_ones_own_loads() -> None:
    split = Split.of([4, 0, 2], SPEC)
    assert split.loads.tolist() == [4, 0, 2]
    assert split.loads.dtype == np.int64
    assert split.shares.tolist() == [4.0, 0.0, 2.0]
    assert split.active == 2
    assert math.isnan(split.theta)
    assert split.policy == "given"


def test_whole_floats_count_as_whole() -> None:
    assert Split.of([4.0, 2.0], SPEC).loads.tolist() == [4, 2]


@pytest.mark.parametrize(
    "loads",
    [
        pytest.param([3, 2], id="too few"),
        pytest.param([3, 4], id="too many"),
        pytest.param([7, -1], id="negative"),
        pytest.param([3.5, 2.5], id="broken"),
        pytest.param([math.nan, 6.0], id="nan"),
        pytest.param([math.inf, 6.0], id="infinite"),
        pytest.param(["3", "3"], id="texts"),
        pytest.param([True] * 6, id="bools"),
        pytest.param([[3, 3]], id="a table"),
        pytest.param([], id="nothing"),
        pytest.param(6, id="a number"),
    ],
)
def test_other_loads_are_refused(loads: Any) -> None:
    with pytest.raises(BadInput) as caught:
        Split.of(loads, SPEC)
    assert caught.value.field == "loads"


def test_loads_and_shares_are_read_only() -> None:
    split = Split.of([4, 2], SPEC)
    for column in (split.loads, split.shares):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1


def test_repr_cuts_a_long_list() -> None:
    assert "1, 1, ...;" in repr(Split.of([1] * 20, CodeSpec(20)))
    assert repr(Split.of([4, 0, 2], SPEC)) == "Split(given: 4, 0, 2; theta nan, 2 of 3 active)"
