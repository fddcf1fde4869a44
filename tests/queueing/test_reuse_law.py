"""Chunk reuse and costs of a result: `shared_chunks` come before the first result, `seconds_per_task` with each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from chunk_by_chunk import error_of_mean, error_of_std, play_chunks
from scipy import stats

import deadheat as dh
from deadheat import theory
from deadheat.model.assignment_moments import start_scores
from deadheat.planning import caps, policies
from deadheat.queueing import reasons
from deadheat.scheduling import SCHEDULES

MEAN, COMM = np.array([2.0, 3.4, 1.2]), np.array([0.3, 0.1, 0.9])
LOADS, CRITICAL = [4, 2, 6], 10
PLAIN = dh.CodeSpec.of(CRITICAL, 12, 0.5)
SHARING = replace(PLAIN, shared_chunks=3)
COSTLY = replace(PLAIN, seconds_per_task=0.4)
ANY = dh.Stream.poisson(1e-3, 4)
CLUSTERS = {
    "gamma": dh.Cluster.from_columns(MEAN, 0.6 * MEAN, COMM),
    "exponential": dh.Cluster.from_columns(MEAN, MEAN, COMM),
    "lognormal": dh.Cluster.from_columns(MEAN, 0.5 * MEAN, COMM, law="lognormal"),
    "deterministic": dh.Cluster.from_columns(MEAN, 0.0, COMM),
}
SLACK = 2e-3  # of the mean: what a convolution may be off, as in test_iteration_law.py
PURGE = pytest.mark.parametrize("purge", [True, False], ids=["purge", "no purge"])
SPECS = pytest.mark.parametrize("spec", [SHARING, COSTLY], ids=["shared_chunks", "seconds_per_task"])


@pytest.fixture(params=list(CLUSTERS.values()), ids=list(CLUSTERS))
def cluster(request: pytest.FixtureRequest) -> dh.Cluster:
    found = request.param
    assert isinstance(found, dh.Cluster)
    return found


def law_of(cluster: dh.Cluster, spec: dh.CodeSpec, purge: bool = True, loads: list[int] = LOADS) -> theory.IterationLaw:
    return theory.iteration_law(cluster, dh.Split.of(loads, spec), purge)


def slack(law: theory.IterationLaw) -> float:
    return min(law.error, SLACK * law.mean) + 1e-8 * law.mean


# The exact law


@PURGE
@SPECS
def test_the_law_is_that_of_a_monte_carlo(cluster: dh.Cluster, spec: dh.CodeSpec, purge: bool) -> None:
    law = law_of(cluster, spec, purge)
    ended = play_chunks(cluster, spec, LOADS, purge, seed=21)
    assert abs(law.mean - ended.mean()) <= 4 * error_of_mean(ended) + slack(law)
    assert abs(law.std - ended.std()) <= 4 * error_of_std(ended) + 10 * slack(law)
    t = law.mean * np.array([0.71, 0.88, 0.97, 1.13, 1.37])
    p = law.cdf(t)
    below = (ended[:, None] <= t).mean(axis=0)
    assert (np.abs(p - below) <= 4 * np.sqrt(p * (1 - p) / ended.size) + 2e-3).all()


@PURGE
@SPECS
def test_a_law_that_ignores_it_is_seen(cluster: dh.Cluster, spec: dh.CodeSpec, purge: bool) -> None:
    # Negative controls: neither of the two; one shared chunk less, or a tenth of the seconds per task less.
    ended = play_chunks(cluster, spec, LOADS, purge, seed=21)
    for wrong in (
        PLAIN,
        replace(spec, shared_chunks=max(spec.shared_chunks - 1, 0), seconds_per_task=0.9 * spec.seconds_per_task),
    ):
        law = law_of(cluster, wrong, purge)
        assert abs(law.mean - ended.mean()) > 4 * error_of_mean(ended) + slack(law)


def test_constant_tasks_by_hand() -> None:
    # Chunks of 1, 1.7 and 0.6 s after 0.3, 0.1 and 0.9 s; the j-th result of each after 3 + j of them.
    cluster = CLUSTERS["deterministic"]
    arrivals = sorted(c + 0.5 * m * (3 + j) for m, c, k in zip(MEAN, COMM, LOADS, strict=True) for j in range(1, k + 1))
    for critical in (1, 5, 10, 12):
        law = law_of(cluster, dh.CodeSpec.of(critical, 12, 0.5, shared_chunks=3))
        assert law.mean == pytest.approx(arrivals[critical - 1], rel=1e-7)
        assert law.std == pytest.approx(0.0, abs=1e-4)
    assert law_of(cluster, SHARING, purge=False).mean == pytest.approx(arrivals[-1], rel=1e-7)
    costly = sorted(c + (0.5 * m + 0.4) * j for m, c, k in zip(MEAN, COMM, LOADS, strict=True) for j in range(1, k + 1))
    assert law_of(cluster, COSTLY).mean == pytest.approx(costly[CRITICAL - 1], rel=1e-7)


def test_one_worker_with_shared_chunks_is_a_sum_of_more_tasks() -> None:
    # K + shared_chunks gamma times of 1 s and std 0.6 s in a row, after 0.3 s: a gamma law, known to all digits.
    cluster = CLUSTERS["gamma"][:1]
    law = law_of(cluster, dh.CodeSpec.of(5, 8, 0.5, shared_chunks=3), loads=[8])
    closed = stats.gamma(8 / 0.6**2, 0.3, 0.6**2)
    assert law.mean == pytest.approx(closed.mean(), rel=1e-8)
    assert law.std == pytest.approx(closed.std(), rel=1e-6)
    t = np.linspace(4.0, 16.0, 40)
    np.testing.assert_allclose(law.cdf(t), closed.cdf(t), atol=1e-9)


@PURGE
def test_without_both_a_task_is_its_work_alone(cluster: dh.Cluster, purge: bool) -> None:
    half = dh.Cluster.from_columns(0.5 * cluster.mean, 0.5 * cluster.std, cluster.comm, law=cluster[0].law)
    plain = law_of(half, dh.CodeSpec.of(CRITICAL, 12), purge)
    after = law_of(cluster, replace(PLAIN, shared_chunks=0, seconds_per_task=0.0), purge)
    assert (plain.mean, plain.std) == (after.mean, after.std)
    t = np.linspace(0.0, 20.0, 50)
    np.testing.assert_array_equal(plain.sf(t), after.sf(t))


def test_shared_chunks_bring_no_result_and_send_none() -> None:
    # `seconds_per_task` is the sending of a result, and the shared chunks send none.
    spec = replace(SHARING, seconds_per_task=0.4)
    for name, cluster in CLUSTERS.items():
        law = law_of(cluster, spec)
        ended = play_chunks(cluster, spec, LOADS, seed=22)
        assert abs(law.mean - ended.mean()) <= 4 * error_of_mean(ended) + slack(law), name


def test_more_of_both_never_ends_sooner(cluster: dh.Cluster) -> None:
    for specs in (
        [replace(PLAIN, shared_chunks=shared_chunks) for shared_chunks in range(6)],
        [replace(PLAIN, seconds_per_task=seconds_per_task) for seconds_per_task in (0.0, 1e-3, 0.1, 2.0)],
    ):
        means = [law_of(cluster, spec).mean for spec in specs]
        assert (np.diff(means) > 0).all()


def test_workers_are_busy_with_shared_chunks_too() -> None:
    # One of two equal workers is enough: each is busy until the iteration is over, though only one delivers.
    cluster = dh.Cluster.from_columns([1.0, 1.0], 0.0, [0.0, 0.5])
    law = law_of(cluster, dh.CodeSpec.of(1, 2, shared_chunks=4), loads=[1, 1])
    assert law.mean == pytest.approx(5.0)
    np.testing.assert_allclose(law.busy, [1.0, 1.0], atol=1e-3)


def test_many_shared_chunks() -> None:
    # d - 1 = 200 shared chunks before two results: the tables must not stop at the loads.
    cluster, spec = CLUSTERS["gamma"], dh.CodeSpec.of(3, 6, 0.01, shared_chunks=200)
    law, ended = law_of(cluster, spec, loads=[2, 2, 2]), play_chunks(cluster, spec, [2, 2, 2], draws=10_000)
    assert abs(law.mean - ended.mean()) <= 4 * error_of_mean(ended) + slack(law)


# Moments and scores


def moments(cluster: dh.Cluster, spec: dh.CodeSpec, loads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """E[T] and E[T^2] of kappa + shared_chunks times in a row, from the mean and the variance of each."""
    count = np.where(loads > 0, loads + spec.shared_chunks, 0.0)
    first = np.where(loads > 0, cluster.comm + count * spec.work * cluster.mean + loads * spec.seconds_per_task, 0.0)
    return first, count * (spec.work * cluster.std) ** 2 + first**2


@SPECS
def test_assignment_moments_from_first_principles(cluster: dh.Cluster, spec: dh.CodeSpec) -> None:
    for loads in ([4, 2, 6], [0, 1, 0], [0.5, 0.0, 7.25]):
        found = theory.assignment_moments(cluster.tasks(spec), loads)
        np.testing.assert_allclose(found, moments(cluster, spec, np.array(loads)), rtol=1e-12)


def test_assignment_moments_of_a_monte_carlo() -> None:
    # Without purging and with one busy worker the iteration is its assignment.
    for name, cluster in CLUSTERS.items():
        spec = dh.CodeSpec(4, work=0.5, shared_chunks=3)
        ended = play_chunks(cluster, spec, [0, 4, 0], purge=False)
        first, second = theory.assignment_moments(cluster.tasks(spec), [0, 4, 0])
        assert abs(first[1] - ended.mean()) <= 4 * error_of_mean(ended) + 1e-9, name
        assert abs(second[1] - (ended**2).mean()) <= 4 * error_of_mean(ended**2) + 1e-9, name
        if spec.shared_chunks and name != "deterministic":  # negative control: a chunk less is seen
            less = theory.assignment_moments(cluster.tasks(replace(spec, shared_chunks=2)), [0, 4, 0])[0]
            assert abs(less[1] - ended.mean()) > 4 * error_of_mean(ended), name


@pytest.mark.parametrize("gamma", [0.0, 0.1, 1.0])
def test_the_start_is_the_score_just_above_no_load(cluster: dh.Cluster, gamma: float) -> None:
    for spec in (SHARING, COSTLY, PLAIN):
        first, second = moments(cluster, spec, np.full(3, 1e-9))
        np.testing.assert_allclose(start_scores(cluster.tasks(spec), gamma), first + gamma * second, rtol=1e-6)


@pytest.mark.parametrize("gamma", [0.0, 0.1, 1.0])
@SPECS
def test_theorem_2_equalises_the_scores_of_all_that_is_done(spec: dh.CodeSpec, gamma: float) -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        size = int(rng.integers(2, 9))
        mean = 10 ** rng.uniform(-1, 1, size)
        cluster = dh.Cluster.from_columns(mean, mean * rng.uniform(0, 1.5, size), rng.uniform(0, 30, size))
        found = dh.split(cluster, spec, gamma)
        assert found.loads.sum() == 12
        first, second = moments(cluster, spec, found.shares)
        score, active = first + gamma * second, found.shares > 0
        np.testing.assert_allclose(score[active], found.theta, rtol=1e-7)
        near = np.add(*(a * b for a, b in zip(moments(cluster, spec, np.full(size, 1e-12)), (1, gamma), strict=True)))
        assert (near[~active] >= found.theta * (1 - 1e-9)).all()  # who is idle would score more at once


def test_shared_chunks_change_who_works() -> None:
    # The fast one with a large comm is soon past the shared chunks; the slow one would still be busy with them.
    cluster = dh.Cluster.from_columns([1.0, 10.0], 0.0, [5.0, 0.0])
    plain, sharing = (
        dh.split(cluster, dh.CodeSpec(10, shared_chunks=shared_chunks), gamma=0.0) for shared_chunks in (0, 4)
    )
    assert plain.loads.tolist() == [9, 1]
    assert sharing.loads.tolist() == [10, 0]
    assert theory.would_be_used(cluster[1], plain)
    assert not theory.would_be_used(cluster[1], sharing)
    assert "its comm is too large: a_p = 40" in reasons(cluster, sharing)[1]


def test_a_quantile_is_that_of_all_that_is_done() -> None:
    # The 90 % quantile of kappa + shared_chunks gamma times has a closed form, and Quantile is exact for them.
    cluster = CLUSTERS["gamma"]
    found = dh.split(cluster, SHARING, score=policies.Quantile(0.9))
    count = found.shares + SHARING.shared_chunks
    ends = COMM + stats.gamma(count / 0.6**2, scale=0.5 * MEAN * 0.6**2).ppf(0.9)
    np.testing.assert_allclose(ends, found.theta, rtol=1e-6)


@SPECS
def test_mismatch_counts_all_that_is_done(spec: dh.CodeSpec) -> None:
    cluster, found = CLUSTERS["gamma"], dh.Split.of(LOADS, spec, gamma=0.7)
    first, second = moments(cluster, spec, np.array(LOADS))
    assert dh.mismatch(cluster, found) == pytest.approx(np.var(first + 0.7 * second), rel=1e-12)


# Capacity


def test_capacity_holds_shared_chunks_too() -> None:
    # 10 units hold 20 chunks of 0.5, of which 3 bring no result; 1.6 units hold none that does.
    cluster = dh.Cluster.from_columns(MEAN, MEAN, COMM, capacity=[10.0, 1.6, np.inf])
    assert caps(cluster.tasks(SHARING)).tolist() == [17.0, 0.0, np.inf]
    assert caps(cluster.tasks(PLAIN)).tolist() == [20.0, 3.0, np.inf]
    assert caps(cluster.tasks(COSTLY)).tolist() == [20.0, 3.0, np.inf]  # seconds per task take no room
    for make in (dh.split, dh.uniform, dh.fastest, policies.proportional, policies.hcmm):
        loads = make(cluster, dh.CodeSpec.of(30, 40, 0.5, shared_chunks=3)).loads
        assert loads.sum() == 40
        assert (loads <= [17, 0, 40]).all(), make
    assert "holds no task" in reasons(cluster, dh.split(cluster, SHARING))[1]


def test_too_little_room_beside_shared_chunks_is_refused() -> None:
    cluster = dh.Cluster.from_columns([1.0, 1.0], 1.0, capacity=8.0)
    assert dh.split(cluster, dh.CodeSpec(10, shared_chunks=3)).loads.tolist() == [5, 5]
    with pytest.raises(dh.BadInput, match="10 of 11 tasks"):
        dh.split(cluster, dh.CodeSpec(11, shared_chunks=3))


# The fastest split


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


@pytest.mark.parametrize(("shared_chunks", "seconds_per_task"), [(2, 0.0), (0, 0.7), (5, 0.0)])
@pytest.mark.parametrize("seed", range(4))
def test_the_fastest_split_on_tiny_cases(seed: int, shared_chunks: int, seconds_per_task: float) -> None:
    rng = np.random.default_rng(seed)
    mean = 10 ** rng.uniform(-0.5, 0.5, 3)
    cluster = dh.Cluster.from_columns(mean, mean * rng.uniform(0.1, 1.5, 3), rng.uniform(0.0, 2.0, 3))
    spec = dh.CodeSpec.of(5, 7, shared_chunks=shared_chunks, seconds_per_task=seconds_per_task)
    best = min(theory.IterationLaw(cluster.tasks(spec), loads, 5).mean for loads in compositions(7, 3))
    # 1e-6: exchanges that gain less than 1e-7 of the mean are not made.
    assert theory.iteration_law(cluster, dh.fastest(cluster, spec)).mean == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("family", ["gamma", "lognormal", "shifted-exponential"])
@SPECS
def test_the_fastest_split_is_never_slower_than_theorem_2(family: str, spec: dh.CodeSpec) -> None:
    rng = np.random.default_rng(12)
    spec, gains = replace(spec, critical=12, redundancy=1.0), []  # all are needed: rounding matters most
    for _ in range(4):
        mean = 10 ** rng.uniform(-1, 1, 4)
        std = mean * rng.uniform(0.2, 1.0, 4)
        cluster = dh.Cluster.from_columns(mean, std, rng.uniform(0.0, 2.0, 4), law=family)
        theorem, fastest = (theory.iteration_law(cluster, f(cluster, spec)).mean for f in (dh.split, dh.fastest))
        gains.append(theorem / fastest)
    assert min(gains) >= 1 - 1e-9
    assert max(gains) > 1.0001  # and somewhere it is better


# Simulation


@PURGE
@pytest.mark.parametrize("by_tasks", [False, True], ids=["exact", "by tasks"])
@pytest.mark.parametrize(
    "spec", [SHARING, COSTLY, replace(SHARING, seconds_per_task=0.4)], ids=["shared_chunks", "seconds_per_task", "both"]
)
def test_simulated_services_are_the_forecasts(
    cluster: dh.Cluster, spec: dh.CodeSpec, purge: bool, by_tasks: bool
) -> None:
    split = dh.split(cluster, spec)
    service = dh.simulate(cluster, split, ANY, 10_000, purge, 5, by_tasks=by_tasks).service
    expected = dh.forecast(cluster, split, ANY, purge)
    rounding = 1e-8 * expected.service_mean + 4 * slack(expected.law)
    assert abs(service.mean() - expected.service_mean) <= 4 * error_of_mean(service) + rounding
    assert abs(service.std() - expected.service_std) <= 4 * error_of_std(service) + 10 * rounding
    less = dh.forecast(cluster, dh.Split.of(split.loads, PLAIN), ANY, purge)  # negative control
    assert abs(service.mean() - less.service_mean) > 4 * error_of_mean(service) + rounding


def test_a_timeline_has_the_same_iterations() -> None:
    # The first task on record of each worker holds the shared chunks.
    cluster, split = CLUSTERS["deterministic"], dh.Split.of(LOADS, SHARING)
    trace = dh.simulate(cluster, split, ANY, 3, seed=1, timeline=True)
    length = law_of(cluster, SHARING).mean
    np.testing.assert_allclose(trace.service, 4 * length, rtol=1e-7)
    line = trace.timeline
    assert line is not None
    assert np.count_nonzero(line.done) == 3 * 4 * CRITICAL
    first = line.done & (line.worker == 0) & (line.job == 0) & (line.iteration == 0)
    np.testing.assert_allclose((line.end - line.begin)[first], [4.0, 1.0, 1.0])


@pytest.mark.parametrize("schedule", [name for name in SCHEDULES if name != "static"])
def test_shared_chunks_stay_where_they_were_planned(schedule: str) -> None:
    cluster, split = CLUSTERS["gamma"], dh.Split.of(LOADS, SHARING)
    with pytest.raises(dh.BadInput, match="share chunks") as caught:
        dh.simulate(cluster, split, ANY, 5, seed=1, schedule=schedule)
    assert caught.value.field == "schedule"
    costly = dh.Split.of(LOADS, COSTLY)
    assert dh.simulate(cluster, costly, ANY, 5, seed=1, schedule=schedule).service.min() > 0  # seconds are no obstacle


def test_seconds_per_task_count_under_every_schedule() -> None:
    # Constant tasks of equal workers: four results each, by whatever schedule, and each costs 0.4 s more.
    cluster = dh.Cluster.from_columns([1.0, 1.0, 1.0], 0.0)
    for schedule in SCHEDULES:
        for seconds_per_task in (0.0, 0.4):
            split = dh.Split.of([4, 4, 4], dh.CodeSpec(12, seconds_per_task=seconds_per_task))
            service = dh.simulate(cluster, split, dh.Stream.poisson(1e-3, 1), 3, seed=1, schedule=schedule).service
            np.testing.assert_allclose(service, 4 * (1 + seconds_per_task), rtol=1e-6)


# At the door


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        ({"shared_chunks": -1}, "shared_chunks"),
        ({"shared_chunks": 1.5}, "shared_chunks"),
        ({"shared_chunks": True}, "shared_chunks"),
        ({"shared_chunks": "2"}, "shared_chunks"),
        ({"seconds_per_task": -0.1}, "seconds_per_task"),
        ({"seconds_per_task": float("nan")}, "seconds_per_task"),
        ({"seconds_per_task": float("inf")}, "seconds_per_task"),
        ({"seconds_per_task": None}, "seconds_per_task"),
    ],
    ids=str,
)
def test_impossible_values_are_refused(wish: dict[str, object], field: str) -> None:
    with pytest.raises(dh.BadInput) as caught:
        replace(PLAIN, **wish)  # type: ignore[arg-type]
    assert caught.value.field == field
    with pytest.raises(dh.BadInput):
        dh.CodeSpec.of(5, 6, **wish)  # type: ignore[arg-type]
