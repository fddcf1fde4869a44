"""Algorithm 1: the code whose optimal split costs least."""

from __future__ import annotations

import math

import pytest

import deadheat as dh
from deadheat.paper import worked_example as paper

WORK = 50 * 2_827_440.0  # K C is kept, as in section VI
SPECS = [dh.CodeSpec(k, 1.2, WORK / k) for k in (10, 25, 50, 75, 100)]


def test_the_least_mismatch_wins() -> None:
    cluster = paper.cluster()
    costs = [dh.mismatch(cluster, dh.split(cluster, spec)) for spec in SPECS]
    chosen = dh.choose(cluster, SPECS)
    assert chosen.spec is SPECS[costs.index(min(costs))]
    assert chosen.loads.tolist() == dh.split(cluster, chosen.spec).loads.tolist()
    assert len(set(costs)) == len(SPECS)


def test_any_iterable_of_specs_will_do() -> None:
    assert dh.choose(paper.cluster(), (spec for spec in SPECS)).spec == dh.choose(paper.cluster(), SPECS).spec


def test_gamma_reaches_the_splits() -> None:
    chosen = dh.choose(paper.cluster(), SPECS, gamma=0.25)
    assert chosen.gamma == 0.25
    assert chosen.theta == dh.split(paper.cluster(), chosen.spec, 0.25).theta


def test_any_cost_function_decides() -> None:
    assert dh.choose(paper.cluster(), SPECS, cost=lambda _, split: -split.spec.critical).spec is SPECS[-1]
    assert dh.choose(paper.cluster(), SPECS, cost=lambda _, split: split.spec.critical).spec is SPECS[0]


def test_a_forecast_can_be_the_cost() -> None:
    cluster, stream = paper.cluster(), paper.stream()
    delays = {spec: dh.forecast(cluster, dh.split(cluster, spec), stream).delay for spec in SPECS}
    chosen = dh.choose(cluster, SPECS, cost=lambda c, s: dh.forecast(c, s, stream).delay)
    assert delays[chosen.spec] == min(delays.values())


def test_the_first_of_equals_wins() -> None:
    assert dh.choose(paper.cluster(), SPECS, cost=lambda *_: 1.0).spec is SPECS[0]
    assert dh.choose(paper.cluster(), SPECS, cost=lambda *_: math.inf).spec is SPECS[0]  # all unstable


def test_nothing_to_choose_from_is_refused() -> None:
    with pytest.raises(dh.BadInput) as caught:
        dh.choose(paper.cluster(), [])
    assert caught.value.field == "specs"


def test_counting_only_active_workers_can_change_the_winner() -> None:
    # Two near workers and a far one that joins only in large codes, where it is badly quantised: the idle 0 of the
    # small code counts as mismatch in the text's formula, and not otherwise.
    cluster = dh.Cluster.from_columns([1.0, 1.0, 1.0], 0.0, [0.0, 0.0, 4.5])
    specs = [dh.CodeSpec(8), dh.CodeSpec(11)]
    everyone = dh.choose(cluster, specs, gamma=0.0)
    active = dh.choose(cluster, specs, gamma=0.0, cost=lambda c, s: dh.mismatch(c, s, active_only=True))
    assert everyone.spec is specs[1]
    assert active.spec is specs[0]
