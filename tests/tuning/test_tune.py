"""The tuner: its numbers are those of simulations, its ranking is in order, and its pruning loses nothing."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.coding import FAMILIES, Cost, Family, IllConditioned, Shape
from deadheat.paper import worked_example as paper
from deadheat.simulation import Decodable
from deadheat.tuning import candidates as trying
from deadheat.tuning.candidates import Candidate, candidates
from deadheat.tuning.judge import Judge

tuner = importlib.import_module("deadheat.tuning.tune")
CLUSTER, STREAM = paper.cluster(), paper.stream()
WORK = 5_544_000.0  # ten operations for each of 554,400 samples: one plain gradient
GRADIENT, LINEAR, PRODUCT = (dh.Workload(kind, WORK) for kind in ("gradient", "linear", "product"))
SLOW = dh.Switching(10.0, 0.2, 0.8)
FEW = dh.Search(critical=(10,), redundancy=(1.0, 1.2, 1.5))
WIDE = dh.Search(critical=(10, 50, 200), redundancy=(1.0, 1.02, 1.1, 1.5))
NARROW = dh.Search(critical=(10, 50), redundancy=(1.0, 1.1, 1.5, 2.0))
PLAIN = ("uncoded", "cyclic")  # families of which any K results suffice: nothing is left to chance


@pytest.fixture(scope="module")
def gradient() -> dh.Ranking:
    return dh.tune(GRADIENT, CLUSTER, STREAM, WIDE)


@pytest.fixture(scope="module")
def linear() -> dh.Ranking:
    return dh.tune(LINEAR, CLUSTER, STREAM, NARROW)


@pytest.fixture(scope="module")
def product() -> dh.Ranking:
    return dh.tune(PRODUCT, CLUSTER, STREAM, NARROW)


@pytest.fixture(scope="module")
def slow() -> dh.Ranking:
    return dh.tune(GRADIENT, CLUSTER, STREAM, NARROW, condition=SLOW)


@pytest.fixture(scope="module", params=["gradient", "linear", "product", "slow"])
def ranking(request: pytest.FixtureRequest) -> dh.Ranking:
    found = request.getfixturevalue(request.param)
    assert isinstance(found, dh.Ranking)
    return found


SEARCHES = {
    "gradient": (GRADIENT, WIDE, None),
    "linear": (LINEAR, NARROW, None),
    "product": (PRODUCT, NARROW, None),
    "slow": (GRADIENT, NARROW, SLOW),
}


def one(ranking: dh.Ranking, family: str, critical: int, total: int, **settings: object) -> dh.Choice:
    """The choice of these parameters with Theorem 2's split."""
    found = [
        choice
        for choice in ranking
        if (choice.family, choice.spec.critical, choice.spec.total, choice.policy)
        == (family, critical, total, "optimal")
        and settings.items() <= dict(choice.shape.settings).items()
    ]
    assert len(found) == 1
    return found[0]


def simulated(choice: dh.Choice, seed: int, condition: dh.Switching | None = None, draws: int = 12_000_000) -> Any:
    """Twelve independent runs of the choice, task by task."""
    jobs = max(int(draws / 12 / STREAM.iterations / choice.spec.total), 10)
    schedule: Any = choice.schedule if choice.shape.any_critical else Decodable(choice.shape.build())

    def run(number: int) -> dh.Trace:
        return dh.simulate(
            CLUSTER, choice.split, STREAM, jobs, seed=number,
            schedule=schedule, condition=condition, overhead=choice.overhead, by_tasks=True,
        )  # fmt: skip

    return dh.replicate(run, seed, 12)


def reach(interval: Any) -> float:
    """Four standard errors, from a 95 % interval over twelve runs (Student's 2.2)."""
    return float((interval.high - interval.low) / 2 / 2.2 * 4)


def own_reach(choice: dh.Choice) -> float:
    """The same of a choice that was judged by simulation, over many iterations; nothing where it is exact."""
    return 0.0 if choice.interval is None else (choice.interval[1] - choice.interval[0]) / 2 / 1.96 * 4


