"""Workers that are slow for whole iterations: the exact law, and the bound below which no split comes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from chunk_by_chunk import error_of_mean, error_of_std, play_chunks
from hypothesis import given
from hypothesis import strategies as st

import deadheat as dh
from deadheat import theory
from deadheat.model import Switching
from deadheat.model.laws import Deterministic, Empirical, Mixture
from deadheat.paper import worked_example as paper
from deadheat.queueing import fluid_bound

MEAN, COMM = np.array([2.0, 3.4, 1.2]), np.array([0.3, 0.1, 0.9])
LOADS = [4, 2, 6]
SPEC = dh.CodeSpec.of(10, 12, 0.5)
SHARING = dh.CodeSpec.of(10, 12, 0.5, shared_chunks=3)
FACTOR, CHANCE = 4.0, 0.2
SLOW = Switching(FACTOR, CHANCE, 1 - CHANCE)
ANY = dh.Stream.poisson(1e-4, 4)
CLUSTERS = {
    "gamma": dh.Cluster.from_columns(MEAN, 0.6 * MEAN, COMM),
    "exponential": dh.Cluster.from_columns(MEAN, MEAN, COMM),
    "lognormal": dh.Cluster.from_columns(MEAN, 0.5 * MEAN, COMM, law="lognormal"),
    "deterministic": dh.Cluster.from_columns(MEAN, 0.0, COMM),
}
SLACK = 2e-3  # of the mean: what a convolution may be off, as in test_iteration_law.py
PURGE = pytest.mark.parametrize("purge", [True, False], ids=["purge", "no purge"])
SPECS = pytest.mark.parametrize("spec", [SPEC, SHARING], ids=["plain", "shared_chunks"])


@pytest.fixture(params=list(CLUSTERS.values()), ids=list(CLUSTERS))
def cluster(request: pytest.FixtureRequest) -> dh.Cluster:
    found = request.param
    assert isinstance(found, dh.Cluster)
    return found


def slack(law: theory.IterationLaw) -> float:
    return min(law.error, SLACK * law.mean) + 1e-8 * law.mean


# The exact law


@PURGE
@SPECS
def test_the_forecast_is_a_monte_carlo(cluster: dh.Cluster, spec: dh.CodeSpec, purge: bool) -> None:
    found = dh.forecast(cluster, dh.Split.of(LOADS, spec), ANY, purge, condition=SLOW)
    ended = play_chunks(cluster, spec, LOADS, purge, (FACTOR, CHANCE), seed=31)
    rest = slack(found.law)
    assert abs(found.iteration_mean - ended.mean()) <= 4 * error_of_mean(ended) + rest
    assert abs(found.iteration_std - ended.std()) <= 4 * error_of_std(ended) + 10 * rest
    for wrong in (None, Switching(FACTOR, 0.22, 0.78), Switching(1.1 * FACTOR, CHANCE, 1 - CHANCE)):
        other = dh.forecast(cluster, dh.Split.of(LOADS, spec), ANY, purge, condition=wrong)  # negative controls
        assert abs(other.iteration_mean - ended.mean()) > 4 * error_of_mean(ended) + slack(other.law)


@PURGE
@SPECS
def test_the_forecast_is_the_simulation(cluster: dh.Cluster, spec: dh.CodeSpec, purge: bool) -> None:
    split = dh.split(cluster, spec)
    service = dh.simulate(cluster, split, ANY, 10_000, purge, 5, condition=SLOW).service
    found = dh.forecast(cluster, split, ANY, purge, condition=SLOW)
    rest = 4 * slack(found.law)
    assert abs(service.mean() - found.service_mean) <= 4 * error_of_mean(service) + rest
    assert abs(service.std() - found.service_std) <= 4 * error_of_std(service) + 10 * rest
    usual = dh.forecast(cluster, split, ANY, purge)  # negative control
    assert abs(service.mean() - usual.service_mean) > 4 * error_of_mean(service) + rest


def test_delays_of_replications_are_the_forecasts() -> None:
    cluster = CLUSTERS["exponential"]
    split = dh.split(cluster, SPEC)
    gap = dh.forecast(cluster, split, ANY, condition=SLOW).service_mean / 0.6
    stream = dh.Stream.poisson(1 / gap, ANY.iterations)
    delays = np.array(
        [dh.simulate(cluster, split, stream, 100, True, s, condition=SLOW).delay.mean() for s in range(200)]
    )
    expected = dh.forecast(cluster, split, stream, condition=SLOW).draw(100).mean
    # 0.5 % more for the lattice of waits inside `draw`, as in test_draws.py.
    assert abs(delays.mean() - expected) <= 4 * error_of_mean(delays) + 0.005 * expected


def test_one_worker_is_a_mixture_of_two() -> None:
    # c + 3 tasks of 2 s, or of 8 s with a chance of one in five; the shared chunks are slow as well.
    cluster = dh.Cluster.from_columns([2.0], 0.0, [0.3])
    for shared_chunks in (0, 2):
        found = dh.forecast(cluster, dh.Split.of([3], dh.CodeSpec(3, shared_chunks=shared_chunks)), ANY, condition=SLOW)
        work = 2.0 * (3 + shared_chunks)
        assert found.iteration_mean == pytest.approx(0.3 + work * (0.8 + 0.2 * 4), rel=1e-6)
        assert found.iteration_std == pytest.approx(3 * work * math.sqrt(0.2 * 0.8), rel=1e-4)
        np.testing.assert_allclose(found.law.cdf([0.3 + work * 1.01, 0.3 + work * 3.99]), 0.8, atol=1e-9)


def test_a_factor_of_one_or_no_chance_changes_nothing(cluster: dh.Cluster) -> None:
    split = dh.Split.of(LOADS, SPEC)
    usual = dh.forecast(cluster, split, ANY)
    for same in (Switching(1.0, 0.3, 0.7), Switching(10.0, 0.0, 1.0)):
        found = dh.forecast(cluster, split, ANY, condition=same)
        assert found.iteration_mean == pytest.approx(usual.iteration_mean, rel=1e-7)
        assert found.iteration_std == pytest.approx(usual.iteration_std, rel=1e-5, abs=1e-7)


def test_always_slow_is_another_cluster(cluster: dh.Cluster) -> None:
    split = dh.Split.of(LOADS, SPEC)
    found = dh.forecast(cluster, split, ANY, condition=Switching(3.0, 1.0, 0.0))
    slower = dh.Cluster(dh.Worker.of(w.unit_law().scaled(3.0), w.comm) for w in cluster)
    other = dh.forecast(slower, split, ANY)
    assert found.iteration_mean == pytest.approx(other.iteration_mean, rel=1e-4)  # as far as a convolution tells


@pytest.mark.parametrize("factor", [30.0, 1000.0])
def test_far_slower_workers(factor: float) -> None:
    # The law has two parts far apart; half the tasks to spare hide one slow worker, and K = n none.
    for name in ("gamma", "lognormal"):
        cluster = CLUSTERS[name]
        for critical in (8, 12):
            spec = dh.CodeSpec.of(critical, 12, 0.5)
            law = dh.forecast(cluster, dh.Split.of(LOADS, spec), ANY, condition=Switching(factor, 0.1, 0.9)).law
            ended = play_chunks(cluster, spec, LOADS, True, (factor, 0.1), seed=33)
            assert abs(law.mean - ended.mean()) <= 4 * error_of_mean(ended) + slack(law), (name, critical)


def test_the_worked_example_when_one_iteration_in_five_is_slow() -> None:
    # [C] in facts.md: 0.690 s without reuse, 0.237 with, 0.281 uncoded, by a simulation of a few thousand iterations.
    cluster, condition = paper.cluster(), Switching(10.0, 0.2, 0.8)
    for spec, known in (
        (dh.CodeSpec(50, 1.1, 6 / 55 * 5_544_000), 0.690),
        (dh.CodeSpec(50, 1.1, 5_544_000 / 55, shared_chunks=5), 0.237),
        (dh.CodeSpec(50, 1.0, 5_544_000 / 50), 0.281),
    ):
        found = dh.forecast(cluster, dh.split(cluster, spec), paper.stream(), condition=condition)
        assert found.iteration_mean == pytest.approx(known, rel=0.02)


# What theory does not know


@pytest.mark.parametrize(
    "condition",
    [Switching(10.0, 0.05, 0.05), Switching(10.0, 0.5, 0.6), Switching(math.inf, 0.2, 0.8)],
    ids=["persistent", "alternating", "away"],
)
def test_other_states_are_refused(condition: Switching) -> None:
    cluster, split = CLUSTERS["gamma"], dh.Split.of(LOADS, SPEC)
    assert not condition.independent
    for call in (
        lambda: dh.forecast(cluster, split, ANY, condition=condition),
        lambda: theory.genie_bound(cluster, SPEC, ANY, condition),
        lambda: theory.IterationLaw(cluster.tasks(SPEC), LOADS, 10, condition=condition),
    ):
        with pytest.raises(dh.BadInput, match=r"new in every iteration.*leave = 1 - enter, or simulate") as caught:
            call()
        assert caught.value.field == "condition"
    assert np.isfinite(dh.simulate(cluster, split, ANY, 20, seed=1, condition=condition).service).all()


@pytest.mark.parametrize("chance", [0.1, 0.2, 0.3, 1 / 3, 0.7, 1e-9])
def test_q_and_one_less_q_are_independent_however_they_are_rounded(chance: float) -> None:
    assert Switching(2.0, chance, 1 - chance).independent


# The bound


workers = st.lists(
    st.tuples(st.floats(0.05, 20.0), st.floats(0.0, 1.0), st.floats(0.0, 5.0), st.integers(0, 6)),
    min_size=1,
    max_size=5,
).filter(lambda rows: sum(row[3] for row in rows) > 0)


@given(
    workers,
    st.floats(0.01, 1.0),
    st.sampled_from([0, 0, 1, 4]),
    st.sampled_from([0.0, 0.0, 0.5]),
    st.sampled_from(["gamma", "gamma", "shifted-exponential", "weibull"]),
    st.sampled_from([None, SLOW]),
)
def test_no_split_comes_below_the_fluid_bound(
    rows: list[tuple[float, float, float, int]],
    part: float,
    shared_chunks: int,
    seconds_per_task: float,
    family: str,
    condition: Switching | None,
) -> None:
    mean, spread, comm, loads = (np.array(column) for column in zip(*rows, strict=True))
    if family == "weibull":
        spread = np.maximum(spread, 0.05)
    cluster = dh.Cluster.from_columns(mean, mean * spread, comm, law=family)
    total = int(loads.sum())
    spec = dh.CodeSpec.of(
        max(int(part * total), 1), total, shared_chunks=shared_chunks, seconds_per_task=seconds_per_task
    )
    bound = fluid_bound(cluster.tasks(spec), spec.critical)
    found = dh.forecast(cluster, dh.Split.of(loads, spec), ANY, condition=condition)
    assert bound > 0 or family == "weibull"  # with a seconds_per_task it has no closed sums, and no bound
    assert bound <= (found.iteration_mean + slack(found.law)) * (1 + 1e-7)
    assert bound <= theory.genie_bound(cluster, spec, ANY, condition).iteration_mean * (1 + 1e-6)


def test_the_bound_is_reached_by_one_worker_of_exponential_tasks() -> None:
    tasks = dh.Cluster.from_columns([2.0], [2.0], [0.7]).tasks(dh.CodeSpec(5))
    assert fluid_bound(tasks, 5) == pytest.approx(10.7)
    assert theory.IterationLaw(tasks, [9], 5).mean == pytest.approx(10.7)


def test_the_bound_is_reached_by_exponential_workers_that_never_run_out() -> None:
    # With c_p = 0 the K results come as a Poisson stream of all rates together: K/sum(1/m) exactly.
    cluster, spec = dh.Cluster.from_columns(MEAN, MEAN), dh.CodeSpec(10)
    genie = theory.genie_bound(cluster, spec, ANY).iteration_mean
    assert genie == pytest.approx(fluid_bound(cluster.tasks(spec), 10))


HEAVY = {
    "lognormal": dh.Worker(1.0, 0.5, law="lognormal"),
    "pareto": dh.Worker(1.0, 0.5, law="pareto"),
    "gamma beyond the exponential": dh.Worker(1.0, 1.2),
    "weibull beyond the exponential": dh.Worker(1.0, 1.2, law="weibull"),
    "mixture": dh.Worker.of(Mixture.from_moments(1.0, 1.6)),
    "empirical": dh.Worker.of(Empirical([1.0, 2.0, 50.0])),
}


@pytest.mark.parametrize("name", HEAVY)
def test_there_is_no_bound_for_other_laws(name: str) -> None:
    for cluster in (dh.Cluster([HEAVY[name]]), dh.Cluster([dh.Worker(1.0, 1.0), HEAVY[name]])):
        assert fluid_bound(cluster.tasks(dh.CodeSpec(5)), 5) == 0.0
        assert fluid_bound(cluster.tasks(dh.CodeSpec(5, seconds_per_task=0.1)), 5) == 0.0


def test_seconds_per_task_do_not_make_a_heavy_tail_light() -> None:
    # With seconds_per_task std = mean, but the rest of a long task is much longer: the genie is at 2.93 s, not at 3 s.
    cluster = dh.Cluster.from_columns([1.0, 1.0], 3.0)
    spec = dh.CodeSpec.of(2, 4, seconds_per_task=2.0)
    assert fluid_bound(cluster.tasks(spec), 2) <= theory.genie_bound(cluster, spec, ANY).iteration_mean


def test_why_there_is_none() -> None:
    # Ten workers, each quick (1 s) nine times in ten: the first result is there long before 1/sum(1/m) = 10 s.
    cluster = dh.Cluster([dh.Worker.of(Mixture(Deterministic(1.0), 1000.0, 0.1))] * 10)
    assert theory.IterationLaw(cluster.tasks(dh.CodeSpec(1)), [1] * 10, 1).mean == pytest.approx(1.0, rel=1e-3)
    assert 1 / (1 / cluster.mean).sum() == pytest.approx(10.09)
