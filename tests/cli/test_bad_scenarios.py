"""Broken scenario files: each is refused with one line that names the field and the remedy, and exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from deadheat.cli import main

GOOD = """
[stream]
rate = 0.01
iterations = 50
jobs = 100
[code]
critical = 50
redundancy = 1.1
work = 2.0
[split]
policy = "optimal"
gamma = 1.0
[[workers]]
name = "a"
mean = 0.5
std = 0.5
comm = 0.1
[[workers]]
name = "b"
mean = 0.25
std = 0.1
comm = 0.0
"""

BROKEN = {  # what is changed in the file: (old, new, words that the message must hold)
    "mean negative": ("mean = 0.5", "mean = -0.5", ["workers[1].mean = -0.5", "above 0"]),
    "mean zero": ("mean = 0.25", "mean = 0", ["workers[2].mean = 0", "above 0"]),
    "mean nan": ("mean = 0.5", "mean = nan", ["workers[1].mean = nan", "seconds per unit of work"]),
    "mean infinite": ("mean = 0.5", "mean = inf", ["workers[1].mean = inf", "finite"]),
    "mean a text": ("mean = 0.5", 'mean = "fast"', ["workers[1].mean = 'fast'", "not a number"]),
    "mean missing": ("mean = 0.5\n", "", ["workers[1].mean", "missing"]),
    "mean a boolean": ("mean = 0.5", "mean = true", ["workers[1].mean = True", "not a number"]),
    "std negative": ("std = 0.1", "std = -1", ["workers[2].std = -1", "at least 0"]),
    "std missing": ("std = 0.5\n", "", ["workers[1].std", "missing"]),
    "comm negative": ("comm = 0.1", "comm = -0.1", ["workers[1].comm = -0.1", "seconds per iteration"]),
    "comm misspelt": ("comm = 0.1", "com = 0.1", ["workers[1].com", "did you mean 'comm'?"]),
    "name twice": ('name = "b"', 'name = "a"', ["name = 'a'", "a name of its own"]),
    "name a number": ('name = "b"', "name = 3", ["workers[2].name = 3", "in quotes"]),
    "law unknown": ("comm = 0.0", 'law = "gama"', ["workers[2].law = 'gama'", "did you mean 'gamma'?"]),
    "law impossible": (
        "std = 0.1",
        'std = 0.9\nlaw = "shifted-exponential"',
        ["workers[2].std = 0.9", "use law = 'gamma'"],
    ),
    "law deterministic with spread": (
        "std = 0.1",
        'std = 0.1\nlaw = "deterministic"',
        ["workers[2].std = 0.1", "std = 0"],
    ),
    "law a number": ("comm = 0.0", "law = 3", ["workers[2].law = 3", 'law = "gamma"']),
    "mixture misspelt": (
        "comm = 0.0",
        'law = {family = "mixture", slowdwn = 3}',
        ["workers[2].law.slowdwn", "did you mean 'slowdown'?"],
    ),
    "mixture with too little spread": (
        "comm = 0.0",
        'law = {family = "mixture"}',
        ["workers[2].std = 0.1", "give std >="],
    ),
    "mixture probability": (
        "std = 0.1",
        'std = 5\nlaw = {family = "mixture", probability = 2}',
        ["workers[2].probability = 2", "at most 1"],
    ),
    "samples beside mean": (
        "comm = 0.0",
        'law = {family = "empirical", samples = [1]}',
        ["workers[2].mean = 0.25", "remove it"],
    ),
    "samples negative": (
        "mean = 0.25\nstd = 0.1",
        'law = {family = "empirical", samples = [1, -1]}',
        ["workers[2].samples = -1", "negative"],
    ),
    "capacity negative": ("comm = 0.0", "capacity = -1", ["workers[2].capacity = -1", "units of work"]),
    "capacities too small": (
        "comm = 0.0\n",
        "capacity = 2\n[[spares]]\nmean = 1\nstd = 1\n",
        None,
    ),
    "no workers": (GOOD[GOOD.index("[[workers]]") :], "", ["workers", "[[workers]]"]),
    "workers a table": ('[[workers]]\nname = "a"', '[workers]\nname = "a"', ["not TOML"]),
    "critical zero": ("critical = 50", "critical = 0", ["code.critical = 0", "at least 1"]),
    "critical not whole": ("critical = 50", "critical = 50.5", ["code.critical = 50.5", "whole"]),
    "critical missing": ("critical = 50\n", "", ["code.critical", "missing"]),
    "redundancy below 1": ("redundancy = 1.1", "redundancy = 0.9", ["code.redundancy = 0.9", "at least 1"]),
    "tasks not whole": ("redundancy = 1.1", "redundancy = 1.05", ["code.redundancy = 1.05", "1.04 (52 tasks)", "1.06"]),
    "work zero": ("work = 2.0", "work = 0", ["code.work = 0", "above 0"]),
    "work overflows": ("work = 2.0", "work = 1e400", ["code.work = inf", "finite"]),
    "code missing": ("[code]\ncritical = 50\nredundancy = 1.1\nwork = 2.0\n", "", ["code", "add a table [code]"]),
    "rate zero": ("rate = 0.01", "rate = 0", ["stream.rate = 0", "jobs per second"]),
    "rate and interarrival": (
        "rate = 0.01",
        "rate = 0.01\ninterarrival = {mean = 1, std = 1}",
        ["stream.rate or stream.interarrival", "both"],
    ),
    "neither rate nor interarrival": ("rate = 0.01\n", "", ["stream.rate or stream.interarrival", "neither"]),
    "interarrival a number": ("rate = 0.01", "interarrival = 100", ["stream.interarrival = 100", "{mean = 100"]),
    "interarrival without std": ("rate = 0.01", "interarrival = {mean = 100}", ["stream.interarrival.std", "missing"]),
    "interarrival negative": (
        "rate = 0.01",
        "interarrival = {mean = 100, std = -1}",
        ["stream.interarrival.std = -1", "steady beat"],
    ),
    "iterations missing": ("iterations = 50\n", "", ["stream.iterations", "missing"]),
    "iterations zero": ("iterations = 50", "iterations = 0", ["stream.iterations = 0", "at least 1"]),
    "iterations misspelt": ("iterations = 50", "iteration = 50", ["stream.iteration", "did you mean 'iterations'?"]),
    "jobs zero": ("jobs = 100", "jobs = 0", ["stream.jobs = 0", "number of jobs"]),
    "table misspelt": ("[stream]", "[steam]", ["steam", "did you mean 'stream'?"]),
    "policy unknown": (
        'policy = "optimal"',
        'policy = "optimum"',
        ["split.policy = 'optimum'", "did you mean 'optimal'?"],
    ),
    "policy a number": ('policy = "optimal"', "policy = 1", ["split.policy = 1", "known: fastest"]),
    "gamma negative": ("gamma = 1.0", "gamma = -1.0", ["split.gamma = -1.0", "at least 0"]),
    "ratio of the wrong length": ("gamma = 1.0", "ratio = [1, 2, 3]", ["ratio = [1, 2, 3]", "3 numbers for 2 workers"]),
    "ratio a number": ("gamma = 1.0", "ratio = 3", ["split.ratio = 3", "[3, 2, 1]"]),
    "ratio of zeros": ("gamma = 1.0", "ratio = [0, 0]", ["ratio = [0, 0]", "at least one"]),
    "price negative": (
        "comm = 0.0\n",
        "comm = 0.0\n[[spares]]\nmean = 1\nstd = 1\nprice = -1\n",
        ["spares[1].price = -1", "from 0 on"],
    ),
    "not TOML": ("[stream]", "[stream", ["FILE", "not TOML"]),
}


def refusal(text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What the command says to a file with this text, having checked how it says it."""
    file = folder / "scenario.toml"
    file.write_text(text)
    with pytest.raises(SystemExit) as left:
        main(["plan", str(file)])
    said = capsys.readouterr()
    assert left.value.code == 2
    assert said.out == ""
    assert said.err.startswith("deadheat: ")
    assert said.err.count("\n") == 1, said.err
    assert ";" in said.err  # problem; remedy
    return said.err