def confirm(choice: dh.Choice, seed: int, condition: dh.Switching | None = None) -> None:
    """What was predicted is what a simulation gives; five per cent more or less would be seen."""
    sample = simulated(choice, seed, condition)
    assert abs(choice.service_mean - sample.service.mean) <= reach(sample.service) + own_reach(choice)
    assert abs(choice.delay - sample.delay.mean) <= reach(sample.delay) + own_reach(choice)
    assert reach(sample.service) + own_reach(choice) < 0.05 * sample.service.mean


# The numbers of the issue


def test_the_best_of_the_worked_example(gradient: dh.Ranking) -> None:
    assert gradient.best.delay <= 5.0
    assert gradient.best is gradient[0]


def test_paper_preset(gradient: dh.Ranking) -> None:
    preset = one(gradient, "paper", 50, 55)
    assert 49.4 <= preset.delay <= 49.7
    assert preset.split.loads.tolist() == [13, 18, 7, 3, 14]
    assert preset.work_factor == pytest.approx(25.5)
    assert gradient.best.delay < preset.delay / 9.5  # about a tenth of it
    confirm(preset, seed=76)


NUMBERS: dict[str, tuple[str, tuple[str, int, int], dict[str, Any], float, float]] = {
    "cyclic": ("gradient", ("cyclic", 50, 55), {"reuse": False}, 11.4, 0.1),
    "uncoded": ("gradient", ("uncoded", 50, 50), {}, 5.24, 0.01),
    "mds": ("linear", ("mds", 50, 75), {}, 4.61, 0.01),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_a_known_number(name: str, request: pytest.FixtureRequest) -> None:
    ranking, place, settings, delay, within = NUMBERS[name]
    choice = one(request.getfixturevalue(ranking), *place, **settings)
    assert choice.delay == pytest.approx(delay, abs=within)
    assert choice.interval is None
    confirm(choice, seed=77)


@pytest.mark.parametrize("kind", ["gradient", "linear", "product"])
def test_the_winner_does_what_was_predicted(kind: str, request: pytest.FixtureRequest) -> None:
    confirm(request.getfixturevalue(kind).best, seed=78)


def test_the_worked_example_ranks_as_it_should(gradient: dh.Ranking, linear: dh.Ranking) -> None:
    mds, uncoded, cyclic, preset = (
        one(linear, "mds", 50, 75),
        one(gradient, "uncoded", 50, 50),
        one(gradient, "cyclic", 50, 55, reuse=False),
        one(gradient, "paper", 50, 55),
    )
    assert mds.delay < uncoded.delay < cyclic.delay < preset.delay
    assert preset.work_factor == pytest.approx(25.5)
    assert cyclic.work_factor == pytest.approx(50 * 6 / 55)
    assert uncoded.work_factor == mds.work_factor == pytest.approx(1.0)
    reused = one(gradient, "cyclic", 50, 55, reuse=True)
    assert reused.work_factor == pytest.approx((50 + 5 * reused.split.active) / 55)
    assert reused.delay < cyclic.delay / 2


# Where workers straggle


def test_coding_pays_where_workers_straggle(slow: dh.Ranking) -> None:
    coded, plain = one(slow, "cyclic", 50, 55, reuse=True), one(slow, "uncoded", 50, 50)
    assert coded.iteration_mean == pytest.approx(0.234, abs=0.002)
    assert plain.iteration_mean == pytest.approx(0.280, abs=0.002)
    assert coded.delay < plain.delay
    for choice in (coded, plain):
        confirm(choice, 79, SLOW)


def test_the_best_under_stragglers_is_a_gradient_code(slow: dh.Ranking) -> None:
    assert slow.best.coded
    assert "gradient" in FAMILIES[slow.best.family].kinds
    uncoded = [choice for choice in slow if not choice.coded]
    assert uncoded
    assert slow.best.delay < min(choice.delay for choice in uncoded)
    confirm(slow.best, 80, SLOW)


# Codes that theory does not know


@pytest.mark.parametrize(
    ("kind", "family"),
    [
        ("gradient", "fractional repetition"),
        ("linear", "ldpc"),
        ("linear", "lt"),
        ("linear", "product"),
        ("product", "product"),
        ("product", "replication"),
    ],
)
def test_another_simulation_agrees(kind: str, family: str, request: pytest.FixtureRequest) -> None:
    choice = next(c for c in request.getfixturevalue(kind) if c.family == family)
    assert choice.interval is not None
    assert choice.interval[0] < choice.delay < choice.interval[1]
    code = choice.shape.build()
    assert (code.total, code.family) == (choice.spec.total, family)
    runs = {
        name: [
            dh.simulate(CLUSTER, choice.split, STREAM, 4, seed=seed, schedule=schedule, by_tasks=True).service.mean()
            for seed in range(100, 112)
        ]
        for name, schedule in (("decodable", Decodable(code)), ("static", "static"))
    }
    error = 4 * np.std(runs["decodable"], ddof=1) / math.sqrt(12)
    # The delay moves a little faster than the service, so that its reach is enough for both.
    assert abs(choice.service_mean - np.mean(runs["decodable"])) <= error + own_reach(choice)
    # Negative control, with the same draws: the K-th result is another time.
    apart = np.subtract(runs["decodable"], runs["static"])
    assert abs(apart.mean()) > 4 * apart.std(ddof=1) / math.sqrt(12)


def test_pulling_is_judged_by_simulation() -> None:
    search = dh.Search(("uncoded",), (50,), schedules=("static", "pull"), policies=("optimal", "uniform"))
    ranking = dh.tune(GRADIENT, CLUSTER, STREAM, search)
    pulled = [choice for choice in ranking if choice.schedule == "pull"]
    assert len(pulled) == 1  # the split plays no part
    assert pulled[0].interval is not None
    confirm(pulled[0], 91)
    assert pulled[0].delay > 40  # facts.md: where every pull costs c_p, nine times that of the static split
    assert [choice.schedule for choice in ranking if choice.interval is None] == ["static", "static"]


def test_schedules_are_tried_where_they_make_sense() -> None:
    search = dh.Search(
        ("uncoded", "cyclic", "replication"),
        (10,),
        (1.0, 1.2, 2.0),
        schedules=("static", "pull", "top-up", "duplicates"),
    )
    for found in candidates(GRADIENT, STREAM, search):
        if found.schedule != "static":
            assert found.shape.any_critical
            assert found.spec.shared_chunks == 0
            assert found.policy == "optimal"
        assert found.schedule != "top-up" or found.spec.total > found.spec.critical


@pytest.mark.parametrize("stays", [0.05, 0.02])
def test_persistent_states_are_judged_by_simulation(stays: float) -> None:
    condition = dh.Switching(5.0, stays, stays)
    ranking = dh.tune(GRADIENT, CLUSTER, STREAM, replace(FEW, families=PLAIN), condition=condition)
    assert all(choice.interval is not None for choice in ranking)
    best, found = ranking.best, simulated(ranking.best, 90, condition, draws=1_500_000)
    assert abs(best.service_mean - found.service.mean) <= own_reach(best) + reach(found.service)
    assert abs(best.delay - found.delay.mean) <= own_reach(best) + reach(found.delay)
    usual = dh.forecast(CLUSTER, best.split, STREAM).service_mean  # negative control
    assert abs(usual - found.service.mean) > own_reach(best) + reach(found.service)


def test_long_jobs_with_persistent_states_are_judged_without_a_warning() -> None:
    # A job of 1000 iterations of 200 tasks is more than is drawn at a time.
    search = dh.Search(("uncoded",), (200,), policies=("optimal",))
    best = dh.tune(
        GRADIENT, CLUSTER, dh.Stream.poisson(1e-4, 1000), search, condition=dh.Switching(2.0, 0.05, 0.05)
    ).best
    assert best.interval is not None
    assert best.interval[0] < best.delay < best.interval[1]


@pytest.mark.parametrize("families", [PLAIN, ("fractional repetition",), ("replication",)], ids=str)
def test_workers_that_are_away(families: tuple[str, ...]) -> None:
    # Where the only copies of a part are with workers that are away, an iteration cannot end.
    search = dh.Search(families, (10,), (1.0, 1.2, 2.0), policies=("optimal",))
    for choice in dh.tune(GRADIENT, CLUSTER, STREAM, search, condition=dh.Switching(math.inf, 0.1, 0.9)):
        assert choice.delay > 0  # and not NaN


# What an iteration costs besides


def best_of(workload: dh.Workload, search: dh.Search, condition: dh.Switching | None = None) -> dh.Choice:
    return dh.tune(workload, CLUSTER, STREAM, search, condition=condition).best


def test_fine_tasks_stop_paying_where_each_result_costs() -> None:
    search = dh.Search(("uncoded",), (5, 10, 20, 50, 100, 200), policies=("optimal",))
    parts = [
        best_of(replace(GRADIENT, per_result=seconds), search).spec.critical
        for seconds in (0.0, 1e-4, 1e-3, 1e-2, 1e-1)
    ]
    assert parts[0] == 200
    assert parts == sorted(parts, reverse=True)
    assert len(set(parts)) >= 4
    assert parts[-1] == 5


def test_a_result_costs_its_worker_its_size_over_the_bandwidth() -> None:
    workload = replace(GRADIENT, result=3e5, bandwidth=1e8, per_result=1e-3)
    search = dh.Search(("uncoded", "communication-efficient"), (10,), (1.0, 1.2), policies=("optimal",))
    for choice in dh.tune(workload, CLUSTER, STREAM, search):
        parts = dict(choice.shape.settings).get("parts", 1)
        assert isinstance(parts, int)
        mixed = 3e5 * choice.shape.cost.mix / workload.speed  # a weighted sum of d vectors
        assert choice.spec.seconds_per_task == pytest.approx(1e-3 + 3e-3 / parts + mixed)
    blocks = dh.tune(replace(LINEAR, result=3e5, bandwidth=1e8), CLUSTER, STREAM, replace(search, families=("mds",)))
    assert blocks.best.spec.seconds_per_task == pytest.approx(3e-3 / 10)  # a block of the result, not a full vector


def test_shared_chunks_send_nothing() -> None:
    # With reuse a worker computes kappa + s chunks and sends kappa results: only these cost.
    workload = replace(GRADIENT, per_result=0.02)
    choice = one(
        dh.tune(workload, CLUSTER, STREAM, dh.Search(("cyclic",), (10,), (1.2,), ("optimal",))),
        "cyclic",
        10,
        12,
        reuse=True,
    )
    rng, draws = np.random.default_rng(3), 20_000
    arrivals = []
    for worker, load in zip(CLUSTER, choice.split.loads, strict=True):
        pieces = rng.exponential(worker.mean * WORK / 12, (draws, 2 + load))
        pieces[:, 2:] += 0.02
        arrivals.append(worker.comm + np.cumsum(pieces, axis=1)[:, 2:])
    ended = np.sort(np.concatenate(arrivals, axis=1), axis=1)[:, 9]
    assert abs(choice.iteration_mean - ended.mean()) <= 4 * ended.std() / math.sqrt(draws)


def test_communication_efficient_codes_win_where_links_are_slow() -> None:
    search = dh.Search(
        ("uncoded", "cyclic", "communication-efficient"), (5, 10, 20), (1.0, 1.2, 1.5, 2.0), ("optimal",)
    )
    workload = replace(GRADIENT, result=1e6, bandwidth=1e6)
    assert best_of(workload, search).family == "communication-efficient"
    assert best_of(replace(workload, bandwidth=1e12), search).family != "communication-efficient"


def test_the_state_makes_every_worker_farther() -> None:
    search = dh.Search(("uncoded",), (10,), policies=("optimal",))
    near, far = (
        dh.tune(replace(GRADIENT, state=state, bandwidth=1e6), CLUSTER, STREAM, search, gamma=0.0).best
        for state in (0.0, 2e5)
    )
    assert near.split.loads.tolist() == far.split.loads.tolist()  # of the mean alone, all are equally farther
    assert far.iteration_mean == pytest.approx(near.iteration_mean + 0.2, rel=1e-6)


def test_the_master_counts() -> None:
    search = replace(FEW, families=("uncoded", "mds"), policies=("optimal",))
    free = dh.tune(LINEAR, CLUSTER, STREAM, search)
    workload = replace(LINEAR, result=2e5, data=4e9, speed=1e9, update=0.003)
    dear = dh.tune(workload, CLUSTER, STREAM, search)
    for choice in dear:
        before, spare = (
            one(free, choice.family, choice.spec.critical, choice.spec.total),
            choice.spec.total - choice.spec.critical,
        )
        assert choice.overhead.update == 0.003
        assert choice.overhead.decode == pytest.approx(spare * 2e5 / 1e9)  # systematic: only lost blocks are solved for
        assert choice.overhead.encode == pytest.approx(spare * 4e9 / 1e9 / STREAM.iterations)  # once a job
        assert choice.iteration_mean == pytest.approx(before.iteration_mean + choice.overhead.total, rel=1e-9)
        assert choice.delay > before.delay
    assert (free.best.family, dear.best.family) == ("mds", "uncoded")


def test_a_gradient_is_decoded_from_k_results() -> None:
    workload = replace(GRADIENT, result=1e6, speed=1e9)
    ranking = dh.tune(workload, CLUSTER, STREAM, dh.Search(("cyclic",), (10,), (1.2,), ("optimal",)))
    assert [choice.overhead.decode for choice in ranking] == pytest.approx([10 * 1e6 / 1e9] * len(ranking))


# The ranking


def test_the_ranking_is_in_order(ranking: dh.Ranking) -> None:
    delays = [choice.delay for choice in ranking]
    assert delays == sorted(delays)
    assert ranking.best.delay == min(delays)
    assert ranking.first(coded=False) == next(choice for choice in ranking if choice.family == "uncoded")
    assert [c.family for c in ranking.leaders] == list(dict.fromkeys(c.family for c in ranking))


def test_nothing_beats_the_frontier(ranking: dh.Ranking) -> None:
    frontier = ranking.frontier
    assert frontier[0] is ranking.best
    for choice in ranking:
        if math.isinf(choice.delay):
            assert choice not in frontier
            continue
        beaten = [c for c in frontier if c.delay <= choice.delay and c.work_factor <= choice.work_factor + 1e-9]
        assert beaten  # by itself, or by another
        if choice in frontier:
            assert beaten == [choice]


def test_the_numbers_of_a_choice_hang_together(ranking: dh.Ranking) -> None:
    for choice in ranking:
        assert choice.service_mean == pytest.approx(STREAM.iterations * choice.iteration_mean)
        assert choice.utilisation == pytest.approx(choice.service_mean / 100)
        assert choice.split.loads.sum() == choice.spec.total
        assert choice.delay >= choice.service_mean
        assert math.isinf(choice.delay) == (choice.utilisation >= 1)
        assert choice.storage > 0
        if choice.shape.any_critical:
            units = choice.spec.critical + choice.split.active * choice.spec.shared_chunks
            assert choice.work_factor == pytest.approx(units * choice.spec.work / WORK)
        else:
            assert choice.work_factor <= choice.spec.total * choice.spec.work / WORK * (1 + 1e-9)


def test_exact_delays_are_the_forecasts(gradient: dh.Ranking, slow: dh.Ranking) -> None:
    for ranking, condition in ((gradient, None), (slow, SLOW)):
        for choice in ranking[::17]:
            if choice.interval is None:
                found = dh.forecast(CLUSTER, choice.split, STREAM, overhead=choice.overhead, condition=condition)
                assert found.delay == pytest.approx(choice.delay, rel=1e-9)


@pytest.mark.parametrize("name", SEARCHES)
def test_every_candidate_is_accounted_for(name: str, request: pytest.FixtureRequest) -> None:
    workload, search, _ = SEARCHES[name]
    ranking = request.getfixturevalue(name)
    assert len(ranking) + ranking.pruned + ranking.refused == len(list(candidates(workload, STREAM, search)))
    tried = {found.shape.family for found in candidates(workload, STREAM, search)}
    assert {choice.family for choice in ranking} == tried  # of every family at least one


def test_why_names_the_winner(ranking: dh.Ranking) -> None:
    assert ranking.why.startswith(f"{ranking.best} wins with {ranking.best.delay:.4g} s")
    assert ("coding does not pay" in ranking.why) == (not ranking.best.coded)
    assert ranking.why.count("\n") == 0


def test_why_says_where_coding_does_not_pay() -> None:
    found = dh.tune(GRADIENT, CLUSTER, STREAM, dh.Search(PLAIN, (50, 200), (1.0, 1.02, 1.1)))
    assert found.best.family == "uncoded"
    code = found.first(coded=True)
    assert code is not None
    assert "coding does not pay here" in found.why
    assert f"{code}, does {code.work_factor:.3g} times and takes {code.delay:.4g} s" in found.why
    # The price of waiting for the last result, by its own law: workers that never wait could do so much more work in
    # the time of the best uncoded choice, and no more. (c_p does not grow with the work, so it is not a mere ratio.)
    assert f"less than {found.break_even:.3f} times" in found.why

    def genie(times: float) -> float:
        specs = [dh.CodeSpec(k, 1.0, times * WORK / k) for k in (50, 200)]
        return min(dh.genie_bound(CLUSTER, spec, STREAM).iteration_mean for spec in specs)

    assert genie(found.break_even - 0.01) < found.best.iteration_mean < genie(found.break_even + 0.01)


def test_why_says_what_coding_saves(slow: dh.Ranking) -> None:
    plain = slow.first(coded=False)
    assert plain is not None
    assert f"{1 - slow.best.delay / plain.delay:.1%} less than the {plain.delay:.4g} s" in slow.why
    assert str(plain) in slow.why


def test_why_says_what_it_knows() -> None:
    preset = dh.Search(("uncoded", "paper"), (50,), (1.0, 1.1), ("optimal",))
    persistent = dh.tune(GRADIENT, CLUSTER, STREAM, preset, condition=dh.Switching(1.01, 0.05, 0.05))
    assert not persistent.best.coded
    assert "nan" not in persistent.why  # the ideal is not known there
    alone = dh.tune(GRADIENT, CLUSTER, STREAM, dh.Search(("uncoded",), (10,)))
    assert "nothing coded was tried" in alone.why
    coded = dh.tune(GRADIENT, CLUSTER, STREAM, dh.Search(("cyclic",), (10,)))
    assert "nothing uncoded was tried" in coded.why
    hasty = dh.tune(GRADIENT, CLUSTER, dh.Stream.poisson(1.0, 50), replace(FEW, families=PLAIN))
    assert "No candidate keeps the queue stable" in hasty.why
    assert hasty.frontier == []


def test_the_same_seed_the_same_ranking() -> None:
    search = replace(FEW, families=("uncoded", "fractional repetition", "cyclic"), policies=("optimal",))
    first, again, other = (dh.tune(GRADIENT, CLUSTER, STREAM, search, seed=seed) for seed in (4, 4, 5))
    assert [(str(c), c.delay, c.interval) for c in first] == [(str(c), c.delay, c.interval) for c in again]
    theirs = {str(c): c.delay for c in other}
    for choice in first:
        assert (theirs[str(choice)] == choice.delay) == (choice.interval is None)


def test_progress_is_told() -> None:
    told: list[tuple[int, int, float]] = []
    ranking = dh.tune(GRADIENT, CLUSTER, STREAM, replace(FEW, families=PLAIN), progress=lambda *news: told.append(news))
    assert [news[0] for news in told] == list(range(1, len(ranking) + 1))
    assert {news[1] for news in told} == {len(ranking) + ranking.pruned}
    best = [news[2] for news in told]
    assert best == sorted(best, reverse=True)
    assert best[-1] == ranking.best.delay


# What is tried


def test_every_candidate_is_tried_once() -> None:
    search = dh.Search(
        None, (10, 10, 20), (1.0, 1.2, 1.2, 1.5), ("optimal", "fastest", "optimal"), ("static", "static")
    )
    seen = [_key(found) for found in candidates(GRADIENT, STREAM, search)]
    assert len(set(seen)) == len(seen)


def _key(found: Candidate | dh.Choice) -> tuple[object, ...]:
    shape = found.shape
    settings = tuple(sorted(shape.settings.items()))
    return shape.family, shape.critical, shape.total, settings, found.policy, found.schedule


def test_approximate_codes_are_tried_only_where_named(gradient: dh.Ranking) -> None:
    inexact = {
        name for name, family in FAMILIES.items() if not all(s.exact for s in family.shapes(family.kinds[0], 10, 15))
    }
    assert inexact == {"bernoulli"}
    assert "bernoulli" not in {choice.family for choice in gradient}
    named = dh.tune(GRADIENT, CLUSTER, STREAM, replace(FEW, families=("uncoded", "bernoulli")))
    assert "bernoulli" in {choice.family for choice in named}


def test_a_code_without_a_task_to_spare_is_none(ranking: dh.Ranking) -> None:
    for choice in ranking:
        assert choice.coded == (choice.spec.total > choice.spec.critical)


# Bounds and pruning


@pytest.mark.parametrize("name", SEARCHES)
def test_no_choice_is_below_its_bound(name: str, request: pytest.FixtureRequest) -> None:
    workload, search, condition = SEARCHES[name]
    judge = Judge(CLUSTER, STREAM, 1.0, condition, 0)
    bounds = {_key(found): judge.least_delay(found) for found in candidates(workload, STREAM, search)}
    wrong = [
        f"{choice}: {choice.delay:.4g} < {bounds[_key(choice)]:.4g}"
        for choice in request.getfixturevalue(name)
        if (choice.delay * (1 + 1e-7) if choice.interval is None else choice.interval[1]) < bounds[_key(choice)]
    ]
    assert wrong == []


@pytest.mark.parametrize("workload", [GRADIENT, LINEAR, PRODUCT], ids=["gradient", "linear", "product"])
def test_pruning_does_not_lose_the_winner(workload: dh.Workload, monkeypatch: pytest.MonkeyPatch) -> None:
    pruned = dh.tune(workload, CLUSTER, STREAM, FEW)
    monkeypatch.setattr(tuner, "HOPELESS", math.inf)
    monkeypatch.setattr(Judge, "least_delay", lambda self, candidate: 0.0)
    everything = dh.tune(workload, CLUSTER, STREAM, FEW)
    assert everything.pruned == 0
    assert pruned.pruned > 0
    assert str(pruned.best) == str(everything.best)
    assert pruned.best.delay == pytest.approx(everything.best.delay, rel=1e-9)


def test_laws_without_a_bound_are_judged_under_any_stream() -> None:
    heavy = dh.Cluster(dh.Worker(w.mean, w.std, w.comm, law="lognormal") for w in CLUSTER)
    search = dh.Search(("uncoded",), (10,), policies=("optimal",))
    for stream in (STREAM, dh.Stream(100.0, 50.0, 50), dh.Stream(100.0, 0.0, 50)):
        found = dh.tune(GRADIENT, heavy, stream, search).best
        assert found.delay == pytest.approx(dh.forecast(heavy, found.split, stream).delay, rel=1e-9)


# Capacity


def test_capacities_are_respected() -> None:
    most = np.array([0.3, 0.2, 1.0, 3.0, 3.0]) * WORK
    capped = dh.Cluster(dh.Worker(w.mean, w.std, w.comm, capacity=room) for w, room in zip(CLUSTER, most, strict=True))
    free, found = (dh.tune(GRADIENT, c, STREAM, replace(FEW, families=PLAIN)) for c in (CLUSTER, capped))
    for choice in found:
        held = np.where(choice.split.loads > 0, choice.split.loads + choice.spec.shared_chunks, 0) * choice.spec.work
        assert (held <= most * (1 + 1e-9)).all()
    assert found.best.delay > free.best.delay


def test_what_does_not_fit_is_left_out() -> None:
    # 10 parts of W/10 fit into five times 0.3 W; 12 tasks of W/4 do not, and the search goes on without them.
    capped = dh.Cluster(dh.Worker(w.mean, w.std, w.comm, capacity=0.3 * WORK) for w in CLUSTER)
    found = dh.tune(GRADIENT, capped, STREAM, FEW)
    assert "uncoded" in {choice.family for choice in found}
    for choice in found:
        assert (choice.split.loads * choice.spec.work <= 0.3 * WORK * (1 + 1e-9)).all()
    none = dh.Cluster(dh.Worker(w.mean, w.std, w.comm, capacity=0.1 * WORK) for w in CLUSTER)
    with pytest.raises(dh.BadInput, match="capacity"):
        dh.tune(GRADIENT, none, STREAM, FEW)


# Codes that cannot be trusted


def _magic(kind: str, critical: int, total: int) -> Iterator[Shape]:
    def refuse() -> dh.Code:
        raise IllConditioned("magic", range(critical), 1e20, 1e8, "do not trust it")

    yield Shape("magic", kind, critical, critical + 1, Cost(0.1 / critical, 0.1 / critical), refuse)


def test_a_winner_that_loses_its_digits_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    magic = Family("magic", ("gradient",), "", "", "", "", "", "", _magic)
    monkeypatch.setattr(trying, "FAMILIES", {"uncoded": FAMILIES["uncoded"], "magic": magic})
    search = dh.Search(critical=(10, 20), redundancy=(1.0,))
    found = dh.tune(GRADIENT, CLUSTER, STREAM, search)
    assert found.refused == 4
    assert found.best.family == "uncoded"
    assert len(found) + found.pruned + found.refused == len(list(candidates(GRADIENT, STREAM, search)))
    monkeypatch.setattr(trying, "FAMILIES", {"magic": magic})
    with pytest.raises(dh.BadInput, match="would lose its digits"):
        dh.tune(GRADIENT, CLUSTER, STREAM, search)


def test_certificates_are_at_hand(ranking: dh.Ranking) -> None:
    certificate = ranking.best.certificate
    assert certificate is not None
    assert certificate.missed == 0 or not ranking.best.shape.any_critical
    assert certificate.gain < 1e8


# At the door


@pytest.mark.parametrize(
    ("changed", "field", "words"),
    [
        ({"families": ("cyclc",)}, "search.families", "did you mean 'cyclic'"),
        ({"families": (3,)}, "search.families", "no such family"),
        ({"families": ("mds",)}, "search.families", "not for gradient work"),
        ({"policies": ("fastst",)}, "search.policies", "did you mean 'fastest'"),
        ({"policies": (3,)}, "search.policies", "no such policy"),
        ({"schedules": ("pul",)}, "search.schedules", "did you mean 'pull'"),
        ({"schedules": (["pull"],)}, "search.schedules", "no such schedule"),
        ({"families": ("cyclic",), "redundancy": (1.0,)}, "search", "no code of these families"),
    ],
    ids=str,
)
def test_a_search_for_nothing_is_refused(changed: dict[str, Any], field: str, words: str) -> None:
    with pytest.raises(dh.BadInput, match=words) as caught:
        dh.tune(GRADIENT, CLUSTER, STREAM, replace(FEW, **changed))
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("wish", "field"),
    [({"workload": "gradient"}, "workload"), ({"gamma": -1.0}, "gamma"), ({"seed": -1}, "seed")],
    ids=str,
)
def test_other_wishes_are_refused(wish: dict[str, Any], field: str) -> None:
    usual: dict[str, Any] = {"workload": GRADIENT, "cluster": CLUSTER, "stream": STREAM, "search": FEW}
    with pytest.raises(dh.BadInput) as caught:
        dh.tune(**(usual | wish))
    assert caught.value.field == field


