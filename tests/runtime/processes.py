"""What tests look up about processes on this machine."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path


def script(folder: Path, text: str, *arguments: str) -> subprocess.Popen[str]:
    """A user's script, as a user starts it."""
    file = folder / "script.py"
    file.write_text(textwrap.dedent(text))
    command = [sys.executable, str(file), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be noted does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def shared_memory(pid: int) -> set[str]:
    """The shared memory that a process has mapped; what was given back since is marked by the system."""
    lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    return {line.partition("/dev/shm/")[2] for line in lines if "/dev/shm/" in line}


def children(pid: int) -> set[int]:
    """The processes that it has started, and that have not been noted after their end."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        if int(fields[1]) == pid:
            found.add(int(folder.name))
    return found


def descriptors(pid: int) -> int:
    """How many files, pipes and sockets it has open."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def soon(happens: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Whether it happens within so many seconds."""
    end = time.monotonic() + seconds
    while not happens() and time.monotonic() < end:
        time.sleep(0.01)
    return happens()
