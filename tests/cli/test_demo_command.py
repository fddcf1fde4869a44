"""`deadheat demo`, the first thing that anybody sees: three ways, a death, and what README says of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def test_three_ways_and_a_death(deadheat: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """In JSON mode the text goes to standard error: one run shows both. Two jobs instead of three save some seconds."""
    monkeypatch.setattr(sys.modules["deadheat.cli.commands.demo"], "JOBS", 2)
    code, said, err = deadheat("demo", "--json")
    assert code == 0, err
    made = json.loads(said)
    even = made["ways"][0]
    assert [way["name"] for way in made["ways"]] == ["even split", "Theorem 2", "tuner's choice"]
    for way in made["ways"]:
        assert way["jobs"] == 2
        assert way["failed"] == 0
        assert way["emulated"] is True
        assert way["difference_from_serial"] < 1e-9
        assert set(way["compared"]) == {"iteration", "service", "delay"}
        assert len(way["workers"]) == 5
    assert even["loads"] == [11] * 5
    forecasts = [way["compared"]["iteration"]["forecast"] for way in made["ways"]]
    assert forecasts == sorted(forecasts, reverse=True)
    killed = made["killed"]
    assert killed["worker"] == "w2"
    assert killed["error"] is None
    assert (killed["at_iteration"], killed["iterations"]) == (10, 20)
    assert killed["difference_from_serial"] < 1e-9
    lines = {" ".join(line.split()) for line in err.splitlines()}
    quoted = [line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith(("w1 ", "w4 "))]
    assert len(quoted) == 2
    for line in quoted:
        assert " ".join(line.split()) in lines, line
