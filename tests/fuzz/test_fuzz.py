"""A few of the cases of `make fuzz`, and that it sees what is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from mutations import Case, case
from trial import Trial

FUZZ = Path(__file__).parent / "fuzz.py"


def test_forty_mutated_scenarios_end_as_they_should(tmp_path: Path) -> None:
    command = [sys.executable, str(FUZZ), "--count", "40", "--seed", "3", "--folder", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 failed" in done.stdout


def test_a_case_follows_from_its_seed_and_number() -> None:
    assert case(3, 17) == case(3, 17)
    assert len({case(3, number).file for number in range(40)}) > 20


def test_what_is_wrong_would_be_seen(tmp_path: Path) -> None:
    def fault(code: int, out: str = "", err: str = "", *options: str) -> str:
        (tmp_path / "out").write_text(out)
        (tmp_path / "err").write_text(err)
        return Trial(Case(0, "plan", options, b""), tmp_path, process=2**22 + 1)._judged(code)

    assert fault(0) == ""
    assert fault(2, err="deadheat: mean = 1: too long; write less\n") == ""
    assert "exit code 3" in fault(3)
    assert "KeyError" in fault(1, "", "Traceback (most recent call last):\nKeyError: 1")
    assert "one line" in fault(2, "", "deadheat: a\nb\n")
    assert "control characters" in fault(0, "\x1b[31mred")
    assert "standard error" in fault(0, "", "RuntimeWarning: overflow")
    assert "no JSON" in fault(0, "words", "", "--json")
