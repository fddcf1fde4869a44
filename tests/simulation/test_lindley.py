"""The queue: Lindley's recursion for all jobs at once is the loop over jobs."""

from __future__ import annotations

import numpy as np
from event_loops import lindley
from hypothesis import given
from hypothesis import strategies as st

from deadheat.simulation.lindley import starts

SECONDS = st.floats(0.0, 1e3)
PAIRS = st.lists(st.tuples(SECONDS, SECONDS), min_size=1, max_size=60)


@given(PAIRS, SECONDS)
def test_all_at_once_is_one_after_the_other(pairs: list[tuple[float, float]], free: float) -> None:
    gaps, service = np.array(pairs).T
    arrival = np.cumsum(gaps)
    begun = starts(arrival, service, free)
    np.testing.assert_allclose(begun, lindley(arrival.tolist(), service.tolist(), free), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        starts(arrival, service), lindley(arrival.tolist(), service.tolist()), rtol=1e-9, atol=1e-9
    )


@given(PAIRS, st.integers(0, 60))
def test_a_queue_cut_in_two_is_the_same_queue(pairs: list[tuple[float, float]], cut: int) -> None:
    gaps, service = np.array(pairs).T
    arrival = np.cumsum(gaps)
    whole = starts(arrival, service)
    cut = min(cut, arrival.size - 1)
    if cut:
        second = starts(arrival[cut:], service[cut:], float(whole[cut - 1] + service[cut - 1]))
        np.testing.assert_allclose(whole[cut:], second, rtol=1e-9, atol=1e-9)


def test_by_hand() -> None:
    np.testing.assert_array_equal(
        starts(np.array([1.0, 2.0, 10.0]), np.array([4.0, 2.0, 1.0]), free=3.0), [3.0, 7.0, 10.0]
    )


def test_no_job_starts_before_it_arrives() -> None:
    """Not by a rounding either, after many jobs: a wait is at least 0, and exactly 0 where the server is free."""
    rng = np.random.default_rng(1)
    arrival, service = np.cumsum(rng.exponential(100.0, 100_000)), rng.gamma(4.0, 10.0, 100_000)
    wait = starts(arrival, service) - arrival
    assert wait.min() == 0.0
    assert abs(np.mean(wait == 0.0) - 0.6) < 0.01  # one minus the utilisation of 0.4
