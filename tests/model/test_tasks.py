"""Tasks: the workers of a cluster measured in tasks of one code, which are not the workers themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deadheat.errors import BadInput
from deadheat.model import Cluster, CodeSpec, Tasks, Worker, assignment_moments
from deadheat.model.laws import Pareto
from deadheat.paper import worked_example
from deadheat.planning import split
from deadheat.queueing import IterationLaw, fluid_bound

WORKERS = Cluster(
    [
        Worker(1.0, 0.5, 0.1, "near"),
        Worker(2.0, 2.0, 0.2, "far", law="lognormal", capacity=30.0),
        Worker(3.0, 1.0, 0.0, "slow", law=Pareto.from_moments(3.0, 1.0)),
    ]
)


def test_a_task_of_ten_units_takes_ten_times_as_long() -> None:
    tasks = WORKERS.tasks(CodeSpec(1, work=10.0))
    assert isinstance(tasks, Tasks)
    assert len(tasks) == 3
    assert tasks.mean.tolist() == [10.0, 20.0, 30.0]
    assert tasks.std.tolist() == [5.0, 20.0, 10.0]
    assert tasks.comm.tolist() == [0.1, 0.2, 0.0]  # a message is as long for a long task
    assert tasks.capacity.tolist() == [math.inf, 3.0, math.inf]
    assert tasks.names == ["near", "far", "slow"]
    for law, mean, std in zip(tasks.laws, tasks.mean, tasks.std, strict=True):
        assert law.mean() == pytest.approx(mean, rel=1e-12)
        assert law.std() == pytest.approx(std, rel=1e-9)


def test_shared_chunks_come_before_the_first_result_and_seconds_with_each() -> None:
    plain, tasks = (WORKERS.tasks(CodeSpec(1, 1.0, 2.0, *more)) for more in ((), (3, 0.25)))
    assert plain.pace.tolist() == plain.mean.tolist() == [2.0, 4.0, 6.0]
    assert plain.ready.tolist() == plain.comm.tolist()
    assert tasks.pace.tolist() == [2.25, 4.25, 6.25]
    assert tasks.ready.tolist() == pytest.approx([6.1, 12.2, 18.0])


@pytest.mark.parametrize("work", [0.0, -1.0, math.nan, math.inf, 1e308])
def test_work_out_of_range_is_refused(work: float) -> None:
    with pytest.raises(BadInput) as caught:
        WORKERS.tasks(CodeSpec(1, work=work))
    assert caught.value.field == "work"


def test_a_cluster_does_not_pass_for_its_tasks() -> None:
    # It would: its seconds per unit of work are numbers too. The mean of this iteration is 0.7587 s, not 0.0893 s.
    cluster, spec = worked_example.cluster(), worked_example.spec()
    loads = split(cluster, spec).loads
    assert IterationLaw(cluster.tasks(spec), loads, spec.critical).mean == pytest.approx(0.7587, abs=5e-5)
    for call in (
        lambda: IterationLaw(cluster, loads, spec.critical),  # type: ignore[arg-type]
        lambda: assignment_moments(cluster, loads),  # type: ignore[arg-type]
        lambda: fluid_bound(cluster, spec.critical),  # type: ignore[arg-type]
    ):
        with pytest.raises(BadInput, match=r"give cluster\.tasks\(spec\)") as caught:
            call()
        assert caught.value.field == "tasks"


def test_the_tasks_of_a_million_workers_are_a_few_arrays() -> None:
    cluster = Cluster.from_columns(np.full(10**6, 2.0), 1.0)
    tasks = cluster.tasks(CodeSpec(10**7, work=3.0))
    assert tasks.comm is cluster.comm
    assert "laws" not in vars(tasks)  # a law per worker is made only where it is asked for
    assert float(tasks.pace.sum()) == 6e6
