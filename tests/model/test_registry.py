"""Registries: things by name, the user's own among them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import deadheat as dh
from deadheat.model import Registry, laws
from deadheat.planning import policies

GROUP = "deadheat.test_colours"


def colours() -> Registry[int]:
    return Registry(what="colour", field="paint.colour", group=GROUP, builtin={"red": 1, "green": 2})


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with entry points, installed as pip would: its module and its dist-info on sys.path."""
    info = tmp_path / "paints-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: paints\nVersion: 1.0\n")
    (tmp_path / "deadheat_test_paints.py").write_text("BLUE = 3\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "deadheat_test_paints", raising=False)
    return info / "entry_points.txt"


def test_a_registered_thing_is_found() -> None:
    registry = colours()
    registry.register("blue", 3)
    assert registry.find("blue") == registry["blue"] == 3
    assert list(registry) == ["red", "green", "blue"]
    assert len(registry) == 3
    assert "blue" in registry
    assert "black" not in registry


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(dh.BadInput, match=r"paint.colour = 'gren': no such colour; did you mean 'green'\?"):
        colours().find("gren")
    with pytest.raises(dh.BadInput, match=r"wall = 7: no such colour; known: green, red"):
        colours().find(7, "wall")
    with pytest.raises(KeyError):
        colours()["gren"]


@pytest.mark.parametrize("name", ["", "red", 7])
def test_an_empty_or_taken_name_is_refused(name: str) -> None:
    registry = colours()
    with pytest.raises(dh.BadInput, match="name"):
        registry.register(name, 3)
    assert dict(registry) == {"red": 1, "green": 2}


def test_entry_points_are_read_when_a_name_is_missing(installed: Path) -> None:
    installed.write_text(f"[{GROUP}]\nblue = deadheat_test_paints:BLUE\n")
    registry = colours()
    assert registry.find("red") == 1
    assert "deadheat_test_paints" not in sys.modules  # not before it is needed
    assert registry.find("blue") == 3
    assert list(colours()) == ["red", "green", "blue"]  # listing reads them too


def test_a_broken_entry_point_is_a_warning(installed: Path) -> None:
    installed.write_text(f"[{GROUP}]\nblack = no_such_module:BLACK\nblue = deadheat_test_paints:BLUE\n")
    with pytest.warns(RuntimeWarning, match="'black' .* cannot be loaded"):
        assert set(colours()) == {"red", "green", "blue"}


def test_an_entry_point_does_not_replace_what_is_there(installed: Path) -> None:
    installed.write_text(f"[{GROUP}]\nred = deadheat_test_paints:BLUE\n")
    registry = colours()
    with pytest.warns(RuntimeWarning, match="'red' .* is ignored"):
        assert len(registry) == 2
    assert registry["red"] == 1


def test_a_law_of_ones_own() -> None:
    laws.register("test-half", lambda mean, std: laws.Gamma.from_moments(mean, std / 2))
    try:
        assert dh.Worker(2.0, 1.0, law="test-half").unit_law().std() == pytest.approx(0.5)
    finally:
        del laws.FAMILIES._things["test-half"]


def test_a_policy_of_ones_own() -> None:
    def everything_to_the_first(cluster: dh.Cluster, spec: dh.CodeSpec, gamma: float) -> dh.Split:
        return dh.Split.of([spec.total] + [0] * (len(cluster) - 1), spec, gamma)

    policies.register("test-first", everything_to_the_first)
    try:
        split = policies.policy("test-first")(dh.Cluster([dh.Worker(1, 1), dh.Worker(1, 1)]), dh.CodeSpec(3), 1.0)
        assert split.loads.tolist() == [3, 0]
    finally:
        del policies.POLICIES._things["test-first"]
