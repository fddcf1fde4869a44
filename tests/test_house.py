"""The house: imports point down, rooms on one floor do not know each other, names are exported once."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import deadheat

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "deadheat"
FLOORS = (
    {"errors"},
    {"model"},
    {"queueing", "coding"},
    {"planning"},  # the same floor in the plan of the house, but it may stand on queueing
    {"scheduling"},
    {"simulation"},
    {"tuning"},
    {"runtime"},
    {"jobs"},
    {"service", "reporting", "paper"},
    {"cli"},
)
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
APART = {("planning", "coding")}  # rooms of one floor do not know each other
NAMESPACES = {"__init__.py", "__main__.py", "engines.py", "sklearn.py", "theory.py", "torch.py"}


def room(file: Path) -> str:
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(file: Path) -> set[str]:
    """Full names of the modules a file imports, also those inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            found.add(node.module or "")
    return found


def files() -> list[Path]:
    return [f for f in sorted(SOURCE.rglob("*.py")) if f.parent != SOURCE or f.name not in NAMESPACES]


def test_every_room_has_a_floor() -> None:
    assert {room(f) for f in files()} <= set(FLOOR)


def points_up(own: str, name: str) -> bool:
    """Whether a file of room `own` must not import the module `name`."""
    parts = name.split(".")
    if parts[0] != "deadheat":
        return False
    if len(parts) == 1:  # the package itself: its version, for the command line only
        return own != "cli"
    return parts[1] != own and (FLOOR[parts[1]] >= FLOOR[own] or (own, parts[1]) in APART)


def reaches_past(own: str, name: str) -> bool:
    """Whether a file of room `own` imports from the inside of another room, and not from its `__init__`."""
    parts = name.split(".")
    return parts[0] == "deadheat" and len(parts) > 2 and parts[1] != own


def test_imports_point_down() -> None:
    wrong = [
        f"{f.relative_to(SOURCE)} imports {name}" for f in files() for name in imported(f) if points_up(room(f), name)
    ]
    assert wrong == []


def test_nobody_reaches_past_a_room() -> None:
    wrong = [
        f"{f.relative_to(SOURCE)} imports {name}"
        for f in files()
        for name in imported(f)
        if reaches_past(room(f), name)
    ]
    assert wrong == []


def test_a_wrong_import_would_be_seen() -> None:
    assert points_up("model", "deadheat.planning")
    assert points_up("queueing", "deadheat.planning")
    assert points_up("planning", "deadheat.coding")  # the same floor
    assert points_up("scheduling", "deadheat.simulation")
    assert points_up("tuning", "deadheat")
    assert not points_up("planning", "deadheat.queueing")
    assert reaches_past("jobs", "deadheat.coding.cost")
    assert not reaches_past("coding", "deadheat.coding.cost")
    assert not reaches_past("jobs", "deadheat.coding")


def test_public_names_exist_once_and_are_documented() -> None:
    assert sorted(set(deadheat.__all__)) == sorted(deadheat.__all__)
    assert set(deadheat.__all__) <= set(dir(deadheat))
    for name in deadheat.__all__:
        assert getattr(deadheat, name).__doc__, name


def test_the_top_has_about_25_names_and_the_rest_is_in_namespaces() -> None:
    modules = [name for name in deadheat.__all__ if isinstance(getattr(deadheat, name), ModuleType)]
    assert sorted(modules) == [
        "codes", "engines", "jobs", "laws", "policies", "schedules", "sklearn", "theory", "torch"
    ]  # fmt: skip
    assert len(deadheat.__all__) - len(modules) <= 32
    for module in modules:
        assert any(not name.startswith("_") for name in dir(getattr(deadheat, module)))


def test_names_of_the_contract_are_there() -> None:
    """../shared/design.md, Public names."""
    for name in [
        "Worker",
        "Cluster",
        "CodeSpec",
        "Stream",
        "split",
        "uniform",
        "fastest",
        "mismatch",
        "choose",
        "forecast",
        "lower_bound",
        "simulate",
        "tune",
        "codes",
        "Job",
        "run",
        "Pool",
        "measure",
        "torch",
        "DeadheatError",
        "laws",
        "jobs",
        "theory",
        "policies",
    ]:
        assert hasattr(deadheat, name), name
    assert hasattr(deadheat.torch, "Training")
    assert issubclass(deadheat.BadInput, ValueError)
    assert issubclass(deadheat.BadInput, deadheat.DeadheatError)


def test_type_checkers_see_what_is_imported_late(tmp_path: Path) -> None:
    script = tmp_path / "uses.py"
    script.write_text(
        "import deadheat as dh\n"
        "reveal_type(dh.torch.Training)\nreveal_type(dh.sklearn.LogisticClassifier)\n"
        "reveal_type(dh.engines.LocalEngine)\nreveal_type(dh.jobs.pagerank)\n"
    )
    done = subprocess.run([sys.executable, "-m", "mypy", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.count("Revealed type is") == 4
    assert 'Revealed type is "Any"' not in done.stdout
    assert "error" not in done.stdout


def test_no_global_generator() -> None:
    legacy = re.compile(r"np\.random\.(?!default_rng|Generator|SeedSequence|SFC64)")
    assert [f.name for f in files() if legacy.search(f.read_text())] == []


def test_import_is_light() -> None:
    heavy = ("ray", "torch", "matplotlib", "scipy.stats", "scipy.special", "typer", "rich", "pandas")
    code = f"import deadheat, sys; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_command_line_starts_without_scipy_stats() -> None:
    code = "import deadheat.cli, sys; print('scipy.stats' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_files_stay_small() -> None:
    assert [f.name for f in files() if len(f.read_text().splitlines()) > 400] == []


def test_no_drawer_for_everything() -> None:
    assert [f.name for f in files() if f.stem in {"utils", "common", "helpers", "base", "misc"}] == []


def test_no_path_of_one_machine() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    marker = str(ROOT.parent) + "/"
    texts = (f for f in listed if Path(f).suffix in {".py", ".md", ".toml", ""} and (ROOT / f).is_file())
    assert [f for f in texts if marker in (ROOT / f).read_text(errors="ignore")] == []


ROW = re.compile(
    r"^\| (?P<what>[^|]+) \| `(?P<function>[\w.]+)` \| `(?P<test>[\w/.]+)::(?P<name>\w+)` \| (?P<note>[^|]*) \|$"
)


def test_the_paper_table_is_true() -> None:
    """Each row of docs/paper.md names a function that exists and a test that exists."""
    lines = (ROOT / "docs" / "paper.md").read_text().splitlines()
    rows = [line for line in lines if line.startswith("| ") and "`" in line]
    assert len(rows) >= 20
    for line in rows:
        found = ROW.match(line)
        assert found, f"not a row: {line}"
        module, _, attribute = found["function"].rpartition(".")
        target = importlib.import_module(module)
        assert hasattr(target, attribute), found["function"]
        text = (ROOT / found["test"]).read_text()
        assert f"def {found['name']}(" in text, line
