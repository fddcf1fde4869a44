"""Every example prints what its first lines promise."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_it_prints_what_it_promises(file: Path) -> None:
    promised = ast.get_docstring(ast.parse(file.read_text()))
    assert promised is not None
    lines = promised.split("\n\n")[-1].splitlines()  # the last paragraph
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.splitlines() == lines, done.stderr[-1000:]
