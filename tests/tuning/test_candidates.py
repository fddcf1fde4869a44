"""What the tuner tries, what it leaves out, and what it refuses; its pruning loses nothing."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from judged_choices import (
    CLUSTER,
    FEW,
    GRADIENT,
    LINEAR,
    PLAIN,
    PRODUCT,
    SEARCHES,
    STREAM,
    WORK,
    key,
)

import deadheat as dh
from deadheat.coding import FAMILIES, Code, Cost, Family, IllConditioned, Shape
from deadheat.model import Registry
from deadheat.tuning import Ranking
from deadheat.tuning import candidates as candidates_module
from deadheat.tuning.candidates import candidates
from deadheat.tuning.judge import Judge

pytest_plugins = ("rankings",)

tune_module = importlib.import_module("deadheat.tuning.tune")


def test_every_candidate_is_tried_once() -> None:
    search = dh.Search(
        None, (10, 10, 20), (1.0, 1.2, 1.2, 1.5), ("optimal", "fastest", "optimal"), ("static", "static")
    )
    seen = [key(candidate) for candidate in candidates(GRADIENT, STREAM, search)]
    assert len(set(seen)) == len(seen)


def test_approximate_codes_are_tried_only_where_named(gradient: Ranking) -> None:
    inexact = {
        name for name, family in FAMILIES.items() if not all(s.exact for s in family.shapes(family.kinds[0], 10, 15))
    }
    assert inexact == {"bernoulli"}
    assert "bernoulli" not in {choice.family for choice in gradient}
    named = dh.tune(GRADIENT, CLUSTER, STREAM, replace(FEW, families=("uncoded", "bernoulli")))
    assert "bernoulli" in {choice.family for choice in named}


def test_a_code_without_a_task_to_spare_is_none(ranking: Ranking) -> None:
    for choice in ranking:
        assert choice.coded == (choice.spec.total > choice.spec.critical)


def test_schedules_are_tried_where_they_make_sense() -> None:
    """Shared chunks and coverage keep tasks where they were planned; copies are for codes and for plain parts."""
    schedules = ("static", "pull", "top-up", "duplicates", "speculative")
    search = dh.Search(("uncoded", "cyclic", "replication"), (10,), (1.0, 1.2, 2.0), schedules=schedules)
    tried = list(candidates(GRADIENT, STREAM, search))
    for candidate in tried:
        if candidate.schedule != "static":
            assert candidate.shape.any_critical
            assert candidate.spec.shared_chunks == 0
            assert candidate.policy == "optimal"
    for family in ("uncoded", "cyclic"):
        assert {candidate.schedule for candidate in tried if candidate.shape.family == family} == set(schedules)
    assert {candidate.schedule for candidate in tried if candidate.shape.family == "replication"} == {"static"}


def test_a_policy_that_does_not_fit_does_not_empty_the_search() -> None:
    pulled = dh.tune(
        GRADIENT, CLUSTER, STREAM, dh.Search(("uncoded",), (10,), (1.0,), ("fastest", "optimal"), ("pull",))
    )
    assert [choice.policy for choice in pulled] == ["optimal"]
    copies = dh.tune(GRADIENT, CLUSTER, STREAM, dh.Search(("replication",), (5,), (2.0,), ("fastest",)))
    assert [choice.policy for choice in copies] == ["optimal"]


# Bounds and pruning


@pytest.mark.parametrize("name", SEARCHES)
def test_no_choice_is_below_its_bound(name: str, request: pytest.FixtureRequest) -> None:
    workload, search, condition = SEARCHES[name]
    judge = Judge(CLUSTER, STREAM, 1.0, condition, 0)
    bounds = {key(candidate): judge.least_delay(candidate) for candidate in candidates(workload, STREAM, search)}
    wrong = [
        f"{choice}: {choice.delay:.4g} < {bounds[key(choice)]:.4g}"
        for choice in request.getfixturevalue(name)
        if (choice.delay * (1 + 1e-7) if choice.interval is None else choice.interval.high) < bounds[key(choice)]
    ]
    assert wrong == []


@pytest.mark.parametrize("workload", [GRADIENT, LINEAR, PRODUCT], ids=["gradient", "linear", "product"])
def test_pruning_does_not_lose_the_winner(workload: dh.Workload, monkeypatch: pytest.MonkeyPatch) -> None:
    pruned = dh.tune(workload, CLUSTER, STREAM, FEW)
    monkeypatch.setattr(tune_module, "HOPELESS", math.inf)
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
        best = dh.tune(GRADIENT, heavy, stream, search).best
        assert best.delay == pytest.approx(dh.forecast(heavy, best.split, stream).delay, rel=1e-9)


# Capacity


def test_capacities_are_respected() -> None:
    most = np.array([0.3, 0.2, 1.0, 3.0, 3.0]) * WORK
    capped = dh.Cluster(dh.Worker(w.mean, w.std, w.comm, capacity=room) for w, room in zip(CLUSTER, most, strict=True))
    free, tight = (dh.tune(GRADIENT, c, STREAM, replace(FEW, families=PLAIN)) for c in (CLUSTER, capped))
    for choice in tight:
        held = np.where(choice.split.loads > 0, choice.split.loads + choice.spec.shared_chunks, 0) * choice.spec.work
        assert (held <= most * (1 + 1e-9)).all()
    assert tight.best.delay > free.best.delay


def test_what_does_not_fit_is_left_out() -> None:
    # 10 parts of W/10 fit into five times 0.3 W; 12 tasks of W/4 do not, and the search goes on without them.
    capped = dh.Cluster(dh.Worker(w.mean, w.std, w.comm, capacity=0.3 * WORK) for w in CLUSTER)
    ranking = dh.tune(GRADIENT, capped, STREAM, FEW)
    assert "uncoded" in {choice.family for choice in ranking}
    for choice in ranking:
        assert (choice.split.loads * choice.spec.work <= 0.3 * WORK * (1 + 1e-9)).all()
    none = dh.Cluster(dh.Worker(w.mean, w.std, w.comm, capacity=0.1 * WORK) for w in CLUSTER)
    with pytest.raises(dh.BadInput, match="capacity"):
        dh.tune(GRADIENT, none, STREAM, FEW)


# Codes that cannot be trusted


def _magic(kind: str, critical: int, total: int) -> Iterator[Shape]:
    def refuse() -> Code:
        raise IllConditioned("magic", range(critical), 1e20, 1e8, "do not trust it")

    cost = Cost(0.1 / critical, 0.1 / critical)
    yield Shape(family="magic", kind=kind, critical=critical, total=critical + 1, cost=cost, build=refuse)


def registry(*families: Family) -> Registry[Family]:
    """These families and no others."""
    return Registry(what="family of codes", field="family", group="none", builtin={f.name: f for f in families})


def test_a_winner_that_loses_its_digits_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    magic = Family("magic", ("gradient",), shapes=_magic)
    monkeypatch.setattr(candidates_module, "FAMILIES", registry(FAMILIES["uncoded"], magic))
    search = dh.Search(critical=(10, 20), redundancy=(1.0,))
    ranking = dh.tune(GRADIENT, CLUSTER, STREAM, search)
    assert ranking.refused == 4
    assert ranking.best.family == "uncoded"
    assert len(ranking) + ranking.pruned + ranking.refused == len(list(candidates(GRADIENT, STREAM, search)))
    monkeypatch.setattr(candidates_module, "FAMILIES", registry(magic))
    with pytest.raises(dh.BadInput, match="would lose its digits"):
        dh.tune(GRADIENT, CLUSTER, STREAM, search)


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
