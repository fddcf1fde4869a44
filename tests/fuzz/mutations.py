"""Scenario files and option sets that nobody should write: good ones, changed at random in one to three places."""

from __future__ import annotations

import json
import random
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

WORKER = {"name": "a", "mean": 0.02, "std": 0.02, "comm": 0.01}
BASES: tuple[dict[str, Any], ...] = (
    {
        "stream": {"rate": 0.05, "iterations": 5, "jobs": 50},
        "code": {"critical": 10, "redundancy": 1.2, "work": 1.0},
        "split": {"policy": "optimal", "gamma": 1.0},
        "workers": [WORKER, {**WORKER, "name": "b", "mean": 0.04}, {**WORKER, "name": "c", "comm": 0.3}],
        "engine": {"kind": "local", "emulate": True, "speedup": 10.0},
    },
    {
        "stream": {"interarrival": {"mean": 60.0, "std": 20.0}, "iterations": 20},
        "code": {"critical": 24, "redundancy": 1.25, "shared_chunks": 1, "seconds_per_task": 0.001},
        "split": {"ratio": [3, 2, 1]},
        "overhead": {"encode": 0.001, "decode": 0.002, "update": 0.0},
        "workers": [
            {**WORKER, "law": "lognormal"},
            {**WORKER, "name": "b", "std": 0.06, "law": {"family": "mixture", "slowdown": 5.0, "probability": 0.1}},
            {"name": "c", "law": {"family": "empirical", "samples": [0.02, 0.03, 0.05]}, "capacity": 20},
        ],
    },
    {
        "stream": {"rate": 3.0, "iterations": 5},
        "code": {"critical": 40, "redundancy": 1.1},
        "workers": [WORKER, {**WORKER, "name": "b", "law": "shifted-exponential"}],
        "spares": [{**WORKER, "name": "c", "price": 1.0}, {**WORKER, "name": "d", "price": 0.5, "comm": 5.0}],
        "condition": {"factor": 10.0, "enter": 0.2},
    },
    {
        "stream": {"rate": 0.01, "iterations": 10, "jobs": 3},
        "workload": {"kind": "gradient", "work": 100.0, "result": 10.0, "state": 10.0, "bandwidth": 1e6},
        "search": {"critical": [10, 20], "redundancy": [1.0, 1.2, 2.0], "policies": ["optimal"]},
        "workers": [WORKER, {**WORKER, "name": "b", "std": 0.1}, {**WORKER, "name": "c", "law": "weibull"}],
        "engine": {"emulate": True, "speedup": 100.0},
        "job": {"kind": "least-squares", "rows": 200, "columns": 3},
    },
    {
        "stream": {"rate": 0.01, "iterations": 10},
        "workload": {"kind": "linear", "work": 50.0, "data": 1000.0, "speed": 1e8, "update": 0.001},
        "search": {"critical": [10], "redundancy": [1.0, 1.5], "schedules": ["static", "pull"]},
        "workers": [WORKER, {**WORKER, "name": "b", "law": "pareto"}],
        "condition": {"factor": 3.0, "enter": 0.1, "leave": 0.3},
    },
)  # fmt: skip
NUMBERS: tuple[Any, ...] = (
    0, 1, -1, 2, 3, 7, 0.5, 1.1, 1e-3, 1e-12, 1e-30, 1e-150, 5e-324, 1e3, 24000, 1e6, 1e9, 1e12, 1e15, 1e30, 1e150,
    1e300, 1.7e308, 2**31, 2**53, 2**63, 2**64, 10**30, 10**400, -1e308, float("inf"), float("-inf"), float("nan"),
)  # fmt: skip
TEXTS: tuple[str, ...] = (
    "", "x", "optimal", "fastest", "uniform", "hcmm", "proportional", "gamma", "lognormal", "pareto", "deterministic",
    "cyclic", "mds", "uncoded", "local", "gradient", "product", "\x1b[31mred\x1b[0m", "a\nb", "\x07", "\x9b2J", "é✓",
    "[bold]b[/]", "<b>&", "../..", "w" * 300, "job.py:job",
)  # fmt: skip
OTHERS: tuple[Any, ...] = (True, False, [], {}, [1, 2, 3], [[]], ["x"], [float("nan")], {"mean": 1}, [{}])
SHORT_RUNS: tuple[Any, ...] = tuple(n for n in NUMBERS if not (isinstance(n, (int, float)) and 2 < n < float("inf")))
OPTIONS: dict[str, dict[str, tuple[Any, ...]]] = {
    "plan": {"--policy": TEXTS, "--gamma": NUMBERS, "--split": ("3,2,1", "1", "a,b", "", "nan,1,1", "1e308,1e308,1"),
             "--target": NUMBERS, "--no-purge": (None,)},
    "simulate": {"--jobs": NUMBERS, "--replications": (1, 2, 0, -1, 5), "--precision": ("5%", "0", "x", "1e-300"),
                 "--seed": (1, -1, 2**70, "x"), "--policy": TEXTS, "--purge": ("never", "between-tasks", "x"),
                 "--schedule": ("pull", "top-up", "duplicates", "speculative", "x", "")},
    "compare": {"--policies": ("optimal,hcmm", "x", "", ",", "uniform"), "--schedules": ("static,pull", "top-up", "x"),
                "--redundancy": ("1,1.5", "0", "nan", "1e300", "x"), "--jobs": NUMBERS, "--precision": ("10%", "-1"),
                "--replications": (2, 0), "--seed": (1, -1), "--purge": ("never", "between-tasks")},
    "tune": {"--families": ("cyclic,uncoded", "x", "", "mds", "lt"), "--schedules": ("static,pull", "top-up", "x"),
             "--top": (1, 0, -3, 10**30), "--seed": (1, -1, 2**70)},
    "run": {"--policy": TEXTS, "--schedule": ("pull", "top-up", "duplicates", "speculative", "x"), "--fixed": (None,),
            "--seed": (1, -1), "--speedup": (10, 0, -1, "nan", 1e300, 1e-300), "--job": ("x", "no.py:job", "\x1b[1m:x"),
            "--engine": ("x", "local"), "--out": ("no/out.csv", "out.x", ".")},
}  # fmt: skip
COMMANDS = ("plan",) * 6 + ("simulate",) * 5 + ("compare",) * 3 + ("tune",) * 3 + ("run",) * 3


