"""What cannot be simulated is refused at the door, however it is simulated, as BadInput with the field's name."""

from __future__ import annotations

from typing import Any

import pytest

import deadheat as dh

CLUSTER = dh.Cluster.from_columns([1.0, 2.0, 0.5], [1.0, 1.0, 0.5])
SPLIT = dh.Split.of([2, 1, 5], dh.CodeSpec.of(6, 8))
STREAM = dh.Stream.poisson(0.08, 3)


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        ({"jobs": 0}, "jobs"),
        ({"jobs": 2.5}, "jobs"),
        ({"overhead": -1.0}, "overhead"),
        ({"purge": "later"}, "purge"),
        ({"schedule": "pul"}, "schedule"),
        ({"schedule": "pull", "timeline": True}, "schedule"),
        ({"schedule": "top-up", "purge": False}, "schedule"),
        ({"purge": "between-tasks", "timeline": True}, "timeline"),
        ({"arrivals": [1.0, 2.0]}, "arrivals"),
        ({"jobs": 2, "arrivals": [2.0, 1.0]}, "arrivals"),
        ({"jobs": 2, "arrivals": [1.0, float("inf")]}, "arrivals"),
        ({"seed": -1}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"seed": "one"}, "seed"),
    ],
    ids=str,
)
def test_impossible_wishes_name_their_field(wish: dict[str, Any], field: str) -> None:
    with pytest.raises(dh.BadInput) as caught:
        dh.simulate(CLUSTER, SPLIT, STREAM, **({"jobs": 10} | wish))
    assert caught.value.field == field


SETTINGS: list[dict[str, Any]] = [
    {},
    {"by_tasks": True},
    {"timeline": True},
    {"purge": "between-tasks"},
    {"schedule": "pull"},
    {"schedule": "top-up"},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("loads", [[4, 4], [2, 2, 2, 2]], ids=["too few", "too many"])
def test_a_split_of_another_cluster_is_refused(settings: dict[str, Any], loads: list[int]) -> None:
    with pytest.raises(dh.BadInput, match="3 workers"):
        dh.simulate(CLUSTER, dh.Split.of(loads, SPLIT.spec), STREAM, 10, seed=1, **settings)


def test_a_near_miss_is_guessed() -> None:
    with pytest.raises(dh.BadInput, match="did you mean 'pull'"):
        dh.simulate(CLUSTER, SPLIT, STREAM, 10, schedule="pul")


def test_a_timeline_of_an_iteration_that_cannot_end_is_refused() -> None:
    away = dh.Switching(float("inf"), 0.5, 0.5)
    with pytest.raises(dh.BadInput, match="fewer than K"):
        dh.simulate(CLUSTER, SPLIT, STREAM, 10, seed=1, timeline=True, condition=away)
