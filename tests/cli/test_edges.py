"""Numbers, names and sizes at the edge of what can be: one line and exit code 2, or an answer in time."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.cli.scenario_file import read_scenario
from deadheat.model.quantity import LEAST, MOST
from deadheat.queueing import IterationLaw, draw
from deadheat.reporting import console, printable
from deadheat.simulation import most_runs, seconds_of_run
from deadheat.tuning.judge import MOST_WORK, Judge

GOOD = """
[stream]
rate = 0.01
iterations = 50
[code]
critical = 50
redundancy = 1.1
[split]
policy = "optimal"
[[workers]]
name = "a"
mean = 0.01
std = 0.01
[[workers]]
name = "b"
mean = 0.02
std = 0.01
"""
REFUSED = {  # what is written instead, and words of the refusal
    "policy = 3": ('policy = "optimal"', "split.policy = 3"),
    "mean = 1e308": ("mean = 0.01", "workers[1].mean = 1e+308: must be at most 1e+30"),
    "mean = 5e-324": ("mean = 0.01", "workers[1].mean = 5e-324: too small: below 1e-30"),
    "std = 1e308": ("std = 0.01", "workers[1].std = 1e+308"),
    "iterations = 1e300": ("iterations = 50", "stream.iterations = 1e+300: must be at most 1e+12"),
    "iterations = 50\njobs = 1e300": ("iterations = 50", "stream.jobs = 1e+300"),
    "rate = 1e-300": ("rate = 0.01", "stream.rate = 1e-300"),
    "critical = 50\nwork = 1e200": ("critical = 50", "code.work = 1e+200"),
    "critical = 1000000": ("critical = 50", "critical = 1000000: the law of an iteration with 2 workers"),
    'name = "\\u001b[31m"': ('name = "a"', "workers[1].name = '\\x1b[31m': has characters that cannot be shown"),
    'name = "a\\nb"': ('name = "a"', "workers[1].name = 'a\\nb'"),
    'name = "\\u202e"': ('name = "a"', "workers[1].name"),
    'name = "a"\n"\\u001b[1m" = 3': ('name = "a"', "\\x1b[1m = 3: unknown key"),
    'critical = 50\nfamily = "\\u0007"': ("critical = 50", "code.family = '\\x07'"),
}  # fmt: skip


@pytest.mark.parametrize("new", REFUSED)
@pytest.mark.parametrize("command", ["plan", "simulate"])
def test_what_no_arithmetic_stands_is_refused_in_one_line(
    command: str, new: str, tmp_path: Path, deadheat: Any
) -> None:
    old, words = REFUSED[new]
    assert GOOD.count(old) >= 1
    (tmp_path / "edge.toml").write_text(GOOD.replace(old, new, 1))
    code, out, err = deadheat(command, tmp_path / "edge.toml")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert words in err


def test_24000_results_are_simulated(tmp_path: Path, deadheat: Any) -> None:
    """The table of their law has fewer points, since the law is smooth; its mean and spread are exact."""
    (tmp_path / "many.toml").write_text(GOOD.replace("critical = 50", "critical = 24000").replace("50", "5"))
    code, out, err = deadheat("simulate", tmp_path / "many.toml", "--jobs", 100, "--seed", 1, "--json")
    assert (code, err) == (0, "")
    seconds = 24000 / (1 / 0.01 + 1 / 0.02)  # of an iteration, as a fluid
    assert json.loads(out)["service"]["mean"] == pytest.approx(5 * seconds, rel=0.01)


def test_the_least_and_the_largest_numbers_are_answered() -> None:
    for mean in (LEAST, MOST / 1e6):
        cluster = dh.Cluster([dh.Worker(mean, mean), dh.Worker(2 * mean, mean)])
        spec = dh.CodeSpec(10, 1.2)
        forecast = dh.forecast(cluster, dh.split(cluster, spec, gamma=0.0), dh.Stream.poisson(1e-30, 5))
        assert 2 * mean < forecast.iteration_mean < 12 * mean


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["compare", "--schedules", "pull", "--purge", "never"], "--schedules = 'pull': has no timeline"),
        (["compare", "--policies", "optmal"], "--policies = 'optmal'"),
        (["compare", "--replications", "0"], "--replications = 0"),
        (["simulate", "--jobs", "1000000000"], "--jobs = 1000000000: "),
        (["simulate", "--jobs", "1000000", "--schedule", "speculative"], "--jobs = 1000000: a run takes some"),
        (["simulate", "--replications", "100000"], "--replications = 100000: more than 10000"),
        (["simulate", "--timeline", "t.csv", "--purge", "between-tasks"], "--timeline = "),
        (["plan", "--gamma", "1e300"], "--gamma = 1e+300"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_options_are_named_as_typed(arguments: list[str], words: str, tmp_path: Path, deadheat: Any) -> None:
    (tmp_path / "good.toml").write_text(GOOD)
    code, _, err = deadheat(arguments[0], tmp_path / "good.toml", *arguments[1:])
    assert (code, err.count("\n")) == (2, 1)
    assert words in err


def test_control_characters_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert printable("a\x1b[31m\x9b\u202eé\n\t") == "a\\x1b[31m\\x9b\\u202eé\n\t"
    console().print("\x1b]0;title\x07", markup=False)
    assert capsys.readouterr().out == "\\x1b]0;title\\x07\n"


def test_a_break_even_beyond_all_codes_is_never() -> None:
    """Heavy tails: workers that never wait could do any work in the time of the slowest of 40."""
    for std, most in ((1.0, MOST_WORK), (5.0, np.inf)):
        cluster = dh.Cluster([dh.Worker(1.0, std) for _ in range(20)])
        judge = Judge(cluster, dh.Stream.poisson(1e-6, 1), 1.0, None, 0)
        even = judge.break_even(dh.Workload("gradient", 10.0), (10,), 5.0)
        assert 1 < even <= most
        assert (even == np.inf) == (std == 5.0)


def test_the_average_of_many_jobs_at_full_load_is_told_in_time() -> None:
    """A queue that is exactly full: waits grow with the root of the number of jobs, as those of a Brownian motion.

    Its reflected mean is spread sqrt(2 j/pi) after j jobs, and over J of them two thirds of that at J.
    """
    stream = dh.Stream.poisson(1.0, 1)
    expected = np.sqrt(2.0) * np.sqrt(2 * 1e8 / np.pi) * 2 / 3
    assert draw(stream, 1.0, 1.0, 10**8).mean == pytest.approx(expected, rel=0.005)


def test_busy_workers_are_the_same_by_the_normal_law(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = dh.Cluster.from_columns(np.linspace(1.0, 3.0, 60), np.linspace(1.0, 3.0, 60), 0.1)
    spec = dh.CodeSpec(600, 1.1)
    law = IterationLaw(cluster.tasks(spec), dh.split(cluster, spec).loads, 600)
    exact = law.busy
    monkeypatch.setattr(sys.modules["deadheat.queueing.iteration_law"], "EXACT_BUSY", 0)
    near = IterationLaw(cluster.tasks(spec), dh.split(cluster, spec).loads, 600).busy
    assert np.abs(near - exact).max() < 1e-3
    assert exact.min() < 0.99


def test_equal_workers_share_their_law() -> None:
    laws = dh.Cluster.from_columns([1.0, 2.0, 1.0], 1.0).tasks(dh.CodeSpec(3, work=2.0)).laws
    assert laws[0] is laws[2]
    assert [law.mean() for law in laws] == [2.0, 4.0, 2.0]


def test_runs_are_counted_by_what_they_take() -> None:
    cluster = dh.Cluster([dh.Worker(1.0, 1.0)] * 2)
    split, stream = dh.split(cluster, dh.CodeSpec(10)), dh.Stream.poisson(0.001, 10)
    quick = seconds_of_run(split, stream, 1000, dh.schedules.Static(), by_tasks=False, followed=False)
    slow = seconds_of_run(split, stream, 1000, dh.schedules.Speculative(), by_tasks=True, followed=False)
    assert most_runs([quick], 1000) == 400
    assert 2 <= most_runs([slow], 1000) < 400
    with pytest.raises(dh.BadInput, match="jobs = 1000"):
        most_runs([100 * slow], 1000)
    with pytest.raises(dh.BadInput, match="iterations = 1000000000"):
        dh.simulate(cluster, split, dh.Stream.poisson(0.001, 10**9), 1)


LOPSIDED = """
[stream]
interarrival = {mean = 60.0, std = 20.0}
iterations = 20
[code]
critical = 24
redundancy = 1.25
shared_chunks = 1
seconds_per_task = 0.001
[split]
ratio = [3, 2, 1]
[[workers]]
mean = 0.02
std = 0.02
comm = 0.01
law = "lognormal"
[[workers]]
mean = 0.02
std = 0.06
comm = 0.01
law = {family = "mixture", slowdown = 5.0, probability = 0.1}
[[workers]]
law = {family = "empirical", samples = [0.02, 0.03, 1e30]}
"""


def test_samples_thirty_orders_apart_are_refused_and_not_forecast_as_nothing(tmp_path: Path) -> None:
    """Found by make fuzz, seed 21, number 5."""
    file = tmp_path / "lopsided.toml"
    file.write_text(LOPSIDED)
    with pytest.raises(dh.BadInput, match="orders of magnitude"):
        dh.plan(read_scenario(file))


def test_a_slowdown_beyond_all_bounds_is_refused() -> None:
    """Found by make fuzz, seed 22, number 499."""
    with pytest.raises(dh.BadInput, match="slowdown"):
        dh.laws.Mixture.from_moments(0.02, 0.06, slowdown=1e300)
