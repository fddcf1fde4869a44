"""A schedule is one class: the master on sampled time, the simulator event by event and the fast path agree on the
same draws; and `compare`, `tune` and the forecast of a live run give the same number for the same schedule."""

from __future__ import annotations

import math

import numpy as np
import pytest

import deadheat as dh
from deadheat.coding import Code
from deadheat.model import Array
from deadheat.paper import worked_example
from deadheat.runtime import Driver
from deadheat.runtime.expectation import expected_iteration
from deadheat.runtime.record import Record
from deadheat.scheduling import Estimates, Master, Program, Schedule
from deadheat.simulation import VirtualEngine, batches, root, times_of
from deadheat.simulation.event_by_event import event_by_event

ITERATIONS = 60
CLUSTERS = {
    "worked example": (worked_example.cluster(), 2827440.0),
    "two alike, one far": (dh.Cluster.from_columns([1.0, 1.0, 0.4], [0.5, 0.5, 0.4], [0.0, 0.1, 2.0]), 1.0),
    "heavy tails": (dh.Cluster.from_columns([1.0, 2.0, 0.5, 1.5], [2.0, 3.0, 1.0, 2.0], 0.3, law="lognormal"), 1.0),
}
NAMES = list(dh.schedules.SCHEDULES)
everywhere = pytest.mark.parametrize("name", NAMES)
each_cluster = pytest.mark.parametrize("place", list(CLUSTERS))


def code_and_split(place: str, policy: str = "optimal") -> tuple[dh.Cluster, Code, dh.Split]:
    cluster, work = CLUSTERS[place]
    code = dh.codes.cyclic(22, 2)
    split = dh.policies.POLICIES[policy](cluster, dh.CodeSpec.of(code.critical, code.total, work), 1.0)
    return cluster, code, split


def by_master(cluster: dh.Cluster, code: Code, split: dh.Split, schedule: Schedule, seed: int) -> Array:
    """The iterations of one job, by the master on sampled time."""
    record = Record()
    engine = VirtualEngine(cluster, split, seed, ITERATIONS, ITERATIONS, compute=False)
    master = Master(Estimates(cluster), policy=lambda *_: split, schedule=schedule, adapt=False)
    driver = Driver(master, engine, [record])
    driver.gather(len(cluster))
    driver.submit(Program(code, work=split.spec.work / code.cost.work, iterations=ITERATIONS), None)
    while len(driver):
        driver.turn(None)
    return np.array(record.iterations)


@everywhere
@each_cluster
@pytest.mark.parametrize("policy", ["optimal", "uniform"])
def test_master_event_loop_and_fast_path_agree(name: str, place: str, policy: str) -> None:
    cluster, code, split = code_and_split(place, policy)
    schedule = dh.schedules.SCHEDULES[name]
    batch = next(batches(cluster, split, None, root(5), multiple=ITERATIONS, total=ITERATIONS))
    events = event_by_event(schedule, batch)
    np.testing.assert_allclose(by_master(cluster, code, split, schedule, 5), events, rtol=1e-12)
    fast = schedule.lengths(batch)
    assert (fast is None) == (name == "speculative")
    if fast is not None:
        np.testing.assert_allclose(fast, events, rtol=1e-12)


def test_other_draws_or_another_schedule_would_be_seen() -> None:
    """A negative control."""
    cluster, code, split = code_and_split("worked example")
    pull, static = dh.schedules.SCHEDULES["pull"], dh.schedules.SCHEDULES["static"]
    ours = by_master(cluster, code, split, pull, 5)
    assert not np.allclose(ours, by_master(cluster, code, split, pull, 6), rtol=1e-3)
    assert not np.allclose(ours, by_master(cluster, code, split, static, 5), rtol=1e-3)


@pytest.mark.parametrize("ahead", [0, 1, 2])
@pytest.mark.parametrize(("critical", "total"), [(8, 8), (8, 9), (8, 12)])
def test_the_fast_path_of_pull_where_tasks_are_scarce(ahead: int, critical: int, total: int) -> None:
    cluster = dh.Cluster.from_columns([1.0, 3.0, 0.5, 2.0], [1.0, 2.0, 0.5, 0.1], [0.3, 0.0, 2.0, 0.1])
    split = dh.uniform(cluster, dh.CodeSpec.of(critical, total))
    batch = next(batches(cluster, split, None, root(7), total=300))
    pull = dh.schedules.Pull(ahead)
    fast = pull.lengths(batch)
    assert fast is not None
    np.testing.assert_allclose(fast, event_by_event(pull, batch), rtol=1e-12)


@everywhere
@each_cluster
def test_compare_tune_and_the_forecast_of_a_run_give_the_same_number(name: str, place: str) -> None:
    """Means of an iteration: each differs from the simulator's by less than four standard errors of the difference (the
    tuner's own is half of one per cent, where it simulates); exact where theory has the law."""
    cluster, code, split = code_and_split(place)
    schedule, policy = dh.schedules.SCHEDULES[name], dh.policies.POLICIES["optimal"]
    batch = next(batches(cluster, split, None, root(1), total=3000))
    times = times_of(schedule, batch, code)

    def error(iterations: int) -> float:
        return 4 * float(times.std()) * math.sqrt(1 / times.size + 1 / iterations)

    stream = dh.Stream(1e6, 0.0, 50)
    scheme = dh.Scheme("it", split, schedule)
    compared = dh.compare(cluster, stream, [scheme], jobs=20, seed=3, replications=2)[0]
    assert abs(compared.sample.service.mean / 50 - times.mean()) < error(2 * 20 * 50)

    live = expected_iteration(cluster, code, split.spec, policy, 1.0, schedule, seed=2)
    assert abs(live.mean - times.mean()) < error(4000)

    work = split.spec.work / code.cost.work
    search = dh.Search(("cyclic",), (20,), (1.1,), policies=("optimal",), schedules=(name,))
    (choice,) = [c for c in dh.tune(dh.Workload("gradient", work), cluster, stream, search) if not c.spec.shared_chunks]
    assert choice.schedule == name
    own = 0.01 * times.mean() / 1.96  # it simulates until its 95 % interval is 1 % to either side
    assert abs(choice.iteration_mean - times.mean()) < 4 * math.hypot(error(10**9) / 4, own)
    if name == "static":
        assert choice.iteration_mean == pytest.approx(live.mean, rel=1e-9)
        assert live.exact
