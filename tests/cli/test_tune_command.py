"""`deadheat tune` and `deadheat codes`: what they print, what they write, and what they refuse."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import deadheat as dh
from deadheat.cli.scenario_file import read_scenario
from deadheat.coding import FAMILIES, KINDS

EXAMPLES = Path(__file__).parents[2] / "examples"
GOOD = """
[stream]
rate = 0.01
iterations = 50
[workload]
kind = "gradient"
work = 5544000
result = 1000
[search]
families = ["uncoded", "cyclic", "fractional repetition", "paper"]
critical = [10, 50]
redundancy = [1.0, 1.1]
policies = ["optimal"]
[condition]
factor = 10
enter = 0.2
[[workers]]
name = "a"
mean = 1.89e-8
std = 1.89e-8
comm = 0.0481
[[workers]]
name = "b"
mean = 1.38e-8
std = 1.38e-8
comm = 0.0562
[[workers]]
name = "c"
mean = 3.23e-8
std = 3.23e-8
comm = 0.0817
"""
CALM = GOOD.replace("[condition]\nfactor = 10\nenter = 0.2\n", "")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "good.toml"
    path.write_text(GOOD)
    return path


def tune(deadheat: Any, *arguments: object) -> dict[str, Any]:
    code, out, err = deadheat("tune", *arguments, "--json")
    assert (code, err) == (0, "")
    content: dict[str, Any] = json.loads(out)
    return content


# What it says


def test_json_keeps_the_contract(deadheat: Any, file: Path) -> None:
    made = tune(deadheat, file)
    assert made["version"] == dh.__version__
    assert (made["seed"], made["workers"]) == (0, ["a", "b", "c"])
    assert made["judged"] == len(made["ranking"])
    assert made["why"].startswith(made["ranking"][0]["family"])
    for row in (*made["ranking"], *made["frontier"]):
        assert {"family", "critical", "redundancy", "policy", "delay", "work_factor", "loads"} <= set(row)
        assert {"total", "settings", "schedule", "delay_interval", "judged", "iteration_mean"} <= set(row)
        assert {
            "service_mean",
            "utilisation",
            "work",
            "shared_chunks",
            "seconds_per_task",
            "overhead",
            "storage",
        } <= set(row)
        assert sum(row["loads"]) == row["total"] == round(row["critical"] * row["redundancy"])
        assert (row["judged"] == "exact") == (row["delay_interval"] is None)
    first = {row["family"]: row for row in reversed(made["ranking"])}
    assert [row["family"] for row in made["ranking"] if "gain" in row] == list(
        dict.fromkeys(r["family"] for r in made["ranking"])
    )
    assert first["uncoded"]["gain"] == 1.0


def test_json_is_what_the_library_says(deadheat: Any, file: Path) -> None:
    scenario = read_scenario(file)
    assert scenario.workload is not None
    ranking = dh.tune(
        scenario.workload, scenario.cluster, scenario.stream, scenario.search, condition=scenario.condition, seed=3
    )
    made = tune(deadheat, file, "--seed", 3)
    assert made["why"] == ranking.why
    assert (made["pruned"], made["refused"]) == (ranking.pruned, ranking.refused)
    for row, choice in zip(made["ranking"], ranking, strict=True):
        assert row["family"] == choice.family
        assert row["delay"] == (choice.delay if choice.delay < float("inf") else "inf")
        assert row["loads"] == choice.split.loads.tolist()
        assert row["settings"] == dict(choice.shape.settings)
    delays = [row["delay"] for row in made["ranking"]]
    assert delays[-1] == "inf"  # the paper's own code, when one iteration in five is ten times slower
    assert delays[:-1] == sorted(delays[:-1])
    assert [row["delay"] for row in made["frontier"]] == [choice.delay for choice in ranking.frontier]


def test_the_same_seed_the_same_output(deadheat: Any, file: Path) -> None:
    assert deadheat("tune", file, "--seed", 5, "--json") == deadheat("tune", file, "--seed", 5, "--json")


def test_a_table_for_people(deadheat: Any, file: Path) -> None:
    code, out, err = deadheat("tune", file)
    assert (code, err) == (0, "")
    for word in ("wins with", "fractional repetition", "cyclic (reuse)", "infinite", "delay against work"):
        assert word in out
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 120
    assert "more were judged" not in out


def test_top_leaves_out_but_for_the_best_of_every_family(deadheat: Any, file: Path) -> None:
    made, (_, out, _) = tune(deadheat, file), deadheat("tune", file, "--top", 1)
    families = {row["family"] for row in made["ranking"]}
    assert f"{made['judged'] - len(families)} more were judged" in out
    for name in families:
        assert name in out


def test_families_of_the_option_take_the_place_of_the_files(deadheat: Any, file: Path) -> None:
    made = tune(deadheat, file, "--families", "uncoded, communication-efficient")
    assert {row["family"] for row in made["ranking"]} == {"uncoded", "communication-efficient"}
    named = tune(deadheat, file, "--families", "bernoulli")  # approximate: only where it is named
    assert {row["family"] for row in named["ranking"]} == {"bernoulli"}


def test_schedules(deadheat: Any, tmp_path: Path) -> None:
    file = tmp_path / "calm.toml"
    file.write_text(CALM)
    made = tune(deadheat, file, "--families", "uncoded", "--schedules", "pull,static")
    assert {(row["schedule"], row["judged"]) for row in made["ranking"]} == {("pull", "simulated"), ("static", "exact")}
    for row in made["ranking"]:
        if row["schedule"] == "pull":
            low, high = row["delay_interval"]
            assert low < row["delay"] < high
    only = tune(deadheat, file, "--families", "uncoded,cyclic", "--schedules", "pull")
    assert {row["schedule"] for row in only["ranking"]} == {"pull"}
    assert {row["shared_chunks"] for row in only["ranking"]} == {0}


def test_without_a_search_table_it_tries_the_usual() -> None:
    assert read_scenario(EXAMPLES / "tune-gradient.toml").search == dh.Search()


@pytest.mark.parametrize("name", ["tune-gradient.toml", "tune-stragglers.toml"])
def test_the_examples_run(deadheat: Any, name: str) -> None:
    made = tune(deadheat, EXAMPLES / name, "--families", "paper")
    preset = made["ranking"][0]
    assert (preset["family"], preset["critical"], preset["total"]) == ("paper", 50, 55)
    if name == "tune-gradient.toml":
        assert preset["delay"] == pytest.approx(49.53, abs=0.01)
        assert preset["loads"] == [13, 18, 7, 3, 14]
    else:
        assert preset["delay"] == "inf"


# What it writes


def test_csv(deadheat: Any, file: Path, tmp_path: Path) -> None:
    made = tune(deadheat, file, "--out", tmp_path / "ranking.csv")
    with (tmp_path / "ranking.csv").open(newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert [row["family"] for row in rows] == [row["family"] for row in made["ranking"]]
    assert [row["delay"] for row in rows] == [str(row["delay"]) for row in made["ranking"]]
    for key in ("critical", "total", "redundancy", "policy", "schedule", "work_factor", "shared_chunks"):
        assert [row[key] for row in rows] == [str(row[key]) for row in made["ranking"]]


def test_json_and_parquet_files(deadheat: Any, file: Path, tmp_path: Path) -> None:
    made = tune(deadheat, file, "--out", tmp_path / "ranking.json", "--seed", 4)
    written = json.loads((tmp_path / "ranking.json").read_text())
    assert written["about"] == {"version": dh.__version__, "seed": 4}
    assert written["columns"]["delay"] == [row["delay"] for row in made["ranking"]]
    tune(deadheat, file, "--out", tmp_path / "ranking.parquet", "--seed", 4)
    table = pytest.importorskip("pyarrow.parquet").read_table(tmp_path / "ranking.parquet")
    assert table.column("family").to_pylist() == [row["family"] for row in made["ranking"]]


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_figure(deadheat: Any, file: Path, tmp_path: Path, ending: str) -> None:
    tune(deadheat, file, "--figure", tmp_path / f"frontier.{ending}")
    head = (tmp_path / f"frontier.{ending}").read_bytes()[:200]
    assert {"png": b"PNG", "svg": b"<?xml", "pdf": b"%PDF"}[ending] in head


# The catalogue


def test_codes_lists_every_family(deadheat: Any) -> None:
    code, out, err = deadheat("codes")
    assert (code, err) == (0, "")
    for name in FAMILIES:
        assert name in out  # whole: one has to type it
    assert max(map(len, out.splitlines())) <= 120


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_codes_as_json(deadheat: Any, kind: str | None) -> None:
    code, out, err = deadheat("codes", *(() if kind is None else ("--kind", kind)), "--json")
    assert (code, err) == (0, "")
    made = json.loads(out)
    assert made["version"] == dh.__version__
    names = [row["family"] for row in made["codes"]]
    assert names == [name for name, family in FAMILIES.items() if kind is None or kind in family.kinds]
    for row in made["codes"]:
        assert {"family", "for", "C/W", "K C/W", "which results suffice", "notes", "source", "example"} == set(row)
    assert "learned codes" in made["waiting"]


def test_codes_of_one_kind(deadheat: Any) -> None:
    _, out, _ = deadheat("codes", "--kind", "transform")
    assert "fft" in out
    assert "matdot" not in out


def test_codes_of_no_kind(deadheat: Any) -> None:
    code, out, err = deadheat("codes", "--kind", "gradent")
    assert (code, out) == (2, "")
    assert err == "deadheat: --kind = 'gradent': no such kind of work; did you mean 'gradient'?\n"


# What they refuse

REFUSED = {  # what is changed in the file: (old, new, words that the message must hold)
    "workload missing": (
        '[workload]\nkind = "gradient"\nwork = 5544000\nresult = 1000\n',
        "[code]\ncritical = 5\n",
        ["workload", "missing", "add [workload]"],
    ),
    "workload a number": (
        '[stream]\nrate = 0.01\niterations = 50\n[workload]\nkind = "gradient"\nwork = 5544000\nresult = 1000\n',
        "workload = 3\n[stream]\nrate = 0.01\niterations = 50\n",
        ["workload = 3", "not a table", "[workload]"],
    ),
    "workload key misspelt": ("result = 1000", "results = 1000", ["workload.results", "did you mean 'result'?"]),
    "kind missing": ('kind = "gradient"\n', "", ["workload.kind", "missing"]),
    "kind misspelt": (
        'kind = "gradient"',
        'kind = "gradiant"',
        ["workload.kind = 'gradiant'", "did you mean 'gradient'?"],
    ),
    "kind a number": ('kind = "gradient"', "kind = 1", ["workload.kind = 1", "no such kind"]),
    "kind a list": ('kind = "gradient"', 'kind = ["gradient"]', ["workload.kind = ['gradient']", "no such kind"]),
    "work missing": ("work = 5544000\n", "", ["workload.work", "missing"]),
    "work zero": ("work = 5544000", "work = 0", ["workload.work = 0", "above 0"]),
    "work a text": ("work = 5544000", 'work = "much"', ["workload.work = 'much'", "not a number"]),
    "work a boolean": ("work = 5544000", "work = true", ["workload.work = True", "not a number"]),
    "work infinite": ("work = 5544000", "work = inf", ["workload.work = inf", "finite"]),
    "result negative": ("result = 1000", "result = -1", ["workload.result = -1", "at least 0"]),
    "result a list": ("result = 1000", "result = [1]", ["workload.result = [1]", "not a number"]),
    "state negative": ("result = 1000", "state = -1", ["workload.state = -1", "at least 0"]),
    "data not a number": ("result = 1000", "data = nan", ["workload.data = nan", "finite"]),
    "per_result negative": ("result = 1000", "per_result = -0.1", ["workload.per_result = -0.1", "give seconds"]),
    "update negative": ("result = 1000", "update = -0.1", ["workload.update = -0.1", "give seconds"]),
    "bandwidth zero": ("result = 1000", "bandwidth = 0", ["workload.bandwidth = 0", "above 0"]),
    "bandwidth a boolean": ("result = 1000", "bandwidth = true", ["workload.bandwidth = True", "not a number"]),
    "speed a text": ("result = 1000", 'speed = "fast"', ["workload.speed = 'fast'", "not a number"]),
    "search key misspelt": ("critical = [10, 50]", "critcal = [10]", ["search.critcal", "did you mean 'critical'?"]),
    "search a list": (
        '[search]\nfamilies = ["uncoded", "cyclic", "fractional repetition", "paper"]\ncritical = [10, 50]\n'
        'redundancy = [1.0, 1.1]\npolicies = ["optimal"]\n',
        "[[search]]\ncritical = [1]\n",
        ["search = ", "not a table"],
    ),
    "critical a number": ("critical = [10, 50]", "critical = 10", ["search.critical = 10", "not a list"]),
    "critical a text": ("critical = [10, 50]", 'critical = "10"', ["search.critical = '10'", "not a list"]),
    "critical empty": ("critical = [10, 50]", "critical = []", ["search.critical = []", "empty list"]),
    "critical zero": ("critical = [10, 50]", "critical = [10, 0]", ["search.critical[1] = 0", "at least 1"]),
    "critical not whole": ("critical = [10, 50]", "critical = [2.5]", ["search.critical[0] = 2.5", "whole"]),
    "critical a boolean": ("critical = [10, 50]", "critical = [true]", ["search.critical[0] = True", "not a number"]),
    "critical nested": ("critical = [10, 50]", "critical = [[10]]", ["search.critical[0] = [10]", "not a number"]),
    "redundancy below 1": (
        "redundancy = [1.0, 1.1]",
        "redundancy = [0.9]",
        ["search.redundancy[0] = 0.9", "at least 1"],
    ),
    "redundancy a text": (
        "redundancy = [1.0, 1.1]",
        'redundancy = ["x"]',
        ["search.redundancy[0] = 'x'", "not a number"],
    ),
    "redundancy a table": ("redundancy = [1.0, 1.1]", "redundancy = {a = 1}", ["search.redundancy = ", "not a list"]),
    "families a text": (
        'families = ["uncoded", "cyclic", "fractional repetition", "paper"]',
        'families = "cyclic"',
        ["search.families = 'cyclic'", "not a list"],
    ),
    "families empty": (
        'families = ["uncoded", "cyclic", "fractional repetition", "paper"]',
        "families = []",
        ["search.families = []", "empty list"],
    ),
    "family unknown": ('"cyclic"', '"cyclc"', ["search.families = 'cyclc'", "did you mean 'cyclic'?"]),
    "family a number": ('"cyclic"', "7", ["search.families = 7", "no such family"]),
    "family of another kind": ('"cyclic"', '"mds"', ["search.families = 'mds'", "not for gradient work"]),
    "policy unknown": (
        'policies = ["optimal"]',
        'policies = ["optimum"]',
        ["search.policies = 'optimum'", "'optimal'?"],
    ),
    "policy a list": (
        'policies = ["optimal"]',
        'policies = [["optimal"]]',
        ["search.policies = ['optimal']", "no such"],
    ),
    "schedule unknown": ('policies = ["optimal"]', 'schedules = ["pul"]', ["search.schedules = 'pul'", "'pull'?"]),
    "schedule a list": ('policies = ["optimal"]', 'schedules = [["pull"]]', ["search.schedules = ['pull']", "no such"]),
    "sizes of no code": (
        'families = ["uncoded", "cyclic", "fractional repetition", "paper"]\ncritical = [10, 50]\nredundancy = [1.0, ',
        'families = ["cyclic"]\nredundancy = [1.0, 1.0]  # [',
        ["search", "no code of these families"],
    ),
    "condition key misspelt": ("enter = 0.2", "enter = 0.2\nleav = 0.8", ["condition.leav", "did you mean 'leave'?"]),
    "factor missing": ("factor = 10\n", "", ["condition.factor", "missing"]),
    "factor a text": ("factor = 10", 'factor = "x"', ["condition.factor = 'x'", "not a number"]),
    "factor a boolean": ("factor = 10", "factor = true", ["condition.factor = True", "not a number"]),
    "factor below 1": ("factor = 10", "factor = 0.5", ["condition.factor = 0.5", "at least 1"]),
    "factor not a number": ("factor = 10", "factor = nan", ["condition.factor = nan", "finite"]),
    "enter missing": ("enter = 0.2\n", "", ["condition.enter", "missing"]),
    "enter above 1": ("enter = 0.2", "enter = 1.5", ["condition.enter = 1.5", "at most 1"]),
    "enter negative": ("enter = 0.2", "enter = -0.2", ["condition.enter = -0.2", "at least 0"]),
    "enter a text": ("enter = 0.2", 'enter = "0.2"', ["condition.enter = '0.2'", "not a number"]),
    "leave a boolean": ("enter = 0.2", "enter = 0.2\nleave = false", ["condition.leave = False", "not a number"]),
    "leave above 1": ("enter = 0.2", "enter = 0.2\nleave = 2", ["condition.leave = 2", "at most 1"]),
    "states that never change": ("enter = 0.2", "enter = 0\nleave = 0", ["condition.enter = 0", "never change"]),
    "condition a number": (
        "[stream]\nrate = 0.01",
        "condition = 10\n[stream]\nrate = 0.01",
        None,
    ),
    "shared_chunks negative": (
        "[search]",
        "[code]\ncritical = 5\nshared_chunks = -1\n[search]",
        ["code.shared_chunks = -1", "at least 0"],
    ),
    "shared_chunks not whole": (
        "[search]",
        "[code]\ncritical = 5\nshared_chunks = 1.5\n[search]",
        ["code.shared_chunks = 1.5", "whole"],
    ),
    "seconds_per_task negative": (
        "[search]",
        "[code]\ncritical = 5\nseconds_per_task = -1\n[search]",
        ["code.seconds_per_task = -1", "at least 0"],
    ),
    "seconds_per_task a text": (
        "[search]",
        '[code]\ncritical = 5\nseconds_per_task = "x"\n[search]',
        ["code.seconds_per_task = 'x'", "not a number"],
    ),
    "table misspelt": ("[workload]", "[workloads]", ["workloads", "did you mean 'workload'?"]),
}


def refusal(deadheat: Any, command: str, path: Path, *options: object) -> str:
    """What a command says to a file, having checked how it says it."""
    code, out, err = deadheat(command, path, *options)
    assert (code, out) == (2, "")
    assert err.startswith("deadheat: ")
    assert err.count("\n") == 1, err
    assert ";" in err  # problem; remedy
    return str(err)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(deadheat: Any, name: str, tmp_path: Path) -> None:
    old, new, words = REFUSED[name]
    assert old in GOOD
    text = GOOD.replace(old, new, 1)
    if name == "condition a number":
        text, words = text.replace("[condition]\nfactor = 10\nenter = 0.2\n", ""), ["condition = 10", "not a table"]
    path = tmp_path / "bad.toml"
    path.write_text(text)
    said = refusal(deadheat, "tune", path)
    for word in words or []:
        assert word in said, said


@pytest.mark.parametrize("command", ["plan", "simulate", "compare"])
def test_other_commands_need_a_code(deadheat: Any, command: str, file: Path) -> None:
    said = refusal(deadheat, command, file)
    assert said.startswith("deadheat: code = None: missing")
    assert "deadheat tune" in said


def test_without_code_and_workload_a_code_is_missing(deadheat: Any, tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(GOOD.replace('[workload]\nkind = "gradient"\nwork = 5544000\nresult = 1000\n', ""))
    for command in ("plan", "simulate", "tune"):
        assert "code = None: missing" in refusal(deadheat, command, path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--families", "cyclc"], ["--families = 'cyclc': no such family of codes; did you mean 'cyclic'?"]),
        (["--families", "mds"], ["not for gradient work"]),
        (["--families", ","], ["--families", "empty"]),
        (["--schedules", "pul"], ["--schedules = 'pul': no such schedule; did you mean 'pull'?"]),
        (["--schedules", ""], ["--schedules", "empty"]),
        (["--top", "0"], ["--top = 0"]),
        (["--top", "many"], ["--top"]),
        (["--seed", "-1"], ["--seed = -1"]),
        (["--seed", "1.5"], ["--seed"]),
        (["--out", "ranking.xlsx"], ["--out", "unknown ending"]),
        (["--out", "no/such/folder/ranking.csv"], ["--out", "folder does not exist"]),
        (["--figure", "frontier.csv"], ["--figure", "unknown ending"]),
        (["--figure", "no/such/folder/frontier.png"], ["--figure", "folder does not exist"]),
        (["--nope"], ["--nope"]),
    ],
    ids=str,
)
def test_bad_options(
    deadheat: Any, options: list[str], words: list[str], file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = deadheat("tune", file, *options)
    assert (code, out) == (2, "")
    assert err.startswith("deadheat: ")
    assert err.count("\n") == 1
    for word in words:
        assert word in err
    assert list(tmp_path.iterdir()) == [file]


def test_a_condition_counts_in_plan_and_simulate(deadheat: Any, tmp_path: Path) -> None:
    text = GOOD.replace("[search]", "[code]\ncritical = 10\nwork = 554400\n[search]")
    for name, content in (("slow", text), ("usual", text.replace("[condition]\nfactor = 10\nenter = 0.2\n", ""))):
        (tmp_path / f"{name}.toml").write_text(content)
    delays = {}
    for name in ("slow", "usual"):
        code, out, _ = deadheat("plan", tmp_path / f"{name}.toml", "--json")
        assert code == 0
        delays[name] = json.loads(out)["forecast"]["delay"]
        code, out, _ = deadheat(
            "simulate", tmp_path / f"{name}.toml", "--jobs", 200, "--replications", 20, "--seed", 1, "--json"
        )
        assert code == 0
        made = json.loads(out)["delay"]
        low, high = made["ci95"]
        # Four standard errors; Student's 2.09 for 20 runs, which start empty in a queue that is hardly used.
        assert abs(made["mean"] - delays[name]) <= (high - low) / 2 / 2.09 * 4
    assert delays["slow"] > 1.5 * delays["usual"]


def test_states_that_theory_does_not_know(deadheat: Any, tmp_path: Path) -> None:
    path = tmp_path / "persistent.toml"
    path.write_text(
        GOOD.replace("[search]", "[code]\ncritical = 10\nwork = 554400\n[search]").replace(
            "enter = 0.2", "enter = 0.05\nleave = 0.1"
        )
    )
    assert "leave = 1 - enter, or simulate" in refusal(deadheat, "plan", path)
    code, out, _ = deadheat("simulate", path, "--jobs", 20, "--replications", 3, "--seed", 1, "--json")
    assert code == 0
    assert json.loads(out)["forecast"] is None
    made = tune(deadheat, path, "--families", "uncoded,cyclic")
    assert {row["judged"] for row in made["ranking"]} == {"simulated"}
