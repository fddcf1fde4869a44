"""Ctrl-C and SIGTERM: one line on standard error, exit code 130 or 143, no traceback, and no process left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deadheat.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"
SLOW = """
[stream]
rate = 0.1
iterations = 1000
[code]
critical = 10
[engine]
emulate = true
[[workers]]
mean = 0.05
std = 0.01
[[workers]]
mean = 0.05
std = 0.01
"""
CASES = {  # seconds after the start of the command, when the signal comes
    "run, while workers start": (["run", "slow.toml", "--jobs", "1"], 0.2),
    "run, under way": (["run", "slow.toml", "--jobs", "1"], 2.5),
    "tune": (["tune", str(EXAMPLES / "tune-gradient.toml")], 1.0),
    "simulate": (["simulate", str(EXAMPLES / "worked-example.toml"), "--replications", "9999"], 1.0),
    "demo": (["demo"], 3.0),
}  # fmt: skip
ENDS = [(signal.SIGINT, 130, "deadheat: interrupted\n"), (signal.SIGTERM, 143, "deadheat: terminated\n")]
# The child says when it has imported everything: from then on signals are the command's.
COMMAND = "import sys; from deadheat.cli import main; print('ready', flush=True); main(sys.argv[1:])"


def in_group(group: int) -> list[int]:
    """The living processes of a process group."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            state, _, own, *_ = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(own) == group and state != "Z":
            found.append(int(place.name))
    return found


@pytest.mark.parametrize(("number", "code", "line"), ENDS, ids=["Ctrl-C", "SIGTERM"])
@pytest.mark.parametrize("name", CASES)
def test_a_signal_ends_a_command_with_one_line(name: str, number: int, code: int, line: str, tmp_path: Path) -> None:
    arguments, wait = CASES[name]
    (tmp_path / "slow.toml").write_text(SLOW)
    child = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments], cwd=tmp_path, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=_default_signals,
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    time.sleep(wait)
    os.killpg(child.pid, number) if number == signal.SIGINT else child.send_signal(number)  # as a terminal does
    _, said = child.communicate(timeout=60)
    assert (child.returncode, said) == (code, line)
    for _ in range(50):
        if not in_group(child.pid):
            break
        time.sleep(0.1)
    assert in_group(child.pid) == []


def test_signals_are_as_they_were_after_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit):
        main(["--version"])
    assert signal.getsignal(signal.SIGTERM) == before
    assert capsys.readouterr().err == ""


def _default_signals() -> None:
    """A shell's background job ignores Ctrl-C, and its children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
