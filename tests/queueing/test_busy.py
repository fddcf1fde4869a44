"""The part of an iteration for which each worker is occupied."""

from __future__ import annotations

import numpy as np
import pytest
from monte_carlo import play

import deadheat as dh
from deadheat import theory
from deadheat.paper import worked_example as paper

LOADS, CRITICAL = [4, 2, 6], 10
UNIT = dh.CodeSpec(1)  # a task is one unit of work


@pytest.mark.parametrize("purge", [True, False])
def test_busy_parts_are_those_of_a_monte_carlo(trio: dh.Cluster, purge: bool) -> None:
    busy = theory.IterationLaw(trio.tasks(UNIT), LOADS, CRITICAL, purge).busy
    played = play(trio, LOADS, CRITICAL, purge, seed=4)
    occupied = np.minimum(played.finished, played.ended)
    part = occupied.mean(axis=1) / played.ended.mean()
    # The error of a ratio of means, by the delta method.
    error = (occupied - part[:, None] * played.ended).std(axis=1) / played.ended.mean() / np.sqrt(played.ended.size)
    assert ((busy >= 0) & (busy <= 1)).all()
    # 2e-3: eight panels of a staircase, for the discrete laws; the tail of the Pareto.
    assert (np.abs(busy - part) <= 4 * error + 2e-3).all()


@pytest.mark.parametrize("purge", [True, False])
def test_who_is_done_before_the_iteration_can_end_is_idle_from_then_on(purge: bool) -> None:
    # Nearly constant tasks: worker 1 is done at 1 s, the iteration ends with the eighth or ninth task of worker 2.
    cluster = dh.Cluster.from_columns([1.0, 3.0], [0.01, 0.03])
    law = theory.IterationLaw(cluster.tasks(UNIT), [1, 9], 9, purge)
    assert law.mean == pytest.approx(24.0 if purge else 27.0, rel=1e-6)
    np.testing.assert_allclose(law.busy, [1 / law.mean, 1.0], atol=2e-3)


def test_one_worker_is_always_busy() -> None:
    alone = dh.Cluster([dh.Worker(1.0, 1.0, 0.5)]).tasks(UNIT)
    assert theory.IterationLaw(alone, [8], 5).busy.tolist() == pytest.approx([1.0])


def test_a_worker_with_every_task_it_could_need_is_busy_to_the_end() -> None:
    busy = theory.IterationLaw(paper.cluster().tasks(paper.spec()), [50] * 5, 50).busy
    np.testing.assert_allclose(busy, 1.0, atol=1e-6)


def test_the_uniform_split_leaves_the_fast_idle() -> None:
    cluster, spec = paper.cluster(), paper.spec()
    uniform = theory.iteration_law(cluster, dh.uniform(cluster, spec)).busy
    balanced = theory.iteration_law(cluster, dh.split(cluster, spec)).busy
    assert uniform.argmax() == 3  # the slowest worker keeps all waiting
    assert uniform[3] > 0.99
    assert uniform[1] < 0.4
    assert balanced.min() > 0.7
