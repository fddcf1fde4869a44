"""When a run will end: learned from its iterations, stated as intervals that hold as often as they say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import deadheat as dh
from deadheat.runtime import Driver
from deadheat.runtime.eta import Eta, _student
from deadheat.scheduling import Abandon, Assign, Deliver, Estimates, Master, Program, Resolved, Ticket
from deadheat.simulation import VirtualEngine

PAIR = dh.Cluster([dh.Worker(1.0, 1.0, comm=0.1), dh.Worker(2.0, 2.0, comm=0.2)])
SMALL = dh.codes.cyclic(6, 1)
LENGTHS = (1.8, 2.2, 1.9, 2.1)  # of iterations, in seconds


def begin(eta: Eta, job: int, at: float, iteration: int = 0) -> None:
    for worker in (0, 1):
        eta(Assign(worker, Ticket(job, iteration), (worker,)), at)


def iterate(eta: Eta, job: int, lengths: tuple[float, ...], at: float, first: int = 0) -> float:
    """Iterations of a job, from that time on; when the last one ended."""
    for iteration, seconds in enumerate(lengths, first):
        at += seconds
        eta(Resolved(Ticket(job, iteration), at), at)
    return at


def test_nothing_is_stated_before_the_third_iteration() -> None:
    eta = Eta(1)
    eta.add(0, 10, 4.0)
    assert eta.job_ends(0.0) is None
    begin(eta, 0, 0.0)
    assert eta.job_ends(0.0) is None
    at = iterate(eta, 0, (1.0, 1.0), 0.0)
    assert eta.job_ends(at) is None
    assert eta.run_ends(at) is None
    at = iterate(eta, 0, (1.0,), at, 2)
    ends = eta.job_ends(at)
    assert ends is not None
    assert ends.mean == pytest.approx(10.0)
    assert (ends.low, ends.high) == pytest.approx((10.0, 10.0))  # all were alike


def test_an_eta_by_hand() -> None:
    """Two jobs of 6 and 3 iterations of 2 s and of work 4 and 8; the second comes at 30."""
    eta = Eta(2, [0.0, 30.0])
    eta.add(0, 6, 4.0)
    assert eta.progress == 0.0
    begin(eta, 0, 0.0)
    at = iterate(eta, 0, LENGTHS, 0.0)
    assert at == pytest.approx(8.0)
    assert eta.progress == pytest.approx(4 / 6 / 2)
    ends = eta.job_ends(at)
    assert ends is not None
    weight = eta._pace.weight
    assert weight == pytest.approx(4.0, rel=0.05)
    spread = eta._pace.std
    assert spread == pytest.approx(np.std(LENGTHS) / 4, rel=0.05)
    half = _student(weight - 1) * spread * 4.0 * math.sqrt(2 + 2**2 / weight)  # two iterations of work 4 are left
    assert (ends.mean, ends.low, ends.high) == pytest.approx((12.0, 12 - half, 12 + half), rel=0.01)
    last = eta.run_ends(at)
    assert last is not None
    assert last.mean == pytest.approx(42.0, rel=0.01)  # the second is taken to be alike: it comes at 30, and takes 12 s
    eta.add(1, 3, 8.0)
    last = eta.run_ends(at)
    assert last is not None
    assert last.mean == pytest.approx(42.0, rel=0.01)  # three iterations of twice the work
    assert last.high - last.mean > ends.high - ends.mean
    at = iterate(eta, 0, (2.0, 2.0), at, 4)
    eta(Deliver(0), at)
    assert (eta.over, eta.progress) == (1, 0.5)
    assert eta.stated == eta.held == 3  # after its third, fourth and fifth iteration


def test_what_was_wrong_is_counted_as_stated() -> None:
    eta = Eta(1)
    eta.add(0, 6, 1.0)
    begin(eta, 0, 0.0)
    at = iterate(eta, 0, (*LENGTHS, 2.0, 60.0), 0.0)
    eta(Deliver(0), at)
    assert (eta.over, eta.stated, eta.held) == (1, 3, 0)


def test_a_job_of_another_size_is_foretold_by_its_work() -> None:
    """Ten iterations of about 1 s, then ten of ten times the work."""
    eta = Eta(2)
    eta.add(0, 10, 1.0)
    eta.add(1, 10, 10.0)
    begin(eta, 0, 0.0)
    at = iterate(eta, 0, (0.9, 1.1) * 5, 0.0)
    eta(Deliver(0), at)
    begin(eta, 1, at)
    ends = eta.job_ends(at)
    assert ends is not None
    assert ends.holds(110.0)
    assert not ends.holds(30.0)
    assert eta.run_ends(at) == ends  # it is the last


def test_a_job_that_goes_on_from_a_checkpoint_has_fewer_iterations_to_go() -> None:
    eta = Eta(1)
    eta.add(0, 10, 1.0)
    begin(eta, 0, 0.0, iteration=6)
    at = iterate(eta, 0, (1.0, 1.0, 1.0), 0.0, first=6)
    ends = eta.job_ends(at)
    assert ends is not None
    assert ends.mean == pytest.approx(4.0)


def test_a_job_that_converges_was_promised_nothing() -> None:
    eta = Eta(1)
    eta.add(0, 100, 1.0)
    begin(eta, 0, 0.0)
    at = iterate(eta, 0, LENGTHS * 5, 0.0)
    eta(Resolved(Ticket(0, 20), at, over=True), at)
    eta(Deliver(0), at)
    assert (eta.over, eta.stated) == (1, 0)


def test_a_job_that_fails_counts_as_over() -> None:
    """The run is half through, whether its first job could be finished or not; nothing was promised for it."""
    eta = Eta(2)
    eta.add(0, 10, 1.0)
    begin(eta, 0, 0.0)
    iterate(eta, 0, LENGTHS, 0.0)
    eta(Abandon(0, "an error"), 8.0)
    assert (eta.stated, eta.held) == (0, 0)
    assert eta.progress == 0.5


def test_of_a_stream_nobody_knows_when_it_ends() -> None:
    eta = Eta()
    eta.add(0, 10, 1.0)
    begin(eta, 0, 0.0)
    at = iterate(eta, 0, LENGTHS, 0.0)
    assert eta.job_ends(at) is not None
    assert eta.run_ends(at) is None
    assert eta.progress is None


@pytest.mark.parametrize(("freedom", "within"), [(2.0, 0.12), (3.0, 0.05), (10.0, 0.005), (1e6, 1e-3)])
def test_students_quantile(freedom: float, within: float) -> None:
    assert _student(freedom) == pytest.approx(float(stats.t.ppf(0.975, freedom)), rel=within)


def test_stated_intervals_hold() -> None:
    """Ten for each of 300 jobs, on sampled time."""
    jobs = 300
    program = Program(SMALL, work=1.0 / SMALL.cost.work, iterations=10)
    eta = Eta(jobs)
    engine = VirtualEngine(PAIR, dh.split(PAIR, program.spec), 7, compute=False)
    driver = Driver(Master(Estimates(PAIR), adapt=False), engine, [eta])
    driver.gather(2)
    for number in range(jobs):
        eta.add(number, 10, 1.0)
        driver.submit(program, None)
    while len(driver):
        driver.turn(None)
    assert eta.over == jobs
    assert eta.progress == 1.0
    assert eta.stated == pytest.approx(10 * jobs, abs=5)  # the first ones are missing
    assert 0.93 <= eta.held / eta.stated <= 0.98
