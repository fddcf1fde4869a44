"""What holds for every split, over clusters that span six orders of magnitude in each of their numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import deadheat as dh
from deadheat import theory

MAGNITUDE = st.floats(-3.0, 3.0).map(lambda x: 10.0**x)
OR_NONE = st.one_of(st.just(0.0), MAGNITUDE)
Row = tuple[float, float, float]


@dataclass(frozen=True)
class Case:
    rows: list[Row]  # mean, std, comm
    total: int
    gamma: float

    @property
    def cluster(self) -> dh.Cluster:
        return dh.Cluster.from_columns(*(list(column) for column in zip(*self.rows, strict=True)))

    def split(self) -> dh.Split:
        return dh.split(self.cluster, dh.CodeSpec(self.total), self.gamma)


ROWS = st.lists(st.tuples(MAGNITUDE, OR_NONE, OR_NONE), min_size=1, max_size=40)
CASES = st.builds(Case, ROWS, st.integers(1, 500), OR_NONE)


def _same_shares(first: NDArray[np.float64], second: NDArray[np.float64]) -> bool:
    # A share near 0 is the difference of theta and a_p: it keeps fewer digits, but they are of no task's size.
    return bool(np.allclose(first, second, rtol=1e-6, atol=1e-7))


@given(CASES)
def test_loads_are_whole_not_negative_sum_and_lie_next_to_the_shares(case: Case) -> None:
    split = case.split()
    assert split.loads.sum() == case.total
    assert (split.loads >= 0).all()
    assert (split.shares >= 0).all()
    assert abs(split.shares.sum() / case.total - 1) < 1e-9
    assert (np.abs(split.loads - split.shares) < 1).all()


@given(CASES)
def test_active_workers_score_theta_and_idle_ones_start_above_it(case: Case) -> None:
    split, cluster = case.split(), case.cluster
    first, second = theory.assignment_moments(cluster.tasks(split.spec), split.shares)
    scores = first + case.gamma * second
    busy = split.shares > 0
    np.testing.assert_allclose(scores[busy], split.theta, rtol=1e-6)
    start = cluster.comm + case.gamma * cluster.comm**2
    assert (start[~busy] >= split.theta * (1 - 1e-12)).all()
    assert busy.any()


@given(CASES, st.randoms(use_true_random=False))
def test_the_order_of_the_workers_does_not_matter(case: Case, random: object) -> None:
    order = list(range(len(case.rows)))
    random.shuffle(order)  # type: ignore[attr-defined]
    here, there = case.split(), Case([case.rows[p] for p in order], case.total, case.gamma).split()
    assert _same_shares(here.shares[order], there.shares)
    remainders = np.sort(here.shares % 1)
    if remainders.size == 1 or np.diff(remainders).min() > 1e-5:  # ties aside
        assert here.loads[order].tolist() == there.loads.tolist()


@given(CASES, st.data())
def test_a_faster_worker_never_gets_less(case: Case, data: st.DataObject) -> None:
    p = data.draw(st.integers(0, len(case.rows) - 1))
    factor = data.draw(st.floats(0.01, 1.0))
    mean, std, comm = case.rows[p]
    quicker: Row = (mean * factor, std * factor, comm)
    beside = Case([*case.rows, quicker], case.total, case.gamma).split()  # in the same cluster
    assert beside.shares[-1] >= beside.shares[p] * (1 - 1e-9) - 1e-9
    instead = Case([*case.rows[:p], quicker, *case.rows[p + 1 :]], case.total, case.gamma).split()
    assert instead.shares[p] >= case.split().shares[p] * (1 - 1e-9) - 1e-9  # in its own place


@given(CASES, st.floats(-6.0, 6.0).map(lambda x: 10.0**x))
def test_the_unit_of_time_does_not_matter_if_gamma_goes_with_it(case: Case, unit: float) -> None:
    scaled = Case([(m * unit, s * unit, c * unit) for m, s, c in case.rows], case.total, case.gamma / unit)
    assert _same_shares(case.split().shares, scaled.split().shares)


@given(CASES)
def test_more_tasks_take_nothing_from_anybody(case: Case) -> None:
    fewer, more = case.split(), Case(case.rows, case.total + 1, case.gamma).split()
    assert (more.shares >= fewer.shares * (1 - 1e-9) - 1e-9).all()
    assert more.theta >= fewer.theta * (1 - 1e-12)


@given(CASES, MAGNITUDE)
def test_a_worker_beyond_theta_changes_nothing(case: Case, excess: float) -> None:
    alone = case.split()
    # c + gamma c^2 >= c: a shift above theta is a start above theta.
    joined = Case([*case.rows, (1e-3, 0.0, alone.theta * (1 + excess))], case.total, case.gamma).split()
    assert joined.shares[-1] == 0
    assert _same_shares(joined.shares[:-1], alone.shares)
    assert joined.loads[:-1].tolist() == alone.loads.tolist()
