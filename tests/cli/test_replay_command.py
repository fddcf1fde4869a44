"""`deadheat run --events` and `deadheat replay`: a run's events give a new master the same commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

SCENARIO = """
[stream]
rate = 20.0
iterations = 4
jobs = 2
[code]
critical = 4
redundancy = 1.5
work = 1.0
[[workers]]
name = "slow"
mean = 4e-3
std = 1e-3
[[workers]]
name = "fast"
mean = 2e-3
std = 1e-3
"""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The events of a short run on two local workers."""
    from deadheat.cli import main

    folder = tmp_path_factory.mktemp("run")
    (folder / "two.toml").write_text(SCENARIO)
    with pytest.raises(SystemExit) as left:
        main(["run", str(folder / "two.toml"), "--emulate", "--events", str(folder / "run.events")])
    assert left.value.code == 0
    return folder / "run.events"


def test_the_master_does_the_same(deadheat: Any, log: Path) -> None:
    code, out, err = deadheat("replay", log)
    assert (code, err) == (0, "")
    records = [json.loads(line) for line in log.read_text().splitlines()]
    kinds = [record["kind"] for record in records if "kind" in record]
    commands = sum(kind in {"Assign", "Resolve", "Purge", "Deliver", "Abandon", "Dismiss"} for kind in kinds)
    counts = f"{len(kinds) - commands} events, {commands} commands, 2 jobs delivered"
    assert out == f"{counts}: the master does the same\n"


def test_json(deadheat: Any, log: Path) -> None:
    code, out, err = deadheat("replay", log, "--json")
    assert (code, err) == (0, "")
    made = json.loads(out)
    assert list(made) == ["version", "events", "commands", "jobs", "same", "difference"]
    assert (made["jobs"], made["same"], made["difference"]) == (2, True, None)
    assert made["commands"] >= 2 * 4 * 2  # at least one assignment a worker, in each of 4 iterations of 2 jobs
    assert made["events"] > made["commands"] / 2


def test_a_run_that_did_something_else_is_found_out(deadheat: Any, log: Path, tmp_path: Path) -> None:
    """As if another version of the master had given out another task."""
    lines = log.read_text().splitlines(keepends=True)
    place = next(n for n, line in enumerate(lines) if '"kind": "Assign"' in line)
    record = json.loads(lines[place])
    record["tasks"] = [5]
    lines[place] = json.dumps(record) + "\n"
    other = tmp_path / "other.events"
    other.write_text("".join(lines))
    code, out, err = deadheat("replay", other)
    assert (code, err) == (1, "")
    assert out.startswith(f"line {place + 1}: the run did Assign(")
    assert "the master says Assign(" in out
    code, out, _ = deadheat("replay", other, "--json")
    made = json.loads(out)
    assert code == 1
    assert (made["same"], made["jobs"]) == (False, 0)
    assert made["difference"].startswith(f"line {place + 1}: ")


def test_a_log_that_was_cut_off_is_replayed_as_far_as_it_goes(deadheat: Any, log: Path, tmp_path: Path) -> None:
    lines = log.read_text().splitlines(keepends=True)
    half = tmp_path / "half.events"
    half.write_text("".join(lines[: len(lines) // 2]) + lines[len(lines) // 2][:10])
    code, out, err = deadheat("replay", half)
    assert (code, err) == (0, "")
    assert "the master does the same" in out


@pytest.mark.parametrize(
    ("content", "exit_code", "words"),
    [
        (None, 2, "EVENTS = "),
        ("a,b\n1,2\n", 1, "line 1: not JSON"),
        ("{}\n", 1, "line 1: not an event log of format 1"),
        ("[1]\n", 1, "line 1: not a JSON object"),
        ("", 1, "line 1: not an event log"),
    ],
    ids=["no file", "a table", "another object", "a list", "empty"],
)
def test_files_that_are_no_log_are_one_line(
    deadheat: Any, tmp_path: Path, content: str | None, exit_code: int, words: str
) -> None:
    file = tmp_path / "x.events"
    if content is not None:
        file.write_text(content)
    code, out, err = deadheat("replay", file)
    assert (code, out) == (exit_code, "")
    assert err.startswith("deadheat: ")
    assert words in err
    assert err.count("\n") == 1
