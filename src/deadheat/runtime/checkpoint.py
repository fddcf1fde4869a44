"""Checkpoints: the state of every job after every N iterations, so that a killed master loses no job.

A file for each job, written aside and put in place in one step: whoever reads it finds the old or the new one, whole.
It holds a line that names the format, a line of JSON about the job, the pickle of its state, and a checksum of all
that. The state is unpickled only where the checksum is right, the fingerprint is the job's and the file is the user's.
"""

import fcntl
import json
import os
import pickle
import stat
import tempfile
import zlib
from contextlib import suppress
from dataclasses import dataclass, replace
from io import BufferedWriter
from pathlib import Path
from typing import Any

from deadheat.errors import BadInput, DeadheatError, whole
from deadheat.runtime.fingerprint import differences

FORMAT = b"deadheat checkpoint 2\n"
KINDS = {"fingerprint": str, "name": str, "iteration": int, "over": bool, "converged": bool, "ended": str}
CHECKSUM = 4  # bytes at the end of a file: CRC-32 finds what a disk does, at three times the speed of a digest


class BadCheckpoint(DeadheatError):
    """A checkpoint that cannot be read, or is not this job's."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"checkpoint {path}: {why}; remove it to begin that job anew, or name another folder")


@dataclass(frozen=True)
class Saved:
    """Where a job stood: iterations done, its state, whether it was over, whether it had converged, and why it ended.

    fingerprint: of the job, by `fingerprint(program, start)`.
    """

    fingerprint: str
    name: str
    iteration: int
    state: Any
    over: bool
    converged: bool = False
    ended: str = ""


@dataclass(frozen=True)
class Checkpoints:
    """A folder of checkpoints. every: iterations between two of a job."""

    folder: Path
    every: int = 1

    def __post_init__(self) -> None:
        """Make the folder and try it: what cannot be written is said before any work."""
        object.__setattr__(self, "folder", Path(self.folder))
        whole("every", self.every, "give the iterations between two checkpoints")
        try:
            for folder in reversed([self.folder, *self.folder.parents]):  # each of them only for its owner
                folder.mkdir(mode=0o700, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder):
                self._sweep()
        except (OSError, ValueError) as error:  # ValueError: a name with a null in it
            why = getattr(error, "strerror", None) or "not a folder"
            raise BadInput("checkpoint", str(self.folder), why, "name a folder that you can write to") from None

    def save(self, job: int, saved: Saved) -> None:
        """Put a job's state on disk, whole or not at all. Raises OSError, or what pickling the state raises."""
        path = self._path(job)
        descriptor, aside = tempfile.mkstemp(prefix=f"{path.stem}.", suffix=".part", dir=self.folder)  # of mode 0600
        try:
            with open(descriptor, "wb") as file:
                fcntl.flock(file, fcntl.LOCK_EX)  # for as long as it is written; see _sweep
                _write(file, saved)
                os.replace(aside, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(aside)
            raise
        self._sync()

    def load(self, job: int, name: str, fingerprint: str, iterations: int) -> Saved | None:
        """Where a job of that name stood, or None if it has not begun; it is over where it need not go on.

        iterations: how many it may do. With more than it had before, a job that used them up goes on; one that
        converged stays over. Raises BadCheckpoint for another job's checkpoint, and for one with more iterations done
        than are asked for.
        """
        path = self._path(job)
        try:
            with open(path, "rb", opener=_without_waiting) as file:
                _check_file(path, os.fstat(file.fileno()))
                content = file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BadCheckpoint(path, error.strerror or "cannot be read") from None
        about, state = _parted(path, content)
        if about["name"] != str(name):
            raise BadCheckpoint(path, f"is of a job named {about['name']!r}, not {str(name)!r}")
        if about["fingerprint"] != fingerprint:
            raise BadCheckpoint(path, f"is of a job with {differences(about['fingerprint'], fingerprint)}")
        if about["iteration"] > iterations:
            raise BadCheckpoint(path, f"has {about['iteration']} iterations done, and {iterations} are asked for")
        try:
            saved = Saved(state=pickle.loads(state), **about)
        except Exception as error:  # pickle raises nearly anything
            raise BadCheckpoint(path, f"its state cannot be read ({type(error).__name__}: {error})") from None
        return replace(saved, over=saved.converged or saved.iteration >= iterations)

    def due(self, iteration: int) -> bool:
        """Whether a job should be saved after so many iterations."""
        return iteration % self.every == 0

    def _path(self, job: int) -> Path:
        return self.folder / f"job-{job:06d}.pickle"

    def _sync(self) -> None:
        """Have the new name survive a power failure, where the file system can do that for a folder."""
        with suppress(OSError):
            descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def _sweep(self) -> None:
        """Remove what processes left that died while they wrote: files that nobody has locked."""
        for aside in self.folder.glob("job-*.part"):
            with suppress(OSError), open(aside, "rb", opener=_without_waiting) as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                aside.unlink()


class _Checked:
    """A file that pickle writes to, with the checksum of what was written; large arrays are not copied."""

    def __init__(self, file: BufferedWriter) -> None:
        self._file, self.checksum = file, 0

    def write(self, data: Any) -> int:
        self.checksum = zlib.crc32(data, self.checksum)
        return self._file.write(data)


def _write(file: BufferedWriter, saved: Saved) -> None:
    """Write all of it through to the disk."""
    about = {name: value for name, value in vars(saved).items() if name != "state"}
    out = _Checked(file)
    out.write(FORMAT)
    out.write(json.dumps(about | {"name": str(saved.name)}).encode() + b"\n")
    pickle.dump(saved.state, out, 5)
    file.write(out.checksum.to_bytes(CHECKSUM))
    file.flush()
    os.fsync(file.fileno())


def _parted(path: Path, content: bytes) -> tuple[dict[str, Any], memoryview]:
    """What a file says about its job, and the pickle of the state. Raises BadCheckpoint where it is not as written."""
    if not content.startswith(FORMAT):
        raise BadCheckpoint(path, "is of another version of deadheat, or no checkpoint")
    body, checksum = memoryview(content)[:-CHECKSUM], content[-CHECKSUM:]
    if zlib.crc32(body).to_bytes(CHECKSUM) != checksum:
        raise BadCheckpoint(path, "is torn or was changed")
    end = content.find(b"\n", len(FORMAT)) + 1
    try:
        about = json.loads(content[len(FORMAT) : end])
        valid = about.keys() == KINDS.keys() and all(type(about[name]) is kind for name, kind in KINDS.items())
    except (ValueError, AttributeError):
        valid = False
    if not valid or about["iteration"] < 0:
        raise BadCheckpoint(path, "does not say what it is of")
    return about, body[end:]


def _without_waiting(path: str, flags: int) -> int:
    """Open a file, also where it is a pipe that nobody writes to."""
    return os.open(path, flags | os.O_NONBLOCK)


def _check_file(path: Path, about: os.stat_result) -> None:
    """Refuse what is no file, and a file of another user: to unpickle it is to run what they wrote."""
    if not stat.S_ISREG(about.st_mode):
        raise BadCheckpoint(path, "is not a file")
    if about.st_uid not in (os.geteuid(), 0):
        raise BadCheckpoint(path, f"belongs to another user (number {about.st_uid}), and could run their code")
