"""`deadheat plan` as a user types it: its output, its exit code; and what only a real process shows."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deadheat.model import Registry
from deadheat.planning import POLICIES
from deadheat.scheduling import SCHEDULES

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


Plan = Callable[..., dict[str, Any]]


@pytest.fixture
def plan(deadheat: Any) -> Plan:
    """The JSON of a plan."""

    def run(*arguments: object) -> dict[str, Any]:
        code, out, err = deadheat("plan", *arguments, "--json")
        assert (code, err) == (0, "")
        content: dict[str, Any] = json.loads(out)
        return content

    return run


def process(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "deadheat", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_json_of_the_worked_example_keeps_the_contract() -> None:
    done = process("plan", EXAMPLES / "worked-example.toml", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    made = json.loads(done.stdout)
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
def test_policies_and_purging(plan: Plan, options: list[str], delay: float) -> None:
    assert plan(EXAMPLES / "worked-example.toml", *options)["forecast"]["delay"] == pytest.approx(delay, abs=0.01)


def test_an_infinite_delay_is_a_word(plan: Plan) -> None:
    made = plan(EXAMPLES / "worked-example.toml", "--policy", "uniform", "--no-purge")
    assert made["forecast"]["delay"] == "inf"
    assert made["forecast"]["stable"] is False
    assert made["theta"] is None  # equal loads balance no score
    assert made["draw"]["mean"] > 100  # finite: what the first jobs will see


def test_a_ratio_of_ones_own(plan: Plan) -> None:
    made = plan(EXAMPLES / "worked-example.toml", "--split", "3,2,1,0,5")
    assert made["loads"] == [15, 10, 5, 0, 25]
    assert "w4" in made["unused"]


def test_gamma_is_taken(plan: Plan) -> None:
    file = EXAMPLES / "worked-example.toml"
    assert plan(file, "--gamma", 0)["theta"] != plan(file, "--gamma", 2)["theta"]


def test_the_far_worker_is_named_with_its_reason(plan: Plan) -> None:
    made = plan(EXAMPLES / "office.toml")
    assert made["unused"]["cloud"].startswith("its comm is too large: a_p = 8.75 >= theta")
    assert made["loads"][2] <= 8  # the old laptop's capacity


def test_spares_are_recruited(plan: Plan) -> None:
    cheap = plan(EXAMPLES / "overloaded.toml")
    assert cheap["forecast"]["delay"] == "inf"
    assert cheap["recruit"]["add"] == ["large"]  # two of the small ones do not exist, the far one is never used
    assert plan(EXAMPLES / "overloaded.toml", "--target", 60)["recruit"]["add"] == ["small", "large"]
    assert plan(EXAMPLES / "overloaded.toml", "--target", 1)["recruit"] is None


PLANNED = sorted(file for file in EXAMPLES.glob("*.toml") if "[code]" in file.read_text())  # others are for tune


@pytest.mark.parametrize("file", PLANNED, ids=lambda p: p.name)
def test_every_example_is_a_table_a_person_can_read(deadheat: Any, file: Path) -> None:
    code, out, err = deadheat("plan", file)
    assert (code, err) == (0, "")
    assert "worker" in out
    assert "delay" in out
    assert "\x1b" not in out  # no colour where nobody watches
    assert max(map(len, out.splitlines())) <= 120


def test_the_numbers_promised_in_the_examples(plan: Plan) -> None:
    for file in EXAMPLES.glob("*.toml"):
        for line in file.read_text().splitlines():
            if "forecasts a mean delay of" in line:
                promised = float(line.split()[-2])
                assert plan(file)["forecast"]["delay"] == pytest.approx(promised, abs=0.051), file.name


def test_version_and_help(deadheat: Any) -> None:
    assert process("--version").stdout.strip().count(".") == 2
    code, out, _ = deadheat()
    assert code == 0
    assert "plan" in out
    assert "replay" in out


@pytest.mark.parametrize(
    ("command", "registry"),
    [
        ("plan", POLICIES),
        ("simulate", POLICIES),
        ("simulate", SCHEDULES),
        ("compare", SCHEDULES),
        ("tune", SCHEDULES),
        ("run", SCHEDULES),
    ],
    ids=lambda value: value if isinstance(value, str) else value.what,
)
def test_help_lists_what_is_registered(deadheat: Any, command: str, registry: Registry[object]) -> None:
    code, out, _ = deadheat(command, "--help")
    assert code == 0
    assert ", ".join(registry) in " ".join(out.split())


def test_the_command_line_starts_light() -> None:
    heavy = ("matplotlib", "torch", "ray", "scipy.stats", "pyarrow")
    code = f"import deadheat.cli, sys; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_reader_that_leaves_early_is_no_traceback() -> None:
    command = f"{sys.executable} -m deadheat plan {EXAMPLES / 'office.toml'} --json | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
