"""The worked example of section IV-C: one test for each number that is printed or follows from what is printed."""

from __future__ import annotations

import math

import pytest

import deadheat as dh
from deadheat import theory
from deadheat.paper import worked_example as paper

CLUSTER, SPEC, STREAM = paper.cluster(), paper.spec(), paper.stream()
BALANCED, UNIFORM = dh.split(CLUSTER, SPEC), dh.uniform(CLUSTER, SPEC)


def test_the_work_of_a_task_is_2_827_440() -> None:
    assert SPEC.work == 2_827_440  # C = d alpha n/m: exact in whole numbers


def test_any_50_of_55_tasks_resolve_an_iteration() -> None:
    assert (SPEC.critical, SPEC.redundancy, SPEC.total) == (50, 1.1, 55)


def test_the_tasks_are_exponential_with_rate_mu_over_c() -> None:
    tasks = CLUSTER.tasks(SPEC)
    assert tasks.mean.tolist() == pytest.approx([SPEC.work / mu for mu in paper.SPEEDS], rel=1e-14)
    assert tasks.comm.tolist() == list(paper.COMM)
    for law, mu in zip(tasks.laws, paper.SPEEDS, strict=True):
        assert float(law.cdf(0.1)) == pytest.approx(-math.expm1(-0.1 * mu / SPEC.work), rel=1e-12)


def test_the_stream_is_poisson_with_50_iterations() -> None:
    assert (STREAM.rate, STREAM.iterations, STREAM.is_poisson) == (0.01, 50, True)


def test_theorem_2_gives_13_18_7_3_14() -> None:
    assert BALANCED.loads.tolist() == [13, 18, 7, 3, 14]  # computed twice independently; whole, so exact


def test_theta_and_the_real_shares() -> None:
    assert BALANCED.theta == pytest.approx(1.33065, abs=5e-6)  # half a unit of the last digit known
    assert BALANCED.shares.tolist() == pytest.approx([12.990, 17.725, 7.145, 3.158, 13.983], abs=5e-4)


def test_the_uniform_split_is_11_each() -> None:
    assert UNIFORM.loads.tolist() == [11] * 5


def test_the_steady_delays_behind_the_printed_ones() -> None:
    # Exact for Poisson arrivals: half a unit of the last digit that two independent computations agreed on.
    assert dh.forecast(CLUSTER, BALANCED, STREAM).delay == pytest.approx(49.53, abs=0.005)
    assert dh.forecast(CLUSTER, UNIFORM, STREAM).delay == pytest.approx(148.4, abs=0.05)


def test_printed_47_93_is_an_ordinary_draw_of_1000_jobs() -> None:
    # One draw, seed unknown: all that can be asked is that it lies in the range of 95 % of the draws.
    drawn = dh.forecast(CLUSTER, BALANCED, STREAM).draw(1000)
    assert drawn.low < paper.PRINTED["optimal"] < drawn.high
    assert drawn.mean == pytest.approx(49.6, abs=0.15)  # over many simulated draws, themselves known to 0.1
    assert drawn.std == pytest.approx(1.3, abs=0.15)


def test_printed_129_96_is_an_ordinary_draw_of_1000_jobs() -> None:
    drawn = dh.forecast(CLUSTER, UNIFORM, STREAM).draw(1000)
    assert drawn.low < paper.PRINTED["uniform"] < drawn.high
    assert drawn.mean == pytest.approx(147, abs=2)  # over many simulated draws of standard deviation 12
    assert drawn.std == pytest.approx(12, abs=2)


def test_swapped_the_printed_delays_would_be_impossible() -> None:
    # Negative control: the range is narrow enough to tell one split from the other.
    assert dh.forecast(CLUSTER, BALANCED, STREAM).draw(1000).rank(paper.PRINTED["uniform"]) > 0.9999
    assert dh.forecast(CLUSTER, UNIFORM, STREAM).draw(1000).rank(paper.PRINTED["optimal"]) < 0.0001


def test_the_optimal_split_is_nearly_three_times_as_fast_as_the_uniform_one() -> None:
    exact = dh.forecast(CLUSTER, UNIFORM, STREAM).delay / dh.forecast(CLUSTER, BALANCED, STREAM).delay
    printed = paper.PRINTED["uniform"] / paper.PRINTED["optimal"]
    # The printed ratio has the errors of two draws: 2.5 % and 9 %, together 9.3 % of a standard deviation; two of them.
    assert exact == pytest.approx(printed, rel=0.19)


def test_without_purging_the_formula_is_an_upper_bound() -> None:
    # Section IV-B: K*Omega tasks are all waited for. 76.8 s, and the uniform split is unstable.
    without = dh.forecast(CLUSTER, BALANCED, STREAM, purge=False)
    assert without.delay == pytest.approx(76.8, abs=0.05)
    assert without.delay > dh.forecast(CLUSTER, BALANCED, STREAM).delay
    assert not dh.forecast(CLUSTER, UNIFORM, STREAM, purge=False).stable


def test_erratum_the_printed_bound_42_04_is_not_the_equation() -> None:
    # Eq. (LB) gives 33.93 s of service. The same server in a queue has a delay of 42.64 s, of which 42.04 is a draw.
    bound = dh.lower_bound(CLUSTER, SPEC, STREAM)
    assert bound.service == pytest.approx(33.93, abs=0.005)
    assert bound.delay == pytest.approx(42.64, abs=0.005)
    assert abs(paper.PRINTED["lower bound"] - bound.service) > 8
    drawn = theory.draw(STREAM, bound.service, 0.0, 1000)
    assert drawn.std == pytest.approx(0.9, abs=0.1)  # facts: 42.6 +- 0.9 over draws of 1000 jobs
    assert drawn.low < paper.PRINTED["lower bound"] < drawn.high
    assert drawn.rank(bound.service) < 1e-3  # as a delay, the equation's own number would be impossible


def test_no_forecast_beats_the_bound_with_waiting() -> None:
    # "acts as a lower bound": here all five workers are used, so it does.
    bound = dh.lower_bound(CLUSTER, SPEC, STREAM)
    assert bound.delay < theory.genie_bound(CLUSTER, SPEC, STREAM).delay < dh.forecast(CLUSTER, BALANCED, STREAM).delay


def test_with_omega_1_purging_changes_nothing() -> None:
    # "The derived expression is precise for the case when Omega = 1": the same computation, so equal.
    spec = paper.spec(1.0)
    split = dh.split(CLUSTER, spec)
    assert split.loads.tolist() == [12, 16, 6, 3, 13]
    assert dh.forecast(CLUSTER, split, STREAM).delay == dh.forecast(CLUSTER, split, STREAM, purge=False).delay


def test_theorem_2_does_not_minimise_the_delay() -> None:
    # Erratum: at Omega = 1 other whole loads are 8 % faster. Two decimals were computed twice.
    spec = paper.spec(1.0)
    assert dh.forecast(CLUSTER, dh.split(CLUSTER, spec), STREAM).delay == pytest.approx(69.52, abs=0.01)
    assert dh.forecast(CLUSTER, dh.Split.of([12, 18, 5, 1, 14], spec), STREAM).delay == pytest.approx(63.70, abs=0.01)
