"""`deadheat compare`: policies x schedules x redundancy, in pairs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import deadheat as dh
from deadheat.scheduling import SCHEDULES, Schedule, schedules

EXAMPLE = Path(__file__).parents[2] / "examples" / "worked-example.toml"
SHORT = ("--jobs", 40, "--replications", 4, "--seed", 3)


def compare(deadheat: Any, *arguments: object) -> dict[str, Any]:
    code, out, err = deadheat("compare", EXAMPLE, *SHORT, *arguments, "--json")
    assert (code, err) == (0, "")
    content: dict[str, Any] = json.loads(out)
    return content


def test_json_of_the_worked_example(deadheat: Any) -> None:
    made = compare(deadheat)
    assert made["baseline"] == "optimal, static"
    schemes = {scheme["name"]: scheme for scheme in made["schemes"]}
    assert list(schemes) == ["optimal, static", "uniform, static", "fastest, static"]
    for scheme in schemes.values():
        assert {"mean", "ci95", "p50", "p95", "p99"} <= set(scheme["delay"])
        assert {"service", "loads", "difference", "forecast", "jobs", "replications", "seed"} <= set(scheme)
        assert (scheme["jobs"], scheme["replications"], scheme["seed"]) == (40, 4, 3)
    first, uniform = schemes["optimal, static"], schemes["uniform, static"]
    assert first["difference"] == {"mean": 0.0, "ci95": [0.0, 0.0]}
    assert uniform["loads"] == [11] * 5
    difference = uniform["delay"]["mean"] - first["delay"]["mean"]
    assert uniform["difference"]["mean"] == pytest.approx(difference)
    low, high = uniform["difference"]["ci95"]
    assert low < difference < high
    assert (first["forecast"], uniform["forecast"]) == pytest.approx((49.53, 148.4), abs=0.05)


def test_the_first_scheme_is_what_simulate_gives(deadheat: Any) -> None:
    code, out, _ = deadheat("simulate", EXAMPLE, *SHORT, "--json")
    assert code == 0
    assert compare(deadheat, "--policies", "optimal")["schemes"][0]["delay"] == json.loads(out)["delay"]


def test_the_product_of_all(deadheat: Any) -> None:
    lists = ("--policies", "uniform,optimal", "--schedules", "static,top-up", "--redundancy", "1,1.1")
    made = compare(deadheat, *lists, "--jobs", 6, "--replications", 2)  # top-up is followed event by event
    names = [scheme["name"] for scheme in made["schemes"]]
    assert len(set(names)) == 8
    assert made["baseline"] == names[0] == "uniform, static, Omega 1"
    assert {scheme["redundancy"] for scheme in made["schemes"]} == {1.0, 1.1}
    delay = {scheme["name"]: scheme["delay"]["mean"] for scheme in made["schemes"]}
    for omega in ("1", "1.1"):  # spare tasks for idle workers are a great help to equal loads
        assert delay[f"uniform, top-up, Omega {omega}"] < delay[f"uniform, static, Omega {omega}"]
    assert [s["forecast"] is None for s in made["schemes"]] == ["top-up" in name for name in names]


def test_the_same_seed_the_same_output(deadheat: Any) -> None:
    options = ("--schedules", "static,pull", "--policies", "optimal,uniform")
    assert compare(deadheat, *options) == compare(deadheat, *options)


class Lonely(Schedule):
    """The first worker does everything, as long as it has time."""

    def opening(self, workers: Sequence[int], loads: Sequence[int], critical: int) -> dict[int, tuple[int, ...]]:
        return {workers[0]: tuple(range(sum(loads)))}


@pytest.fixture
def lonely() -> Iterator[None]:
    """A schedule of the user's own, known by name while the test runs."""
    schedules.register("lonely", Lonely())
    yield
    del SCHEDULES._things["lonely"]


def test_a_registered_schedule_is_known(deadheat: Any, lonely: None) -> None:
    made = compare(deadheat, "--policies", "optimal", "--schedules", "static,lonely", "--jobs", 4, "--replications", 2)
    static, own = made["schemes"]
    assert own["name"] == "optimal, lonely"
    # The first worker needs 50 times 0.05345 s and its comm for K results: 2.72 s an iteration, 50 iterations.
    assert own["service"]["mean"] == pytest.approx(50 * (50 * 2_827_440 / 5.29e7 + 0.0481), rel=0.1)
    assert own["forecast"] is None
    assert static["forecast"] is not None
    code, out, err = deadheat("simulate", EXAMPLE, *SHORT, "--schedule", "lonely", "--jobs", 4, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["service"]["mean"] > 2 * static["service"]["mean"]


def test_an_unknown_name_is_answered_with_the_option_and_the_nearest(deadheat: Any, lonely: None) -> None:
    for option, name, answer in (
        ("--schedules", "lonly", "no such schedule; did you mean 'lonely'?"),
        ("--policies", "unifrm", "no such policy; did you mean 'uniform'?"),
    ):
        code, out, err = deadheat("compare", EXAMPLE, *SHORT, option, f"{name}")
        assert (code, out) == (2, "")
        assert err == f"deadheat: {option} = '{name}': {answer}\n"


def test_a_table_for_people(deadheat: Any) -> None:
    code, out, err = deadheat("compare", EXAMPLE, *SHORT)
    assert (code, err) == (0, "")
    assert "uniform, static" in out
    assert "against the first" in out
    assert "4 independent runs of 40 jobs" in out
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 120


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_figure(deadheat: Any, ending: str, tmp_path: Path) -> None:
    compare(deadheat, "--policies", "optimal", "--figure", tmp_path / f"delays.{ending}")
    head = (tmp_path / f"delays.{ending}").read_bytes()[:200]
    assert {"png": b"PNG", "svg": b"<?xml", "pdf": b"%PDF"}[ending] in head


@pytest.mark.parametrize(
    "options",
    [
        ["--policies", "best"],
        ["--policies", ","],
        ["--schedules", "pul"],
        ["--redundancy", "much"],
        ["--redundancy", "0.9"],
        ["--redundancy", "1.01"],
        ["--redundancy", "nan"],
        ["--purge", "sometimes"],
        ["--schedules", "static,pull", "--purge", "never"],
        ["--precision", "0%"],
        ["--jobs", "-5"],
        ["--seed", "-1"],
        ["--figure", "delays.xlsx"],
        ["--figure", "no/such/folder/delays.png"],
    ],
    ids=" ".join,
)
def test_bad_options_are_one_line_and_exit_code_2(
    deadheat: Any, options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = deadheat("compare", EXAMPLE, *SHORT, *options)
    assert code == 2
    assert out == ""
    assert err.startswith("deadheat: ")
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_the_scenarios_other_workers_are_compared_too(deadheat: Any) -> None:
    file = EXAMPLE.with_name("office.toml")
    code, out, err = deadheat("compare", file, *SHORT, "--policies", "optimal", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["schemes"][0]["forecast"] == pytest.approx(
        json.loads(_plan(deadheat, file))["forecast"]["delay"]
    )
    assert dh.__version__ == json.loads(out)["version"]


def _plan(deadheat: Any, file: Path) -> str:
    _, out, _ = deadheat("plan", file, "--json")
    return str(out)
