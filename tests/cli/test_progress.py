"""Progress on a terminal, and none where standard error is no terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

SMALL = """
[stream]
rate = 0.01
iterations = 5
[workload]
kind = "gradient"
work = 10
[search]
critical = [10, 20]
policies = ["optimal"]
[[workers]]
mean = 0.1
std = 0.1
[[workers]]
mean = 0.2
std = 0.2
"""


def said_on_a_terminal(arguments: list[str]) -> str:
    """What a command writes to standard error, where that is a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "deadheat", *arguments]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env=environment) as child:
        os.close(theirs)
        said = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            said += part
        assert child.wait() == 0
    os.close(ours)
    return said.decode()


def test_tune_shows_how_many_candidates_are_judged(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    said = said_on_a_terminal(["tune", str(tmp_path / "small.toml")])
    assert "candidates" in said
    assert ", best" in said


def test_nothing_is_said_where_there_is_no_terminal(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    command = [sys.executable, "-m", "deadheat", "tune", str(tmp_path / "small.toml")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
