"""One case in a forked process of its own: how it ends, how long it takes, and what is wrong with that."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from mutations import Case

LIMIT = 20.0  # seconds
MEMORY = 6 << 30  # bytes of address space: a case that wants more fails by itself, and not the machine
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
CODES = (0, 1, 2)


@dataclass
class Trial:
    """A case under way, in a process group of its own with its output in a folder."""

    case: Case
    folder: Path
    began: float = field(default_factory=time.monotonic)
    process: int = 0

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "scenario.toml").write_bytes(self.case.file)
        self.process = os.fork()
        if not self.process:
            self._play()

    def _play(self) -> None:
        """In the child: run the command as `deadheat` does, and leave with its exit code."""
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        os.chdir(self.folder)
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        from deadheat.cli import main

        code = 99
        try:
            main([self.case.command, "scenario.toml", *self.case.options])
        except SystemExit as left:
            code = left.code if isinstance(left.code, int) else 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    def fault(self) -> str | None:
        """What is wrong, an empty text where nothing is; None while it runs within its time."""
        ended, status = os.waitpid(self.process, os.WNOHANG)
        if not ended:
            crowd = max(os.getloadavg()[0] / (os.cpu_count() or 1), 1.0)  # on a busy machine all takes longer
            if self.seconds < LIMIT * crowd:
                return None
            os.killpg(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
            return f"no end after {self.seconds:.0f} s"
        return self._judged(os.waitstatus_to_exitcode(status))

    def _judged(self, code: int) -> str:
        out, err = ((self.folder / name).read_text(encoding="utf-8", errors="replace") for name in ("out", "err"))
        if "Traceback" in err or code not in CODES:
            return f"exit code {code}: {err.strip().splitlines()[-1] if err.strip() else 'no word'}"
        if (left := _alive(self.process)) and _still_alive(self.process):
            return f"left a process behind: {left}"
        if UNPRINTABLE.search(out + err):
            return "control characters in the output"
        if code == 2 and not (err.startswith("deadheat: ") and err.count("\n") == 1):
            return f"exit code 2 without one line: {err!r}"
        if code == 0 and err:
            return f"done, with words on standard error: {err.strip().splitlines()[0]}"
        if code == 0 and "--json" in self.case.options:
            try:
                json.loads(out)
            except ValueError:
                return "no JSON object on standard output"
        return ""


def _alive(group: int) -> list[str]:
    """The commands of processes that are in a group and not zombies."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                name, _, rest = (place / "stat").read_text().rpartition(")")
            except OSError:
                continue
            state, _, process_group, *_ = rest.split()
            if int(process_group) == group and state != "Z":
                found.append(name)
    return found


def _still_alive(group: int) -> bool:
    """Whether some are there after a moment, in which a worker that was told to end may do so; they are killed."""
    for _ in range(30):
        if not _alive(group):
            return False
        time.sleep(0.1)
    os.killpg(group, signal.SIGKILL)
    return True
