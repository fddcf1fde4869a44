"""Checkpoints: the state of every job after every N iterations, so that a killed master loses no job.

A file for each job, written aside and put in place in one step: whoever reads it finds the old or the new one, whole.
"""

import os
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadheat.errors import BadInput, DeadheatError, whole


class BadCheckpoint(DeadheatError):
    """A checkpoint that cannot be read."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"checkpoint {path}: {why}; remove it to begin that job anew")


@dataclass(frozen=True)
class Saved:
    """Where a job stood: iterations done, its state, and whether it was over."""

    name: str
    iteration: int
    state: Any
    over: bool


@dataclass(frozen=True)
class Checkpoints:
    """A folder of checkpoints. every: iterations between two of a job."""

    folder: Path
    every: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", Path(self.folder))
        whole("every", self.every, "give the iterations between two checkpoints")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput("checkpoint", str(self.folder), error.strerror or "not a folder", "name a folder") from None

    def save(self, job: int, saved: Saved) -> None:
        """Put a job's state on disk, whole or not at all."""
        path = self._path(job)
        aside = path.with_suffix(f".{os.getpid()}.part")
        with open(aside, "wb") as file:
            pickle.dump((saved.name, saved.iteration, saved.state, saved.over), file, 5)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)

    def load(self, job: int, name: str) -> Saved | None:
        """Where a job stood, or None if it has not begun. Raises BadCheckpoint, also for another job's checkpoint."""
        path = self._path(job)
        try:
            saved = Saved(*pickle.loads(path.read_bytes()))
        except FileNotFoundError:
            return None
        except Exception as error:  # pickle raises nearly anything
            raise BadCheckpoint(path, f"{type(error).__name__}: {error}") from None
        if saved.name != name:
            raise BadCheckpoint(path, f"is of a job named {saved.name!r}, not {name!r}")
        return saved

    def due(self, iteration: int) -> bool:
        """Whether a job should be saved after so many iterations."""
        return iteration % self.every == 0

    def _path(self, job: int) -> Path:
        return self.folder / f"job-{job:06d}.pickle"
