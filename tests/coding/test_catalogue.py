"""The catalogue: every constructor belongs to a family, every family says what it costs and where it comes from."""

from __future__ import annotations

import pytest

import deadheat
from deadheat.coding import FAMILIES, WAITING, codes, family
from deadheat.coding.shape import KINDS
from deadheat.errors import BadInput


def test_every_family_is_complete() -> None:
    for name, line in FAMILIES.items():
        assert line.name == name
        assert line.kinds
        assert set(line.kinds) <= set(KINDS)
        assert all((line.title, line.work, line.factor, line.enough, line.notes))


def test_every_family_but_the_obvious_ones_names_its_source() -> None:
    assert {name for name, line in FAMILIES.items() if not line.source} == {"uncoded", "replication"}


def test_twenty_families_and_those_that_wait_are_not_among_them() -> None:
    assert len(FAMILIES) == 20
    assert not set(WAITING) & set(FAMILIES)


def test_every_constructor_is_documented_and_public() -> None:
    assert deadheat.codes is codes
    for name in codes.__all__:
        assert getattr(codes, name).__doc__


def test_a_family_is_found_by_its_name() -> None:
    assert family("cyclic") is FAMILIES["cyclic"]


@pytest.mark.parametrize(
    ("wrong", "meant"), [("cyclc", "cyclic"), ("Reed-Salomon", "Reed-Solomon"), ("zzz", "known: Reed-Solomon")]
)
def test_a_misspelt_family_is_answered_with_the_nearest(wrong: str, meant: str) -> None:
    with pytest.raises(BadInput, match=meant):
        family(wrong)


@pytest.mark.parametrize("wrong", [None, 3, ["cyclic"]])
def test_what_is_no_name_is_no_family(wrong: object) -> None:
    with pytest.raises(BadInput, match="no such family"):
        family(wrong)