def test_a_policy_that_does_not_fit_does_not_empty_the_search() -> None:
    pulled = dh.tune(
        GRADIENT, CLUSTER, STREAM, dh.Search(("uncoded",), (10,), (1.0,), ("fastest", "optimal"), ("pull",))
    )
    assert [choice.policy for choice in pulled] == ["optimal"]
    copies = dh.tune(GRADIENT, CLUSTER, STREAM, dh.Search(("replication",), (5,), (2.0,), ("fastest",)))
    assert [choice.policy for choice in copies] == ["optimal"]


def test_mixing_chunk_results_is_not_free() -> None:
    search = dh.Search(("cyclic",), (50,), (1.1,), ("optimal",))
    free, dear = (
        one(dh.tune(replace(GRADIENT, result=size), CLUSTER, STREAM, search), "cyclic", 50, 55, reuse=True)
        for size in (0.0, 1e6)
    )
    assert dear.spec.seconds_per_task == pytest.approx(6e6 / GRADIENT.speed)
    assert dear.delay > free.delay


def test_an_unstable_queue_without_code_is_said() -> None:
    busy = dh.Stream.poisson(0.1, 50)
    search = dh.Search(("uncoded", "fractional repetition"), (20,), (1.0, 2.0))
    found = dh.tune(GRADIENT, CLUSTER, busy, search, condition=dh.Switching(10, 0.2, 0.8))
    assert found.best.coded
    assert "no uncoded choice keeps the queue stable" in found.why