@dataclass(frozen=True)
class Case:
    """A command with its options, and the bytes of its scenario file."""

    number: int
    command: str
    options: tuple[str, ...]
    file: bytes


def case(seed: int, number: int) -> Case:
    """The same seed and number, the same case."""
    rng = random.Random(f"{seed}/{number}")
    command = rng.choice(COMMANDS)
    bases = {"tune": BASES[3:], "run": (BASES[0], BASES[3]), "compare": BASES[:3], "simulate": BASES[:3]}
    scenario = deepcopy(rng.choice(bases.get(command, BASES)))
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        _mutate(scenario, rng, SHORT_RUNS if command == "run" else NUMBERS)
    text = "\n".join(_toml(scenario))
    if rng.random() < 0.1:
        text = _garbled(text, rng)
    options = ["--json"] if rng.random() < 0.5 else []
    for name in rng.sample(list(OPTIONS[command]), rng.choice((0, 0, 1, 1, 2))):
        value = rng.choice(OPTIONS[command][name])
        options += [name] if value is None else [f"{name}={value}"] if rng.random() < 0.5 else [name, str(value)]
    if command == "run":
        options += ["--jobs", "1"]
    return Case(number, command, tuple(options), text.encode("utf-8", "surrogatepass"))


def _mutate(scenario: dict[str, Any], rng: random.Random, numbers: tuple[Any, ...]) -> None:
    """Change one thing: a value, a key, a table, or the number of workers."""
    table, key = _place(scenario, rng)
    if numbers is SHORT_RUNS and key == "speedup":
        return  # emulated times a thousand times as long are what was asked for, and no hang
    kind = rng.random()
    if kind < 0.55:
        table[key] = rng.choice(numbers)
    elif kind < 0.65:
        table[key] = rng.choice(TEXTS)
    elif kind < 0.75:
        table[key] = rng.choice(OTHERS)
    elif kind < 0.82:
        del table[key]
    elif kind < 0.87 and isinstance(table, dict):
        table[rng.choice(TEXTS) or "y"] = table.pop(key)
    elif kind < 0.92 and isinstance(scenario.get("workers"), list):
        many = rng.choice((0, 1, 2, 100, 3000)) if numbers is NUMBERS else rng.choice((0, 1, 2))
        scenario["workers"] = [{**WORKER, "name": "" if many > 2 else "a"} for _ in range(many)]
    elif isinstance(table[key], (int, float)) and not isinstance(table[key], bool):
        table[key] *= rng.choice((-1, 0.1, 10, 100)) if numbers is NUMBERS else rng.choice((-1, 0.1))
    else:
        table[key] = [deepcopy(table[key])] * rng.choice((1, 2))


def _place(scenario: dict[str, Any], rng: random.Random) -> tuple[Any, Any]:
    """A table (or a list) of the scenario, and a key (or a place) in it; deeper ones more often than shallow ones."""
    places: list[tuple[Any, Any]] = []

    def walk(value: Any, depth: int) -> None:
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            places.extend([(value, key)] * (1 if depth == 0 else 4))
            if isinstance(inner, (dict, list)):
                walk(inner, depth + 1)

    walk(scenario, 0)
    return rng.choice(places)


def _garbled(text: str, rng: random.Random) -> str:
    """A text with some characters lost, doubled or replaced."""
    for _ in range(rng.choice((1, 1, 3))):
        place = rng.randrange(len(text))
        text = (
            text[:place]
            + rng.choice(("", text[place] * 2, "\x00", "\x1b", "=", "\n", "]", '"', "\ud800"))
            + text[place + 1 :]
        )
    return text


def _toml(table: dict[str, Any], path: str = "") -> list[str]:
    """The lines of a scenario in TOML: its own keys as inline values, its tables below."""
    lines = []
    for key, value in table.items():
        name = json.dumps(key)
        if not path and isinstance(value, dict):
            lines += [f"[{name}]", *_toml(value, name)]
        elif not path and isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            lines += [line for item in value for line in (f"[[{name}]]", *_toml(item, name))]
        elif path:
            lines.append(f"{name} = {_inline(value)}")
        else:
            lines.insert(0, f"{name} = {_inline(value)}")
    return lines


def _inline(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_inline(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return json.dumps(value).replace("\\u009b", "\\u009B") if isinstance(value, str) else repr(value)
