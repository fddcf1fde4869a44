"""The ranking: in order, its numbers hang together, and it says why."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from judged_choices import (
    CLUSTER,
    FEW,
    GRADIENT,
    PLAIN,
    SEARCHES,
    SLOW,
    STREAM,
    WORK,
)

import deadheat as dh
from deadheat.tuning import Ranking
from deadheat.tuning.candidates import candidates

pytest_plugins = ("rankings",)


def test_the_ranking_is_in_order(ranking: Ranking) -> None:
    delays = [choice.delay for choice in ranking]
    assert delays == sorted(delays)
    assert ranking.best.delay == min(delays)
    assert ranking.first(coded=False) == next(choice for choice in ranking if choice.family == "uncoded")
    assert [c.family for c in ranking.leaders] == list(dict.fromkeys(c.family for c in ranking))


def test_nothing_beats_the_frontier(ranking: Ranking) -> None:
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


def test_the_numbers_of_a_choice_hang_together(ranking: Ranking) -> None:
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


def test_exact_delays_are_the_forecasts(gradient: Ranking, slow: Ranking) -> None:
    for ranking, condition in ((gradient, None), (slow, SLOW)):
        for choice in ranking[::17]:
            if choice.interval is None:
                forecast = dh.forecast(CLUSTER, choice.split, STREAM, overhead=choice.overhead, condition=condition)
                assert forecast.delay == pytest.approx(choice.delay, rel=1e-9)


@pytest.mark.parametrize("name", SEARCHES)
def test_every_candidate_is_accounted_for(name: str, request: pytest.FixtureRequest) -> None:
    workload, search, _ = SEARCHES[name]
    ranking = request.getfixturevalue(name)
    assert len(ranking) + ranking.pruned + ranking.refused == len(list(candidates(workload, STREAM, search)))
    tried = {candidate.shape.family for candidate in candidates(workload, STREAM, search)}
    assert {choice.family for choice in ranking} == tried  # of every family at least one


def test_certificates_are_at_hand(ranking: Ranking) -> None:
    certificate = ranking.best.certificate
    assert certificate is not None
    assert certificate.missed == 0 or not ranking.best.shape.any_critical
    assert certificate.gain < 1e8


def test_the_same_seed_the_same_ranking() -> None:
    search = replace(FEW, families=("uncoded", "fractional repetition", "cyclic"), policies=("optimal",))
    first, again, other = (dh.tune(GRADIENT, CLUSTER, STREAM, search, seed=seed) for seed in (4, 4, 5))
    assert [(str(c), c.delay, c.interval) for c in first] == [(str(c), c.delay, c.interval) for c in again]
    theirs = {str(c): c.delay for c in other}
    for choice in first:
        assert (theirs[str(choice)] == choice.delay) == (choice.interval is None)


def test_progress_is_told() -> None:
    reports: list[tuple[int, int, float]] = []
    ranking = dh.tune(
        GRADIENT, CLUSTER, STREAM, replace(FEW, families=PLAIN), progress=lambda *report: reports.append(report)
    )
    assert [report[0] for report in reports] == list(range(1, len(ranking) + 1))
    assert {report[1] for report in reports} == {len(ranking) + ranking.pruned}
    best = [report[2] for report in reports]
    assert best == sorted(best, reverse=True)
    assert best[-1] == ranking.best.delay


# Why


def test_why_names_the_winner(ranking: Ranking) -> None:
    assert ranking.why.startswith(f"{ranking.best} wins with {ranking.best.delay:.4g} s")
    assert ("coding does not pay" in ranking.why) == (not ranking.best.coded)
    assert ranking.why.count("\n") == 0


def test_why_says_where_coding_does_not_pay() -> None:
    ranking = dh.tune(GRADIENT, CLUSTER, STREAM, dh.Search(PLAIN, (50, 200), (1.0, 1.02, 1.1)))
    assert ranking.best.family == "uncoded"
    code = ranking.first(coded=True)
    assert code is not None
    assert "coding does not pay here" in ranking.why
    assert f"{code}, does {code.work_factor:.3g} times and takes {code.delay:.4g} s" in ranking.why
    # The price of waiting for the last result, by its own law: workers that never wait could do so much more work in
    # the time of the best uncoded choice, and no more. (c_p does not grow with the work, so it is not a mere ratio.)
    assert f"less than {ranking.break_even:.3f} times" in ranking.why

    def genie(times: float) -> float:
        specs = [dh.CodeSpec(k, 1.0, times * WORK / k) for k in (50, 200)]
        return min(dh.theory.genie_bound(CLUSTER, spec, STREAM).iteration_mean for spec in specs)

    assert genie(ranking.break_even - 0.01) < ranking.best.iteration_mean < genie(ranking.break_even + 0.01)


def test_why_says_what_coding_saves(slow: Ranking) -> None:
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


def test_an_unstable_queue_without_code_is_said() -> None:
    busy = dh.Stream.poisson(0.1, 50)
    search = dh.Search(("uncoded", "fractional repetition"), (20,), (1.0, 2.0))
    ranking = dh.tune(GRADIENT, CLUSTER, busy, search, condition=dh.Switching(10, 0.2, 0.8))
    assert ranking.best.coded
    assert "no uncoded choice keeps the queue stable" in ranking.why
