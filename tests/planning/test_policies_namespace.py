"""`dh.policies`: every split policy, and what chooses between them, in one place."""

from __future__ import annotations

import deadheat as dh
from deadheat import planning

NAMES = {
    "Moments", "Quantile", "Recruitment", "Unreachable", "choose", "fastest", "hcmm", "in_ratio", "mismatch",
    "proportional", "recruit", "split", "uniform",
}  # fmt: skip


def test_it_has_the_names_of_its_room() -> None:
    assert set(dh.policies.__all__) == NAMES | {"POLICIES", "Policy", "policy", "register"}
    for name in NAMES:
        assert getattr(dh.policies, name) is getattr(planning, name), name
    assert {dh.policies.POLICIES[name] for name in ("optimal", "fastest")} == {dh.split, dh.fastest}
