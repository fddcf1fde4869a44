"""Delays in a queue with one server: Pollaczek-Khinchine, Kingman, service moments."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from monte_carlo import queue

import deadheat as dh
from deadheat import theory
from deadheat.queueing import mean_delay, service_moments


def test_service_is_a_sum_of_iterations() -> None:
    mean, std = service_moments(50, 0.8, 0.1)
    assert mean == pytest.approx(40.0)
    # The paper: E[T_s^2] = I E[T_itr^2] + I (I - 1) E[T_itr]^2.
    assert std**2 + mean**2 == pytest.approx(50 * (0.1**2 + 0.8**2) + 50 * 49 * 0.8**2)


@given(st.floats(0.01, 0.99), st.floats(0.0, 3.0), st.floats(1e-3, 1e3))
def test_kingman_is_pollaczek_khinchine_for_poisson_arrivals(load: float, spread: float, gap: float) -> None:
    stream, mean = dh.Stream(gap, gap, 1), load * gap
    exact = theory.pollaczek_khinchine(1 / gap, mean, spread * mean)
    assert theory.kingman(stream, mean, spread * mean) == pytest.approx(exact, rel=1e-9)


def test_exponential_service_gives_the_delay_of_m_m_1() -> None:
    assert theory.pollaczek_khinchine(0.5, 1.0, 1.0) == pytest.approx(2.0)  # 1/(mu - lambda)
    assert theory.pollaczek_khinchine(0.5, 1.0, 0.0) == pytest.approx(1.5)  # M/D/1


def test_a_steady_beat_with_constant_service_never_waits() -> None:
    assert theory.kingman(dh.Stream(10.0, 0.0, 1), 9.0, 0.0) == pytest.approx(9.0)


@pytest.mark.parametrize("mean", [10.0, 10.1, 1e6])
def test_an_overloaded_queue_has_no_mean_delay(mean: float) -> None:
    assert theory.pollaczek_khinchine(0.1, mean, 1.0) == math.inf
    assert theory.kingman(dh.Stream(10.0, 5.0, 1), mean, 1.0) == math.inf


def test_the_stream_decides_which_formula_holds() -> None:
    poisson, steady = dh.Stream(10.0, 10.0, 1), dh.Stream(10.0, 2.0, 1)
    assert mean_delay(poisson, 5.0, 1.0) == theory.pollaczek_khinchine(0.1, 5.0, 1.0)
    assert mean_delay(steady, 5.0, 1.0) == theory.kingman(steady, 5.0, 1.0) < mean_delay(poisson, 5.0, 1.0)


def test_pollaczek_khinchine_against_a_simulated_queue() -> None:
    stream = dh.Stream.poisson(0.01, 1)
    averages = queue(stream, 50.0, 25.0, jobs=2000, draws=1000, seed=5)
    error = averages.std() / math.sqrt(averages.size)
    exact = theory.pollaczek_khinchine(0.01, 50.0, 25.0)
    # The queue starts empty: the first of 2000 jobs wait less, by about 0.1 s in the average.
    assert abs(averages.mean() - exact) < 4 * error + 0.1
    assert abs(averages.mean() - theory.pollaczek_khinchine(0.01, 51.0, 25.0)) > 4 * error + 0.1


def test_kingman_is_near_the_truth_close_to_saturation() -> None:
    stream = dh.Stream(100.0, 40.0, 1)
    averages = queue(stream, 95.0, 40.0, jobs=4000, draws=400, seed=6)
    assert theory.kingman(stream, 95.0, 40.0) == pytest.approx(averages.mean(), rel=0.1)  # "very accurate": within 10 %