def test_the_file_is_good_before_it_is_broken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "good.toml").write_text(GOOD)
    with pytest.raises(SystemExit) as left:
        main(["plan", str(tmp_path / "good.toml"), "--json"])
    assert left.value.code == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", BROKEN)
def test_broken(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new, words = BROKEN[name]
    assert old in GOOD
    text = GOOD.replace(old, new, 1)
    if name == "capacities too small":
        text, words = (
            text.replace("comm = 0.1", "comm = 0.1\ncapacity = 20"),
            ["capacity = 11", "of 55 tasks", "add workers"],
        )
    said = refusal(text, tmp_path, capsys)
    for word in words or []:
        assert word in said, said


def test_files_that_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "latin.toml").write_bytes(b"name = '\xe9'")
    for path, word in (
        (tmp_path / "none.toml", "No such file"),
        (tmp_path, "directory"),
        (tmp_path / "latin.toml", "UTF-8"),
    ):
        with pytest.raises(SystemExit) as left:
            main(["plan", str(path)])
        assert left.value.code == 2
        assert word in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    [
        ["--gamma", "x"],
        ["--gamma", "-1"],
        ["--gamma", "nan"],
        ["--split", "1,b"],
        ["--split", "1"],
        ["--policy", "best"],
        ["--policy=best"],
        ["--target", "0"],
        ["--nope"],
        ["--policy", "optimal", "--split", "1,2"],
    ],
    ids=" ".join,
)
def test_bad_options(options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line that names the option as it was typed."""
    (tmp_path / "good.toml").write_text(GOOD)
    with pytest.raises(SystemExit) as left:
        main(["plan", str(tmp_path / "good.toml"), *options])
    said = capsys.readouterr()
    assert left.value.code == 2
    assert said.err.count("\n") == 1
    assert options[0].split("=")[0] in said.err
    assert said.out == ""
