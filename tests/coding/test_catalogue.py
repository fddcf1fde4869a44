"""The catalogue: every family says what it costs and where it comes from, and others can be registered."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib import metadata

import pytest

import deadheat
from deadheat.coding import FAMILIES, KINDS, WAITING, Code, Family, Shape, codes, family, register
from deadheat.coding.catalogue import BUILT_IN
from deadheat.errors import BadInput
from deadheat.model import Registry


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


def test_a_family_is_in_a_file_named_after_its_constructor() -> None:
    for module in BUILT_IN:
        name = module.__name__.rpartition(".")[2]
        assert getattr(codes, name).__module__ == module.__name__


def wide(kind: str, critical: int, total: int) -> Iterator[Shape]:
    build = partial(codes.cyclic, total, total - critical)
    cost = build().cost
    yield Shape(family="wide", kind=kind, critical=critical, total=total, cost=cost, build=build)


WIDE = Family(name="wide", kinds=("gradient",), shapes=wide)


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry[Family]:
    """A copy of the catalogue, which the other tests do not see."""
    copy = Registry(FAMILIES.what, FAMILIES.field, group=FAMILIES.group, builtin=dict(FAMILIES))
    monkeypatch.setattr("deadheat.coding.catalogue.FAMILIES", copy)
    return copy


def test_a_registered_family_is_found(registry: Registry[Family]) -> None:
    codes.register(WIDE)
    assert family("wide") is WIDE
    assert list(registry)[-1] == "wide"
    (shape,) = family("wide").shapes("gradient", 5, 7)
    assert isinstance(shape.build(), Code)
    with pytest.raises(BadInput, match="of this name"):
        register(WIDE)
    with pytest.raises(BadInput, match="did you mean 'wide'"):
        family("wyde")


@pytest.mark.parametrize("wrong", [None, "cyclic", codes.cyclic, codes.cyclic(5, 1)])
def test_what_is_no_family_is_not_registered(wrong: object) -> None:
    with pytest.raises(BadInput, match="not a family of codes"):
        register(wrong)  # type: ignore[arg-type]


@pytest.mark.usefixtures("registry")
def test_a_family_for_unknown_work_is_not_registered() -> None:
    with pytest.raises(BadInput, match="no such kind of work as 'gradiant'; did you mean 'gradient'"):
        register(Family(name="wide", kinds=("gradiant",)))
    with pytest.raises(BadInput, match="there is a family of codes of this name"):
        register(Family(name="cyclic", kinds=("gradient",)))


@pytest.mark.usefixtures("registry")
def test_a_family_of_an_installed_package_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = metadata.EntryPoint("wide", f"{__name__}:WIDE", "deadheat.codes")
    monkeypatch.setattr(metadata, "entry_points", lambda group: [entry] if group == entry.group else [])
    assert family("wide") is WIDE


def test_a_family_that_no_workload_asks_for_offers_no_shapes() -> None:
    assert list(FAMILIES["lagrange"].shapes("function", 5, 7)) == []
    assert list(Family(name="bare", kinds=("linear",)).shapes("linear", 5, 7)) == []
