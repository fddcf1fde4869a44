"""`deadheat run` and `deadheat probe` as users type them."""

from __future__ import annotations

import csv
import json
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deadheat.jobs import in_series, result_of, synthetic_least_squares

SCENARIO = """
# three workers, a code, and a stream
[stream]
rate = 2.0
iterations = 6
jobs = 3
[code]
critical = 8
redundancy = 1.25
work = 1.0
[[workers]]
name = "slow"
mean = 6e-3
std = 1e-3
[[workers]]
name = "fast"
mean = 2e-3
std = 1e-3
comm = 1e-3
[[workers]]
name = "far"
mean = 2e-3
std = 5e-4
comm = 5e-3
"""
JOB = """
import numpy as np
import deadheat as dh

factor = 2.0


class State:
    def __init__(self, value):
        self.value = value


def part(state, chunk):
    return factor * chunk * np.ones(2) + 0 * state.value


job = dh.Job(list(range(10)), part, State(np.zeros(2)), lambda state, total, i: State(state.value + total), 4, "mine")


def bad():
    def wrong(state, chunk):
        raise ValueError("chunk 3 is torn")

    return dh.Job(list(range(10)), wrong, State(np.zeros(2)), lambda s, t, i: s, 4, "torn")
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    file = tmp_path / "three.toml"
    file.write_text(SCENARIO)
    return file


class Tables(HTMLParser):
    """Counts rows and open tags."""

    def __init__(self) -> None:
        super().__init__()
        self.rows, self.drawings, self.text = 0, 0, ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.rows += tag == "tr"
        self.drawings += tag == "svg"

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_run_writes_all_it_is_asked_for(deadheat: Any, scenario: Path, tmp_path: Path) -> None:
    out, line, page = tmp_path / "jobs.csv", tmp_path / "tasks.json", tmp_path / "run.html"
    events, save = tmp_path / "run.events", tmp_path / "weights.npz"
    code, said, err = deadheat(
        *("run", scenario, "--emulate", "--json", "--seed", 3, "--out", out, "--timeline", line, "--report", page),
        *("--events", events, "--save", save),
    )
    assert code == 0, err
    made = json.loads(said)
    assert (made["jobs"], made["failed"], made["iterations"], made["engine"]) == (3, 0, 18, "local")
    assert made["emulated"] is True
    assert [worker["name"] for worker in made["workers"]] == ["slow", "fast", "far"]
    assert sum(worker["done"] for worker in made["workers"]) >= 18 * 8
    for what in ("iteration", "service", "delay"):
        assert made["compared"][what]["measured"] > 0
        low, high = made["compared"][what]["with_overhead_range"]
        assert low <= made["compared"][what]["with_overhead"] <= high
    assert made["intervals"]["stated"] >= 3
    with out.open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 3
    slices = json.loads(line.read_text())["traceEvents"]
    assert {e["args"]["name"] for e in slices if e["ph"] == "M"} == {"slow", "fast", "far"}
    assert sum(e["ph"] == "X" for e in slices) >= 18 * 8
    read = Tables()
    read.feed(page.read_text())
    assert read.drawings == 2
    assert read.rows >= 3 + 3
    for words in ("emulated", "purged work", "a unit of work", "comm", "range of one run", "95 % interval"):
        assert words in read.text
    with np.load(save) as saved:
        assert list(saved) == ["job 1", "job 2", "job 3"]
        job = synthetic_least_squares(10, 6)
        for weights in saved.values():
            np.testing.assert_allclose(weights, result_of(in_series(job)), atol=1e-9)
    assert deadheat("replay", events)[0] == 0


def test_people_see_tables(deadheat: Any, scenario: Path) -> None:
    code, said, err = deadheat("run", str(scenario), "--emulate", "--jobs", "2", "--fixed", "--policy", "uniform")
    assert code == 0, err
    for words in ("uniform split", "slow", "measured / forecast", "are emulated", "held"):
        assert words in said
    assert err == ""


@pytest.mark.parametrize("engine", ["local", "ray"])
def test_a_job_of_ones_own(
    deadheat: Any, scenario: Path, tmp_path: Path, engine: str, request: pytest.FixtureRequest
) -> None:
    if engine == "ray":
        request.getfixturevalue("ray_cluster")
    file = tmp_path / "mine.py"
    file.write_text(JOB)
    job = ("--job", f"{file}:job", "--jobs", 2)
    code, said, err = deadheat("run", scenario, "--engine", engine, *job, "--emulate", "--json")
    assert code == 0, err
    made = json.loads(said)
    assert (made["jobs"], made["engine"]) == (2, engine)


def test_a_job_that_fails_is_said_and_the_exit_code_tells(deadheat: Any, scenario: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(JOB)
    code, said, err = deadheat("run", str(scenario), "--job", f"{file}:bad", "--jobs", "1", "--json")
    assert code == 1
    assert "torn: " in err
    assert "ValueError: chunk 3 is torn" in err
    assert json.loads(said)["failed"] == 1


def test_a_scenario_without_a_code_is_tuned_first(deadheat: Any, tmp_path: Path, scenario: Path) -> None:
    text = SCENARIO.replace("[code]\ncritical = 8\nredundancy = 1.25\nwork = 1.0\n", "")
    more = '[workload]\nkind = "gradient"\nwork = 8.0\n[search]\ncritical = [5, 10]\nredundancy = [1.0, 1.2]\n'
    scenario.write_text(text + more)
    code, said, err = deadheat("run", str(scenario), "--emulate", "--jobs", "1", "--json")
    assert code == 0, err
    assert "split" in json.loads(said)["code"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--engine", "rey"], "--engine = 'rey': no such engine; did you mean 'ray'"),
        (["--speedup", "3"], "--speedup = 3.0: real workers cannot be sped up"),
        (["--jobs", "0"], "--jobs = 0"),
        (["--job", "nowhere.py:job"], "there is no file"),
        (["--job", "nowhere"], "write FILE.py:NAME"),
        (["--job", "nowhere.py:job", "--jobs", "2"], "--job = "),
        (["--policy", "optmal"], "--policy = 'optmal': no such policy; did you mean 'optimal'?"),
        (["--schedule", "pul"], "--schedule = 'pul': no such schedule; did you mean 'pull'?"),
        (["--events", "."], "--events = '.': is a folder; name a file"),
        (["--events", "no/such/folder/events"], "--events = 'no/such/folder/events': its folder does not exist"),
        (["--out", "x.txt"], "unknown ending"),
        (["--report", "x.pdf"], "use .html"),
        (["--address", "auto"], "--address = 'auto': of no use without Ray"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else "",
)
def test_bad_options_are_one_line(deadheat: Any, scenario: Path, options: list[str], words: str) -> None:
    code, said, err = deadheat("run", str(scenario), *options)
    assert code == 2
    assert words in err
    assert err.count("\n") == 1
    assert said == ""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[code]", '[engine]\nkind = "rai"\n[code]', "engine.kind = 'rai': no such engine; did you mean 'ray'"),
        ("[code]", "[engine]\nspeed = 2\n[code]", "engine.speed = 2: unknown key; did you mean 'speedup'"),
        ("[code]", "[engine]\nquotas = [0.5]\n[code]", "quotas = 1: for 3 workers"),
        ("[code]", '[job]\nkind = "least-sqares"\n[code]', "did you mean 'least-squares'"),
        ("[code]", "[job]\nrow = 5\n[code]", "job.row = 5: unknown key; did you mean 'rows'"),
        ("[code]", "[job]\nrows = 5\n[code]", "job.rows = 5"),
        ("work = 1.0", 'work = 1.0\nfamily = "cyclc"', "code.family = 'cyclc': no such family of codes"),
        ("work = 1.0", 'work = 1.0\nfamily = "mds"', "not for sums over chunks"),
    ],
)
def test_bad_tables_are_one_line(deadheat: Any, scenario: Path, old: str, new: str, words: str) -> None:
    scenario.write_text(SCENARIO.replace(old, new))
    code, _, err = deadheat("run", str(scenario))
    assert code == 2
    assert words in err
    assert err.count("\n") == 1


def test_a_probe_finds_the_emulated_speeds(deadheat: Any, scenario: Path, tmp_path: Path) -> None:
    out = tmp_path / "measured.toml"
    code, said, err = deadheat("probe", str(scenario), "--emulate", "--seconds", "2", "--out", str(out), "--json")
    assert code == 0, err
    made = json.loads(said)
    truth = {"slow": (6e-3, 0.0), "fast": (2e-3, 1e-3), "far": (2e-3, 5e-3)}
    for worker in made["workers"]:
        mean, comm = truth[worker["name"]]
        assert worker["mean"] == pytest.approx(mean, rel=0.25)
        assert worker["mean_ci95"][0] < worker["mean"] < worker["mean_ci95"][1]
        assert comm <= worker["comm"] < comm + 0.02
    text = out.read_text()
    assert "# three workers, a code, and a stream" in text  # all else stays as it was written
    again = tomllib.loads(text)
    assert [worker["name"] for worker in again["workers"]] == ["slow", "fast", "far"]
    assert deadheat("plan", str(out))[0] == 0


def test_a_probe_without_a_file_prints_tables(deadheat: Any, tmp_path: Path) -> None:
    code, said, err = deadheat("probe", "--workers", "2", "--seconds", "1")
    assert code == 0, err
    workers = tomllib.loads(said)["workers"]
    assert len(workers) == 2
    assert all(worker["mean"] > 0 for worker in workers)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--seconds", "0"], "--seconds = 0"),
        (["--workers", "0"], "--workers = 0"),
        (["--engine", "rey"], "--engine = 'rey': no such engine; did you mean 'ray'?"),
        (["--job", "nowhere.py:job"], "--job = "),
        (["--emulate"], "name a scenario FILE"),
        (["--out", "workers.csv"], "use .toml"),
    ],
)
def test_bad_probes_are_one_line(deadheat: Any, options: list[str], words: str) -> None:
    code, _, err = deadheat("probe", *options)
    assert code == 2
    assert words in err
    assert err.count("\n") == 1
