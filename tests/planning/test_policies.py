"""Policies by name."""

from __future__ import annotations

import pytest

import deadheat as dh
from deadheat.paper import worked_example as paper
from deadheat.planning import POLICIES, policy


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_gives_out_all_tasks_and_tells_its_name(name: str) -> None:
    split = policy(name)(paper.cluster(), paper.spec(), 1.0)
    assert split.loads.sum() == 55
    assert split.policy == name


@pytest.mark.parametrize("name", ["optimall", "", None, 3])
def test_an_unknown_policy_is_refused(name: object) -> None:
    with pytest.raises(dh.BadInput) as caught:
        policy(name)
    assert caught.value.field == "split.policy"


def test_a_misspelt_policy_names_the_nearest() -> None:
    with pytest.raises(dh.BadInput, match="did you mean 'uniform'"):
        policy("unifrom")
