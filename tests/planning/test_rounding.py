"""Whole loads: largest remainder first, ties to the earlier worker."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deadheat.planning import apportion


def test_the_largest_remainders_get_the_rest() -> None:
    assert apportion(np.array([1.2, 2.7, 0.6, 3.5]), 8).tolist() == [1, 3, 1, 3]


def test_ties_go_to_the_earlier_worker() -> None:
    assert apportion(np.array([0.5, 0.5, 0.5, 0.5]), 2).tolist() == [1, 1, 0, 0]


def test_a_whole_share_stays_whatever_its_last_digit() -> None:
    assert apportion(np.array([2.9999999999999, 1.5, 1.5]), 6).tolist() == [3, 2, 1]
    assert apportion(np.array([3.0000000000001, 1.5, 1.5]), 6).tolist() == [3, 2, 1]


def test_remainders_equal_but_for_rounding_are_a_tie() -> None:
    assert apportion(np.array([1.5 - 1e-13, 1.5 + 1e-13]), 3).tolist() == [2, 1]


def test_many_workers_with_a_little_each() -> None:
    loads = apportion(np.full(1000, 0.005), 5)
    assert loads.sum() == 5
    assert loads[:5].tolist() == [1] * 5


@given(st.lists(st.floats(0.0, 1e3), min_size=1, max_size=50).filter(lambda w: sum(w) > 1e-3), st.integers(1, 10_000))
def test_loads_sum_and_stay_within_one_of_their_shares(weights: list[float], total: int) -> None:
    shares = np.array(weights) / sum(weights) * total
    loads = apportion(shares, total)
    assert loads.sum() == total
    assert (loads >= 0).all()
    assert (np.abs(loads - shares) < 1).all()


@given(st.lists(st.integers(0, 100), min_size=1, max_size=20).filter(any))
def test_whole_shares_are_kept(wanted: list[int]) -> None:
    assert apportion(np.array(wanted, float), sum(wanted)).tolist() == wanted
