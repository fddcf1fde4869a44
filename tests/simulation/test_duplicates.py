"""Copies of the slowest worker's tasks, and the master's own time."""

from __future__ import annotations

import numpy as np
import pytest

import deadheat as dh
from deadheat.model import Overhead
from deadheat.scheduling.schedules import Duplicates, Schedule, Static


def constant(mean: list[float], loads: list[int], schedule: Schedule, comm: float = 0.0) -> float:
    """The length of an iteration of constant tasks of which all are needed."""
    cluster = dh.Cluster.from_columns(mean, 0.0, comm)
    split = dh.Split.of(loads, dh.CodeSpec(sum(loads)))
    trace = dh.simulate(cluster, split, dh.Stream(1e6, 0.0, 1), 1, seed=1, schedule=schedule)
    return float(trace.service[0])


def test_copies_by_hand() -> None:
    """Tasks of 1 and 10 s, two each: at 2 the fast worker copies the slow one's second task, then its first."""
    assert constant([1.0, 10.0], [2, 2], Static()) == pytest.approx(20.0)
    assert constant([1.0, 10.0], [2, 2], Duplicates()) == pytest.approx(4.0)
    assert constant([1.0, 10.0], [2, 2], Duplicates(), comm=0.25) == pytest.approx(4.25)  # c_p once, and not per copy


def test_who_has_most_left_is_helped_first() -> None:
    """Tasks of 2 s (one), 3 s (two) and 10 s (two).

    At 2 the first worker copies the last task of the third and brings it at 4, then its first, at 6; the second brings
    its own at 3 and 6. Had the second been helped first, the third's tasks would come at 6 and 8.
    """
    assert constant([2.0, 3.0, 10.0], [1, 2, 2], Static()) == pytest.approx(20.0)
    assert constant([2.0, 3.0, 10.0], [1, 2, 2], Duplicates()) == pytest.approx(6.0)


def test_nothing_to_copy_changes_nothing() -> None:
    assert constant([1.0, 2.0], [4, 2], Duplicates()) == constant([1.0, 2.0], [4, 2], Static())


def test_free_copies_help_where_all_tasks_are_needed() -> None:
    cluster = dh.Cluster.from_columns([1.0, 2.0, 4.0], [1.0, 2.0, 4.0])
    split = dh.split(cluster, dh.CodeSpec(14))
    stream = dh.Stream.poisson(1e-6, 5)
    static = dh.simulate(cluster, split, stream, 60, seed=2, by_tasks=True).service.mean()
    copies = dh.simulate(cluster, split, stream, 60, seed=2, schedule="duplicates").service.mean()
    assert copies < 0.95 * static


def test_the_masters_time_is_added_in_theory_and_simulation() -> None:
    cluster = dh.Cluster.from_columns([1.0, 2.0], [0.5, 1.0])
    split, stream = dh.split(cluster, dh.CodeSpec(9)), dh.Stream.poisson(0.001, 4)
    extra = Overhead(encode=0.25, decode=0.5, update=1.0)
    plain, with_extra = dh.forecast(cluster, split, stream), dh.forecast(cluster, split, stream, overhead=extra)
    assert with_extra.service_mean == pytest.approx(plain.service_mean + 4 * 1.75)
    assert with_extra.delay > plain.delay + 4 * 1.75
    runs = [dh.simulate(cluster, split, stream, 20, seed=3, overhead=o).service for o in (0.0, extra, 1.75)]
    np.testing.assert_allclose(runs[1], runs[0] + 7.0)
    np.testing.assert_array_equal(runs[1], runs[2])


@pytest.mark.parametrize("field", ["encode", "decode", "update"])
def test_overhead_is_not_negative(field: str) -> None:
    with pytest.raises(dh.BadInput, match=field):
        Overhead(**{field: -1.0})


def test_a_scenario_has_overhead() -> None:
    content = {
        "stream": {"rate": 0.01, "iterations": 2},
        "code": {"critical": 2},
        "workers": [{"mean": 1.0, "std": 1.0}],
        "overhead": {"decode": 0.5},
    }
    assert dh.plan(dh.Scenario.from_dict(content)).forecast.iteration_mean == pytest.approx(2.5)
    with pytest.raises(dh.BadInput, match=r"overhead.decod .*did you mean 'decode'"):
        dh.Scenario.from_dict({**content, "overhead": {"decod": 1}})
