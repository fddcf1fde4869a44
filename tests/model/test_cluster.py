"""A cluster is a sequence of workers and, at the same time, their columns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from deadheat.errors import BadInput
from deadheat.model import Cluster, CodeSpec, Worker
from deadheat.model.laws import Law, Pareto

WORKERS = [
    Worker(1.0, 0.5, 0.1, "near"),
    Worker(2.0, 2.0, 0.2, "far", law="lognormal", capacity=30.0),
    Worker(3.0, 1.0, 0.0, "slow", law=Pareto.from_moments(3.0, 1.0)),
]


def test_an_empty_cluster_is_refused() -> None:
    with pytest.raises(BadInput, match="empty") as caught:
        Cluster([])
    assert caught.value.field == "workers"
    with pytest.raises(BadInput, match="empty"):
        Cluster.from_columns([], [])


def test_what_is_not_a_worker_is_named_by_its_place() -> None:
    with pytest.raises(BadInput) as caught:
        Cluster([WORKERS[0], (1.0, 1.0)])  # type: ignore[list-item]
    assert caught.value.field == "workers[1]"


def test_a_name_may_occur_once_only() -> None:
    with pytest.raises(BadInput, match="two workers") as caught:
        Cluster([Worker(1.0, 1.0, name="a"), Worker(1.0, 1.0, name="b"), Worker(2.0, 1.0, name="a")])
    assert (caught.value.field, caught.value.value) == ("name", "a")


def test_workers_without_a_name_are_numbered() -> None:
    assert Cluster([Worker(1.0, 1.0), Worker(1.0, 1.0, name="x"), Worker(1.0, 1.0)]).names == ["w1", "x", "w3"]


def test_it_behaves_as_a_sequence() -> None:
    cluster = Cluster(WORKERS)
    assert len(cluster) == 3
    assert [cluster[i] for i in range(3)] == WORKERS
    assert cluster[-1] == WORKERS[2]
    assert cluster[-3] == WORKERS[0]
    assert list(cluster) == WORKERS
    assert list(reversed(cluster)) == WORKERS[::-1]
    assert WORKERS[1] in cluster
    assert cluster.index(WORKERS[2]) == 2
    for place in (3, -4):
        with pytest.raises(IndexError):
            cluster[place]


def test_a_slice_is_a_cluster() -> None:
    cluster = Cluster(WORKERS)
    assert isinstance(cluster[1:], Cluster)
    assert list(cluster[1:]) == WORKERS[1:]
    assert list(cluster[::-2]) == WORKERS[::-2]
    with pytest.raises(BadInput, match="empty"):
        cluster[3:]


def test_more_workers_join_at_the_end() -> None:
    assert list(Cluster(WORKERS[:1]) + WORKERS[1:]) == WORKERS


def test_the_columns_are_those_of_the_workers() -> None:
    cluster = Cluster(WORKERS)
    assert cluster.mean.tolist() == [1.0, 2.0, 3.0]
    assert cluster.std.tolist() == [0.5, 2.0, 1.0]
    assert cluster.comm.tolist() == [0.1, 0.2, 0.0]
    assert cluster.capacity.tolist() == [math.inf, 30.0, math.inf]


@pytest.mark.parametrize("column", ["mean", "std", "comm", "capacity"])
def test_the_columns_are_read_only(column: str) -> None:
    tasks = Cluster(WORKERS).tasks(CodeSpec(1, work=2.0))
    for columns in (Cluster(WORKERS), Cluster.from_columns([1.0, 2.0], 1.0), tasks):
        with pytest.raises(ValueError, match="read-only"):
            getattr(columns, column)[0] = 9.0


def test_columns_are_copied_not_borrowed() -> None:
    mean = np.array([1.0, 2.0])
    cluster = Cluster.from_columns(mean, 1.0)
    mean[0] = 9.0
    assert cluster.mean[0] == 1.0


def test_from_columns_equals_the_cluster_of_workers() -> None:
    columns = Cluster.from_columns(
        [1.0, 2.0], [0.5, 2.0], [0.1, 0.2], capacity=[5.0, math.inf], names=["a", "b"], law="lognormal"
    )
    workers = Cluster(
        [
            Worker(1.0, 0.5, 0.1, "a", "lognormal", 5.0),
            Worker(2.0, 2.0, 0.2, "b", "lognormal"),
        ]
    )
    assert list(columns) == list(workers)
    assert columns.names == workers.names
    assert columns.laws == workers.laws


def test_from_columns_broadcasts_scalars() -> None:
    assert list(Cluster.from_columns([1.0, 2.0], 0.5)) == [Worker(1.0, 0.5), Worker(2.0, 0.5)]


@pytest.mark.parametrize(
    ("columns", "field"),
    [
        ({"mean": [1.0, 0.0]}, "mean"),
        ({"mean": [1.0, math.nan]}, "mean"),
        ({"mean": [math.inf, 1.0]}, "mean"),
        ({"mean": [-1.0, 1.0]}, "mean"),
        ({"std": [1.0, -1.0]}, "std"),
        ({"std": math.nan}, "std"),
        ({"std": math.inf}, "std"),
        ({"comm": -0.1}, "comm"),
        ({"comm": [0.0, math.inf]}, "comm"),
        ({"capacity": -1.0}, "capacity"),
        ({"capacity": [1.0, math.nan]}, "capacity"),
        ({"law": "gama"}, "law"),
        ({"names": ["a", "a"]}, "name"),
        ({"names": ["a"]}, "names"),
    ],
)
def test_from_columns_checks_every_entry(columns: dict[str, Any], field: str) -> None:
    with pytest.raises(BadInput) as caught:
        Cluster.from_columns(**{"mean": [1.0, 1.0], "std": [1.0, 1.0], **columns})
    assert caught.value.field == field


def test_assumption_1_holds_for_every_law(law: Law) -> None:
    times, work = np.linspace(0.0, 40.0, 81), 3.7
    before = Cluster([Worker.of(law)])
    after = before.tasks(CodeSpec(1, work=work))
    # 1e-12 for the rounding of t/C; the grid has no point on an atom of the discrete laws.
    np.testing.assert_allclose(after.laws[0].cdf(times), before.laws[0].cdf(times / work), atol=1e-12)


def test_extra_comm_is_added_to_every_worker() -> None:
    cluster = Cluster(WORKERS)
    later = cluster.with_extra_comm(0.5)
    assert later.comm.tolist() == pytest.approx([0.6, 0.7, 0.5])
    assert [w.law for w in later] == [w.law for w in cluster]
    assert (later.names, later.capacity.tolist()) == (cluster.names, cluster.capacity.tolist())
    assert cluster.comm.tolist() == [0.1, 0.2, 0.0]


def test_repr_is_one_short_line() -> None:
    assert repr(Cluster(WORKERS)) == "Cluster of 3 workers, mean 1 to 3 s per unit of work"
