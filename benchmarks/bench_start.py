"""Starting up: what `import deadheat` adds to numpy, and how soon the command answers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.timing import Row, median

EXAMPLE = Path(__file__).parents[1] / "examples" / "worked-example.toml"


def _python(*arguments: str) -> float:
    return median(lambda: subprocess.run([sys.executable, *arguments], check=True, capture_output=True), 9)


def rows() -> list[Row]:
    """Whole processes, as a user starts them."""
    numpy, ours = _python("-c", "import numpy"), _python("-c", "import deadheat")
    answer = _python("-m", "deadheat", "plan", str(EXAMPLE))
    return [
        Row("import deadheat, beyond numpy", max(ours - numpy, 0.0), "0.3 s", 0.3, 1),
        Row("deadheat plan", answer, "1.5 s", 1.5, 1),
    ]
