"""What the tuner predicts is what a simulation gives: known numbers, stragglers, codes that theory does not know."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from judged_choices import (
    CLUSTER,
    FEW,
    GRADIENT,
    PLAIN,
    SLOW,
    STREAM,
    UntilDecodable,
    confirm,
    key,
    own_reach,
    reach,
    simulated,
    the_choice,
)

import deadheat as dh
from deadheat.coding import FAMILIES, placement
from deadheat.scheduling import Static
from deadheat.tuning import Ranking

pytest_plugins = ("rankings",)

# The numbers of the worked example


def test_the_best_of_the_worked_example(gradient: Ranking) -> None:
    assert gradient.best.delay <= 5.0
    assert gradient.best is gradient[0]


def test_paper_preset(gradient: Ranking) -> None:
    preset = the_choice(gradient, "paper", 50, 55)
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
    choice = the_choice(request.getfixturevalue(ranking), *place, **settings)
    assert choice.delay == pytest.approx(delay, abs=within)
    assert choice.interval is None
    confirm(choice, seed=77)


@pytest.mark.parametrize("kind", ["gradient", "linear", "product"])
def test_the_winner_does_what_was_predicted(kind: str, request: pytest.FixtureRequest) -> None:
    confirm(request.getfixturevalue(kind).best, seed=78)


def test_the_worked_example_ranks_as_it_should(gradient: Ranking, linear: Ranking) -> None:
    mds, uncoded, cyclic, preset = (
        the_choice(linear, "mds", 50, 75),
        the_choice(gradient, "uncoded", 50, 50),
        the_choice(gradient, "cyclic", 50, 55, reuse=False),
        the_choice(gradient, "paper", 50, 55),
    )
    assert mds.delay < uncoded.delay < cyclic.delay < preset.delay
    assert preset.work_factor == pytest.approx(25.5)
    assert cyclic.work_factor == pytest.approx(50 * 6 / 55)
    assert uncoded.work_factor == mds.work_factor == pytest.approx(1.0)
    reused = the_choice(gradient, "cyclic", 50, 55, reuse=True)
    assert reused.work_factor == pytest.approx((50 + 5 * reused.split.active) / 55)
    assert reused.delay < cyclic.delay / 2


# Where workers straggle


def test_coding_pays_where_workers_straggle(slow: Ranking) -> None:
    coded, plain = the_choice(slow, "cyclic", 50, 55, reuse=True), the_choice(slow, "uncoded", 50, 50)
    assert coded.iteration_mean == pytest.approx(0.234, abs=0.002)
    assert plain.iteration_mean == pytest.approx(0.280, abs=0.002)
    assert coded.delay < plain.delay
    for choice in (coded, plain):
        confirm(choice, 79, SLOW)


def test_the_best_under_stragglers_is_a_gradient_code(slow: Ranking) -> None:
    assert slow.best.coded
    assert "gradient" in FAMILIES[slow.best.family].kinds
    uncoded = [choice for choice in slow if not choice.coded]
    assert uncoded
    assert slow.best.delay < min(choice.delay for choice in uncoded)
    confirm(slow.best, 80, SLOW)


# What theory does not know


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
    assert choice.interval.low < choice.delay < choice.interval.high
    code = choice.shape.build()
    assert (code.total, code.family) == (choice.spec.total, family)
    runs = {
        name: [
            dh.simulate(CLUSTER, choice.split, STREAM, 4, seed=seed, schedule=schedule, by_tasks=True).service.mean()
            for seed in range(100, 112)
        ]
        for name, schedule in (("decodable", UntilDecodable(code)), ("static", Static()))
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
    (pulled,) = (choice for choice in ranking if choice.schedule == "pull")  # once: the split plays no part
    optimal, uniform = (choice for choice in ranking if choice.schedule == "static")
    assert pulled.interval is not None
    assert optimal.interval is None
    assert uniform.interval is None
    confirm(pulled, 91)
    # A pull costs no c_p, but the task that each has in hand is missed at the end: near the static split.
    assert optimal.delay < 1.1 * pulled.delay
    assert pulled.delay < 1.1 * optimal.delay < uniform.delay


@pytest.mark.parametrize("stays", [0.05, 0.02])
def test_persistent_states_are_judged_by_simulation(stays: float) -> None:
    condition = dh.Switching(5.0, stays, stays)
    ranking = dh.tune(GRADIENT, CLUSTER, STREAM, replace(FEW, families=PLAIN), condition=condition)
    assert all(choice.interval is not None for choice in ranking)
    best, sample = ranking.best, simulated(ranking.best, 90, condition, draws=1_500_000)
    assert abs(best.service_mean - sample.service.mean) <= own_reach(best) + reach(sample.service)
    assert abs(best.delay - sample.delay.mean) <= own_reach(best) + reach(sample.delay)
    usual = dh.forecast(CLUSTER, best.split, STREAM).service_mean  # negative control
    assert abs(usual - sample.service.mean) > own_reach(best) + reach(sample.service)


def test_long_jobs_with_persistent_states_are_judged_without_a_warning() -> None:
    # A job of 1000 iterations of 200 tasks is more than is drawn at a time.
    search = dh.Search(("uncoded",), (200,), policies=("optimal",))
    best = dh.tune(
        GRADIENT, CLUSTER, dh.Stream.poisson(1e-4, 1000), search, condition=dh.Switching(2.0, 0.05, 0.05)
    ).best
    assert best.interval is not None
    assert best.interval.low < best.delay < best.interval.high


AWAY = dh.Switching(math.inf, 0.1, 0.9)


@pytest.mark.parametrize("family", ["uncoded", "cyclic", "fractional repetition", "replication"])
def test_others_go_on_where_workers_are_away(family: str) -> None:
    """An iteration takes longer then, and ends, also where the only copies of a part are away: others compute it."""
    search = dh.Search((family,), (10,), (1.0, 1.2, 2.0), policies=("optimal",))
    ranking = dh.tune(GRADIENT, CLUSTER, STREAM, search, condition=AWAY)
    usual = {key(choice): choice.delay for choice in dh.tune(GRADIENT, CLUSTER, STREAM, search)}
    for choice in ranking:
        assert choice.interval is not None
        assert usual[key(choice)] < choice.delay < math.inf
    confirm(ranking.best, 92, AWAY, draws=1_500_000)


def test_the_only_copies_of_a_part_may_be_away() -> None:
    """What the test above is about: two workers of five have the only copies of a part."""
    search = dh.Search(("fractional repetition", "replication"), (10,), (1.2, 2.0), policies=("optimal",))
    fatal = {}
    for choice in dh.tune(GRADIENT, CLUSTER, STREAM, search, condition=AWAY):
        code, tasks = choice.shape.build(), placement(choice.split.loads)
        fatal[choice.family, choice.spec.total] = any(
            not code.decodable([task for worker, own in enumerate(tasks) if worker not in lost for task in own])
            for lost in combinations(range(len(CLUSTER)), 2)
        )
    assert fatal["replication", 20]
