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


def test_a_registered_policy_gives_its_name_to_its_split() -> None:
    def first_only(cluster: dh.Cluster, spec: dh.CodeSpec, gamma: float = 1.0) -> dh.Split:
        return dh.Split.of([spec.total] + [0] * (len(cluster) - 1), spec, gamma)

    dh.policies.register("first only", first_only)
    content = {
        "stream": {"rate": 0.01, "iterations": 2},
        "code": {"critical": 2},
        "split": {"policy": "first only"},
        "workers": [{"mean": 1.0, "std": 1.0}, {"mean": 1.0, "std": 1.0}],
    }
    made = dh.plan(dh.Scenario.from_dict(content))
    assert (made.split.policy, made.split.loads.tolist()) == ("first only", [2, 0])
