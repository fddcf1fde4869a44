"""Rows that say in which process they were read. Workers import this file: it must be small."""

from __future__ import annotations

import os
from pathlib import Path

from deadheat.jobs.sources import NpyFiles
from deadheat.model import AnyArray


class Recorded:
    """A source that leaves a line in a file for every read."""

    def __init__(self, source: NpyFiles, place: str) -> None:
        self.source, self.place = source, place

    @property
    def shape(self) -> tuple[int, int]:
        return self.source.shape

    def read(self, first: int, last: int) -> tuple[AnyArray, AnyArray]:
        with Path(self.place).open("a") as file:
            file.write(f"{os.getpid()}\n")
        return self.source.read(first, last)
