"""`deadheat simulate`: its JSON, its files, its complaints."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import deadheat as dh
from deadheat.simulation import replicate

EXAMPLE = Path(__file__).parents[2] / "examples" / "worked-example.toml"
SHORT = ("--jobs", 60, "--replications", 5)


def simulate(deadheat: Any, *arguments: object) -> dict[str, Any]:
    code, out, err = deadheat("simulate", EXAMPLE, *arguments, "--json")
    assert (code, err) == (0, "")
    content: dict[str, Any] = json.loads(out)
    return content


def test_json_keeps_the_contract(deadheat: Any) -> None:
    made = simulate(deadheat, *SHORT, "--seed", 3)
    assert {"mean", "ci95", "p50", "p95", "p99"} <= set(made["delay"])
    low, high = made["delay"]["ci95"]
    assert low < made["delay"]["mean"] < high
    assert made["delay"]["p50"] < made["delay"]["p95"] < made["delay"]["p99"]
    assert made["service"]["mean"] == pytest.approx(37.95, abs=0.3)
    assert (made["jobs"], made["replications"], made["seed"]) == (60, 5, 3)


def test_the_numbers_are_the_librarys(deadheat: Any) -> None:
    from deadheat.paper import worked_example as paper

    made = simulate(deadheat, *SHORT, "--seed", 3)
    split = dh.split(paper.cluster(), paper.spec())
    sample = replicate(lambda one: dh.simulate(paper.cluster(), split, paper.stream(), 60, seed=one), 3, 5)
    assert made["delay"]["mean"] == pytest.approx(sample.delay.mean, rel=1e-6)  # means in the file are of 17 digits
    assert made["delay"]["p99"] == pytest.approx(sample.p99, rel=1e-6)
    expected = dh.forecast(paper.cluster(), split, paper.stream()).draw(60)
    assert made["forecast"]["mean"] == pytest.approx(expected.mean, rel=1e-6)


def test_the_scenarios_jobs_and_the_precision_wanted(deadheat: Any) -> None:
    made = simulate(deadheat, "--seed", 3, "--precision", "2%")
    assert made["jobs"] == 1000
    assert made["replications"] >= 10
    low, high = made["delay"]["ci95"]
    assert (high - low) / 2 <= 0.02 * made["delay"]["mean"]


def test_the_same_seed_the_same_output_from_two_processes(deadheat: Any) -> None:
    command = [sys.executable, "-m", "deadheat", "simulate", str(EXAMPLE), *map(str, SHORT), "--json", "--seed", "5"]
    first, again = (subprocess.run(command, capture_output=True, check=True).stdout for _ in range(2))
    assert first == again
    assert json.loads(first) == simulate(deadheat, *SHORT, "--seed", 5)
    assert json.loads(first)["delay"] != simulate(deadheat, *SHORT, "--seed", 6)["delay"]


def test_the_seed_that_was_taken_gives_the_run_again(deadheat: Any) -> None:
    made = simulate(deadheat, *SHORT)
    assert simulate(deadheat, *SHORT, "--seed", made["seed"]) == made


@pytest.mark.parametrize(
    ("options", "service"),
    [
        (["--policy", "uniform"], 83.0),
        (["--purge", "never"], 52.5),
        (["--purge", "between-tasks"], None),
        (["--schedule", "top-up"], None),
        (["--schedule", "pull"], None),
    ],
    ids=str,
)
def test_options_reach_the_simulator(deadheat: Any, options: list[str], service: float | None) -> None:
    short = ("--jobs", 10, "--replications", 2) if service is None else SHORT  # followed event by event
    made, usual = simulate(deadheat, *short, "--seed", 3, *options), simulate(deadheat, *short, "--seed", 3)
    assert made["service"]["mean"] != usual["service"]["mean"]
    if service is None:
        assert made["forecast"] is None  # theory has none
    else:
        assert made["forecast"]["mean"] > usual["forecast"]["mean"]
        assert made["service"]["mean"] > 1.1 * usual["service"]["mean"]


def test_a_table_for_people(deadheat: Any) -> None:
    code, out, err = deadheat("simulate", EXAMPLE, *SHORT, "--seed", 3)
    assert (code, err) == (0, "")
    assert "mean delay" in out
    assert "5 independent runs of 60 jobs" in out
    assert "seed 3" in out
    assert "\x1b" not in out


def test_one_run_to_a_file(deadheat: Any, tmp_path: Path) -> None:
    for ending in ("csv", "json", "parquet"):
        simulate(deadheat, *SHORT, "--seed", 3, "--out", tmp_path / f"jobs.{ending}")
    with (tmp_path / "jobs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 60
    assert list(rows[0]) == ["job", "arrival", "start", "end", "delay", "service", "wait"]
    about = json.loads((tmp_path / "jobs.json").read_text())["about"]
    assert (about["seed"], about["version"]) == (3, dh.__version__)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["jobs.csv", "jobs.json", "jobs.parquet"]


def test_one_runs_tasks_to_a_file(deadheat: Any, tmp_path: Path) -> None:
    options = ("--jobs", 4, "--replications", 2, "--seed", 3)
    simulate(deadheat, *options, "--timeline", tmp_path / "tasks.json", "--out", tmp_path / "jobs.csv")
    events = json.loads((tmp_path / "tasks.json").read_text())["traceEvents"]
    assert sum(e.get("cat") == "task" for e in events) == 4 * 50 * 50  # K in each iteration
    assert {e["args"]["name"] for e in events if e["ph"] == "M"} == {"w1", "w2", "w3", "w4", "w5"}
    with (tmp_path / "jobs.csv").open(newline="") as file:
        last = list(csv.DictReader(file))[-1]
    assert max(e["ts"] + e["dur"] for e in events if e["ph"] == "X") == pytest.approx(float(last["end"]) * 1e6)
    simulate(deadheat, *options, "--timeline", tmp_path / "tasks.csv")
    with (tmp_path / "tasks.csv").open(newline="") as file:
        assert sum(row["done"] == "True" for row in csv.DictReader(file)) == 4 * 50 * 50


@pytest.mark.parametrize(
    "options",
    [
        ["--jobs", "0"],
        ["--jobs", "many"],
        ["--replications", "0"],
        ["--precision", "0"],
        ["--precision", "narrow"],
        ["--precision", "-1%"],
        ["--seed", "-1"],
        ["--seed", "1.5"],
        ["--policy", "best"],
        ["--schedule", "pul"],
        ["--purge", "sometimes"],
        ["--schedule", "pull", "--purge", "never"],
        ["--out", "jobs.xlsx"],
        ["--out", "no/such/folder/jobs.csv"],
        ["--out", str(EXAMPLE / "jobs.csv")],
        ["--timeline", "tasks.xlsx"],
        ["--timeline", "no/such/folder/tasks.json"],
        ["--timeline", "tasks.json", "--schedule", "pull"],
        ["--timeline", "tasks.json", "--purge", "between-tasks"],
        ["--unknown"],
    ],
    ids=" ".join,
)
def test_bad_options_are_one_line_and_exit_code_2(
    deadheat: Any, options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = deadheat("simulate", EXAMPLE, "--jobs", 4, "--replications", 2, *options)
    assert code == 2
    assert out == ""
    assert err.startswith("deadheat: ")
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (["--timeline", "no/t.json"], "--timeline = 'no/t.json': its folder does not exist"),
        (["--schedule", "pul"], "--schedule = 'pul': no such schedule; did you mean 'pull'?"),
        (["--policy=optmal"], "--policy = 'optmal': no such policy; did you mean 'optimal'?"),
        (["--purge", "nevr"], "--purge = 'nevr': no such way to purge; did you mean 'never'?"),
        (["--jobs", "0"], "--jobs = 0: must be at least 1"),
        (["--seed", "-1"], "--seed = -1: "),
        (["--schedule", "pull", "--purge", "never"], "--schedule = "),
    ],
    ids=str,
)
def test_a_complaint_names_the_option_that_was_typed(deadheat: Any, typed: list[str], words: str) -> None:
    _, _, err = deadheat("simulate", EXAMPLE, "--jobs", 4, "--replications", 2, *typed)
    assert err.startswith(f"deadheat: {words}")


def test_a_simulation_needs_no_bounds(deadheat: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def wasted(*arguments: object, **options: object) -> None:
        raise AssertionError("a bound is computed that nobody sees")

    for name in ("lower_bound", "genie_bound", "recruit", "reasons"):
        monkeypatch.setattr(sys.modules["deadheat.tuning.scenario_plan"], name, wasted)
    assert simulate(deadheat, *SHORT, "--seed", 3)["forecast"]["mean"] > 0


@pytest.mark.parametrize("option", ["--out", "--timeline"])
def test_a_file_that_cannot_be_is_told_before_the_work(
    deadheat: Any, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs until the mean is known may take minutes; where their result cannot be written they need not be made."""

    def wasted(*arguments: object, **options: object) -> None:
        raise AssertionError("runs are made for a file that cannot be written")

    monkeypatch.setattr(sys.modules["deadheat.cli.commands.simulate"], "replicate", wasted)
    code, _, _ = deadheat("simulate", EXAMPLE, option, tmp_path / "no" / "jobs.csv")
    assert code == 2
