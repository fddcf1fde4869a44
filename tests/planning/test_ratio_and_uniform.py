"""Splits that balance nothing: in a given ratio, or the same for all."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.paper import worked_example as paper

THREE = dh.Cluster.from_columns([1.0, 2.0, 3.0], 1.0)


def test_a_ratio_is_followed() -> None:
    split = dh.split(THREE, dh.CodeSpec(12), ratio=[3, 2, 1])
    assert split.loads.tolist() == [6, 4, 2]
    assert split.policy == "ratio"
    assert math.isnan(split.theta)


def test_a_ratio_that_does_not_divide_is_rounded() -> None:
    assert dh.split(THREE, dh.CodeSpec(10), ratio=[3, 2, 1]).loads.tolist() == [5, 3, 2]
    assert dh.split(THREE, dh.CodeSpec(10), ratio=[0.3, 0.2, 0.1]).loads.tolist() == [5, 3, 2]


def test_a_zero_in_the_ratio_is_nothing() -> None:
    assert dh.split(THREE, dh.CodeSpec(10), ratio=[0, 1, 0]).loads.tolist() == [0, 10, 0]


def test_a_ratio_respects_capacity() -> None:
    cluster = dh.Cluster.from_columns([1.0, 1.0, 1.0], 1.0, capacity=[4.0, np.inf, np.inf])
    assert dh.split(cluster, dh.CodeSpec(13), ratio=[3, 2, 1]).loads.tolist() == [4, 6, 3]


def test_a_ratio_must_not_starve_the_total() -> None:
    cluster = dh.Cluster.from_columns([1.0, 1.0, 1.0], 1.0, capacity=[4.0, np.inf, np.inf])
    with pytest.raises(dh.BadInput, match="4 of 13 tasks"):
        dh.split(cluster, dh.CodeSpec(13), ratio=[1, 0, 0])


@pytest.mark.parametrize(
    ("ratio", "field"),
    [
        ([3, 2], "ratio"),
        ([0, 0, 0], "ratio"),
        ([3, -1, 1], "ratio[1]"),
        ([3, 2, math.nan], "ratio[2]"),
        ([math.inf, 2, 1], "ratio[0]"),
        (["3", 2, 1], "ratio[0]"),
        ([True, 2, 1], "ratio[0]"),
    ],
)
def test_a_ratio_without_sense_is_refused(ratio: list[Any], field: str) -> None:
    with pytest.raises(dh.BadInput) as caught:
        dh.split(THREE, dh.CodeSpec(6), ratio=ratio)
    assert caught.value.field == field


def test_uniform_gives_the_same_to_all() -> None:
    split = dh.uniform(paper.cluster(), paper.spec())
    assert split.loads.tolist() == [11] * 5
    assert split.policy == "uniform"
    assert math.isnan(split.theta)


def test_uniform_gives_what_is_left_to_the_earlier_workers() -> None:
    assert dh.uniform(THREE, dh.CodeSpec(11)).loads.tolist() == [4, 4, 3]
    assert dh.uniform(THREE, dh.CodeSpec(2)).loads.tolist() == [1, 1, 0]


def test_uniform_fills_up_those_who_can_hold_more() -> None:
    cluster = dh.Cluster.from_columns([1.0, 1.0, 1.0], 1.0, capacity=[1.0, 3.0, np.inf])
    assert dh.uniform(cluster, dh.CodeSpec(12)).loads.tolist() == [1, 3, 8]
