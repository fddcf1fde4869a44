"""Capacities: nobody gets more than it can hold, and the rest is balanced over the others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deadheat as dh
from deadheat import theory
from deadheat.planning import caps


def test_a_full_worker_leaves_the_rest_to_the_others() -> None:
    free = dh.Cluster.from_columns([1.0, 1.0, 1.0], 1.0)
    capped = dh.Cluster.from_columns([1.0, 1.0, 1.0], 1.0, capacity=[2.0, np.inf, np.inf])
    assert dh.split(free, dh.CodeSpec(12)).loads.tolist() == [4, 4, 4]
    split = dh.split(capped, dh.CodeSpec(12))
    assert split.loads.tolist() == [2, 5, 5]
    np.testing.assert_allclose(split.shares, [2.0, 5.0, 5.0], rtol=1e-12)


def test_theta_is_the_score_of_those_who_are_not_full() -> None:
    cluster = dh.Cluster.from_columns([1.0, 1.0], 0.0, capacity=[2.0, np.inf])
    assert dh.split(cluster, dh.CodeSpec(10), gamma=0.0).theta == pytest.approx(8.0)


def test_capacity_counts_units_of_work_and_only_whole_tasks_fit() -> None:
    cluster = dh.Cluster.from_columns([1.0, 1.0], 1.0, capacity=[29.9, np.inf])
    assert caps(cluster.tasks(dh.CodeSpec(1, work=10.0))).tolist() == [2.0, np.inf]
    assert dh.split(cluster, dh.CodeSpec(10, work=10.0)).loads.tolist() == [2, 8]


def test_a_capacity_of_a_whole_number_of_tasks_holds_them_all() -> None:
    work = 0.1  # 0.3/0.1 is below 3 in floating point
    cluster = dh.Cluster.from_columns([1.0, 1.0], 1.0, capacity=0.3)
    assert dh.split(cluster, dh.CodeSpec(6, work=work)).loads.tolist() == [3, 3]


def test_capacities_that_just_hold_the_total_are_filled() -> None:
    cluster = dh.Cluster.from_columns([1.0, 5.0, 9.0], 1.0, [0.0, 3.0, 9.0], capacity=[4.0, 3.0, 5.0])
    for split in (dh.split(cluster, dh.CodeSpec(12)), dh.uniform(cluster, dh.CodeSpec(12))):
        assert split.loads.tolist() == [4, 3, 5]


@pytest.mark.parametrize("make", [dh.split, dh.uniform], ids=["split", "uniform"])
def test_too_little_room_is_refused_with_the_numbers(make: object) -> None:
    cluster = dh.Cluster.from_columns([1.0, 1.0], 1.0, capacity=[4.0, 3.9])
    assert callable(make)
    with pytest.raises(dh.BadInput, match="7 of 8 tasks") as caught:
        make(cluster, dh.CodeSpec(8))
    assert caught.value.field == "capacity"
    assert caught.value.value == 7


def test_a_worker_that_holds_no_task_gets_none() -> None:
    cluster = dh.Cluster.from_columns([1.0, 1.0], 1.0, capacity=[0.5, np.inf])
    assert dh.split(cluster, dh.CodeSpec(4)).loads.tolist() == [0, 4]


@given(
    st.lists(
        st.tuples(
            st.floats(0.01, 100.0), st.sampled_from([0.0, 0.1, 1.0, 30.0]), st.floats(0.0, 10.0), st.integers(0, 30)
        ),
        min_size=1,
        max_size=15,
    ).filter(lambda rows: sum(row[3] for row in rows) > 0),
    st.floats(0.01, 1.0),
    st.sampled_from([0.0, 0.1, 1.0]),
)
def test_random_capacities(rows: list[tuple[float, float, float, int]], part: float, gamma: float) -> None:
    mean, std, comm, most = (np.array(column, float) for column in zip(*rows, strict=True))
    total = max(int(part * most.sum()), 1)
    cluster = dh.Cluster.from_columns(mean, std, comm, capacity=most)
    split = dh.split(cluster, dh.CodeSpec(total), gamma)
    assert split.loads.sum() == total
    assert ((split.loads >= 0) & (split.loads <= most)).all()
    assert (np.abs(split.loads - split.shares) < 1).all()
    between = (split.shares > 1e-9) & (split.shares < most * (1 - 1e-9))
    first, second = theory.assignment_moments(cluster.tasks(split.spec), split.shares)
    np.testing.assert_allclose((first + gamma * second)[between], split.theta, rtol=1e-6)
    full = (most > 0) & (split.shares >= most * (1 - 1e-9))
    assert ((first + gamma * second)[full] <= split.theta * (1 + 1e-6)).all()
