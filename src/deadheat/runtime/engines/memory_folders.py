"""The folders of an engine's shared memory: one in memory (/dev/shm), one on disk for what does not fit there.

The master makes both and holds a lock in each for as long as it lives. A folder whose lock nobody holds belonged to a
master that was killed; the next engine removes it. The variable DEADHEAT_SHM names another place than /dev/shm.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

VARIABLE = "DEADHEAT_SHM"
PREFIX = "deadheat-shm-"
LOCK = "lock"
YOUNG = 60.0  # seconds for which a folder without a lock may still be in the making


@dataclass(eq=False)
class MemoryFolders:
    """The folders by path, the fastest first; at their master with the descriptors of their locks."""

    paths: Sequence[str]
    locks: list[int] = field(default_factory=list)

    def discard(self, pid: int) -> None:
        """Remove the segments of a process that is dead."""
        for path in self.paths:
            with contextlib.suppress(OSError):
                for name in os.listdir(path):
                    if name.startswith(f"{pid}-"):
                        os.unlink(os.path.join(path, name))

    def remove(self) -> None:
        """Remove the folders with all that is in them, from whichever process ends last."""
        for path in self.paths:
            shutil.rmtree(path, ignore_errors=True)
        while self.locks:
            os.close(self.locks.pop())


def new_folders() -> MemoryFolders:
    """Folders of a new engine, as many as can be made; those of masters that were killed are removed."""
    folders = MemoryFolders([])
    try:
        paths = []
        for place in _places():
            _sweep(place)
            with contextlib.suppress(OSError):  # read-only, or full: there is the other one, and the pipe
                path, lock = _claimed(place)
                folders.locks.append(lock)
                paths.append(path)
                folders.paths = tuple(paths)
    except BaseException:
        folders.remove()
        raise
    return folders


def _places() -> list[str]:
    """Where folders can be: shared memory if there is any, and the temporary folder."""
    places = [os.environ.get(VARIABLE) or "/dev/shm"]
    with contextlib.suppress(OSError):  # no temporary folder at all
        places.append(tempfile.gettempdir())
    return [place for place in dict.fromkeys(places) if os.path.isdir(place)]


def _claimed(place: str) -> tuple[str, int]:
    """A new folder that only this user can enter, and the descriptor of its lock, which is held."""
    while True:
        path = tempfile.mkdtemp(prefix=PREFIX, dir=place)
        lock = None
        try:
            lock = os.open(os.path.join(path, LOCK), os.O_CREAT | os.O_RDWR, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(lock).st_nlink:
                return path, lock
        except (BlockingIOError, FileNotFoundError):
            pass  # another engine took it for abandoned before it was locked: make the next one
        except BaseException:
            shutil.rmtree(path, ignore_errors=True)
            if lock is not None:
                os.close(lock)
            raise
        if lock is not None:
            os.close(lock)


def _sweep(place: str) -> None:
    """Remove folders of this user whose master is gone."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(place):
            if not entry.name.startswith(PREFIX) or not entry.is_dir(follow_symlinks=False):
                continue
            with contextlib.suppress(OSError):
                if entry.stat(follow_symlinks=False).st_uid == os.geteuid():
                    _remove_abandoned(entry.path)


def _remove_abandoned(path: str) -> None:
    """Remove a folder whose lock nobody holds; raises BlockingIOError where somebody does."""
    try:
        lock = os.open(os.path.join(path, LOCK), os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        if time.time() - os.stat(path).st_mtime > YOUNG:
            with contextlib.suppress(OSError):
                os.rmdir(path)  # only if it is empty: then a master died while it made it
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(lock)
