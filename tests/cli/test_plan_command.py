"""`deadheat plan` as a user types it: a real process, its output, its exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def deadheat(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "deadheat", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def plan(*arguments: object) -> dict[str, Any]:
    done = deadheat("plan", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    content: dict[str, Any] = json.loads(done.stdout)
    return content


def test_json_of_the_worked_example_keeps_the_contract() -> None:
    made = plan(EXAMPLES / "worked-example.toml")
    assert made["loads"] == [13, 18, 7, 3, 14]
    assert made["shares"] == pytest.approx([12.990, 17.725, 7.145, 3.158, 13.983], abs=5e-4)
    assert made["theta"] == pytest.approx(1.33065, abs=5e-6)
    assert made["active"] == 5
    assert made["mismatch"] > 0
    forecast = made["forecast"]
    assert forecast["delay"] == pytest.approx(49.53, abs=0.005)
    assert forecast["service_mean"] == pytest.approx(50 * forecast["iteration_mean"])
    assert forecast["utilisation"] == pytest.approx(forecast["service_mean"] / 100)
    assert forecast["iteration_std"] > 0
    assert forecast["stable"] is True
    assert made["lower_bound"] == pytest.approx({"service": 33.93, "delay": 42.64}, abs=0.005)


@pytest.mark.parametrize(
    ("options", "delay"), [(["--policy", "uniform"], 148.40), (["--no-purge"], 76.83), (["--policy", "fastest"], 49.53)]
)
def test_policies_and_purging(options: list[str], delay: float) -> None:
    assert plan(EXAMPLES / "worked-example.toml", *options)["forecast"]["delay"] == pytest.approx(delay, abs=0.01)


def test_an_infinite_delay_is_a_word() -> None:
    made = plan(EXAMPLES / "worked-example.toml", "--policy", "uniform", "--no-purge")
    assert made["forecast"]["delay"] == "inf"
    assert made["forecast"]["stable"] is False
    assert made["theta"] is None  # equal loads balance no score
    assert made["draw"]["mean"] > 100  # finite: what the first jobs will see


def test_a_ratio_of_ones_own() -> None:
    made = plan(EXAMPLES / "worked-example.toml", "--split", "3,2,1,0,5")
    assert made["loads"] == [15, 10, 5, 0, 25]
    assert "w4" in made["unused"]


def test_gamma_is_taken() -> None:
    file = EXAMPLES / "worked-example.toml"
    assert plan(file, "--gamma", 0)["theta"] != plan(file, "--gamma", 2)["theta"]


def test_the_far_worker_is_named_with_its_reason() -> None:
    made = plan(EXAMPLES / "office.toml")
    assert made["unused"]["cloud"].startswith("too far: a_p = 8.75 >= theta")
    assert made["loads"][2] <= 8  # the old laptop's capacity


def test_spares_are_recruited() -> None:
    cheap = plan(EXAMPLES / "overloaded.toml")
    assert cheap["forecast"]["delay"] == "inf"
    assert cheap["recruit"]["add"] == ["large"]  # two of the small ones do not exist, the far one is never used
    assert plan(EXAMPLES / "overloaded.toml", "--target", 60)["recruit"]["add"] == ["small", "large"]
    assert plan(EXAMPLES / "overloaded.toml", "--target", 1)["recruit"] is None


PLANNED = sorted(file for file in EXAMPLES.glob("*.toml") if "[code]" in file.read_text())  # others are for tune


@pytest.mark.parametrize("file", PLANNED, ids=lambda p: p.name)
def test_every_example_is_a_table_a_person_can_read(file: Path) -> None:
    done = deadheat("plan", file)
    assert done.returncode == 0, done.stderr
    assert "worker" in done.stdout
    assert "delay" in done.stdout
    assert "\x1b" not in done.stdout  # no colour where nobody watches
    assert max(map(len, done.stdout.splitlines())) <= 120


def test_the_numbers_promised_in_the_examples() -> None:
    for file in EXAMPLES.glob("*.toml"):
        for line in file.read_text().splitlines():
            if "forecasts a mean delay of" in line:
                promised = float(line.split()[-2])
                assert plan(file)["forecast"]["delay"] == pytest.approx(promised, abs=0.051), file.name


def test_version_and_help() -> None:
    assert deadheat("--version").stdout.strip().count(".") == 2
    helped = deadheat()
    assert helped.returncode == 0
    assert "plan" in helped.stdout


def test_a_reader_that_leaves_early_is_no_traceback() -> None:
    command = f"{sys.executable} -m deadheat plan {EXAMPLES / 'office.toml'} --json | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
