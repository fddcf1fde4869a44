"""The fingerprint of a job sees into the user's own modules, as far as its functions use them."""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from deadheat.runtime import Job
from deadheat.runtime.fingerprint import differences, fingerprint

Mark = Callable[[str, dict[str, str]], str]
MODULES = ("own_numbers", "own_inner", "own_package", "own_package.part")


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mark]:
    """The fingerprint of a job with a function `f` of a script, beside files that are written first."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def mark(script: str, files: dict[str, str]) -> str:
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        _forget()
        around: dict[str, Any] = {}
        exec(script, around)
        job = Job([1.0, 2.0], around["f"], 0.0, lambda state, total, iteration: state + total, 3)
        return fingerprint(job.program(None, math.inf), job.start)

    yield mark
    _forget()


def _forget() -> None:
    importlib.invalidate_caches()
    for name in MODULES:
        sys.modules.pop(name, None)


SCRIPTS = {
    "an attribute": "import own_numbers\ndef f(s, c): return own_numbers.g(c)",
    "an attribute of a part": "import own_package.part\ndef f(s, c): return own_package.part.g(c)",
    "another name": "import own_numbers as numbers\nf = lambda s, c: numbers.g(c)",
    "a closure": "import own_numbers\ndef make(m): return lambda s, c: m.g(c)\nf = make(own_numbers)",
    "a default": "import own_numbers\ndef f(s, c, *, m=own_numbers): return m.g(c)",
    "a name": "from own_numbers import g\ndef f(s, c): return g(c)",
    "an import in the function": "def f(s, c):\n    from own_numbers import g\n    return g(c)",
    "an import of a package in the function": "def f(s, c):\n    from own_package import part\n    return part.g(c)",
    "an import within an import": "def f(s, c):\n    import own_inner\n    return own_inner.g(c)",
    "a name in words": "import own_numbers\ndef f(s, c): return getattr(own_numbers, 'g')(c)",
    "a function of another module": "import own_inner\ndef f(s, c): return own_inner.h(c)",
}
INNER = "import own_numbers\nfrom own_numbers import g\ndef h(c): return own_numbers.g(c)\n"


def written(body: str) -> dict[str, str]:
    numbers = f"def g(c): return {body}\n"
    package = {"own_package/__init__.py": "", "own_package/part.py": numbers}
    return {"own_numbers.py": numbers, "own_inner.py": INNER, **package}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_an_edit_in_a_module_of_the_users_counts(mark: Mark, script: str) -> None:
    plain = mark(script, written("c"))
    assert mark(script, written("c")) == plain
    assert differences(plain, mark(script, written("10 * c"))) == "other functions or settings"


def test_what_is_not_used_of_a_module_does_not_count(mark: Mark) -> None:
    script = SCRIPTS["an attribute"]
    plain = mark(script, {"own_numbers.py": "def g(c): return c\n"})
    assert plain == mark(script, {"own_numbers.py": "# a remark\n\ndef g(c): return c\nOTHER = 5\n"})


def test_constants_of_a_module_count(mark: Mark) -> None:
    script = "import own_numbers\ndef f(s, c): return own_numbers.RATE * c"
    assert mark(script, {"own_numbers.py": "RATE = 1.0"}) != mark(script, {"own_numbers.py": "RATE = 2.0"})


def test_modules_that_import_each_other_are_no_trap(mark: Mark) -> None:
    script = "import own_numbers\ndef f(s, c): return own_numbers.own_inner.own_numbers.g(c)"
    files = {"own_numbers.py": "import own_inner\ndef g(c): return c", "own_inner.py": "import own_numbers"}
    other = files | {"own_numbers.py": "import own_inner\ndef g(c): return -c"}
    assert mark(script, files) == mark(script, files) != mark(script, other)


def test_modules_of_libraries_count_by_their_names(mark: Mark) -> None:
    script = "import math\ndef f(s, c):\n    import numpy.linalg\n    return math.sqrt(numpy.linalg.norm(c))"
    assert mark(script, {}) == mark(script, {})
