"""Where rows come from: arrays in memory, .npy files, Parquet files. Each is cut into chunks that workers hold.

A chunk is (number, x, y). Those of files are read by the workers that need them, from a path that they can all read.
"""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from deadheat.errors import BadInput, DeadheatError, whole
from deadheat.model import AnyArray

Chunk = tuple[int, AnyArray, AnyArray]
Part = tuple[AnyArray, AnyArray]


class Source(Protocol):
    """A table of features and a target."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and feature columns."""

    def read(self, first: int, last: int) -> Part:
        """Features and targets of some rows."""


@dataclass(frozen=True, eq=False)
class Arrays:
    """Rows in memory; they travel from the master to the workers that need them."""

    x: AnyArray
    y: AnyArray

    @property
    def shape(self) -> tuple[int, int]:
        return self.x.shape[0], self.x.shape[1]

    def read(self, first: int, last: int) -> Part:
        return self.x[first:last], self.y[first:last]


@dataclass(frozen=True)
class NpyFiles:
    """Rows in two .npy files, mapped into memory where they are read."""

    x: Path
    y: Path

    @property
    def shape(self) -> tuple[int, int]:
        x, y = self._mapped()
        _check_shapes(x, y, f"{self.x.name} is no table")
        return x.shape[0], x.shape[1]

    def read(self, first: int, last: int) -> Part:
        x, y = self._mapped()
        return np.array(x[first:last]), np.array(y[first:last])

    def _mapped(self) -> Part:
        return np.load(self.x, mmap_mode="r"), np.load(self.y, mmap_mode="r")


@dataclass(frozen=True)
class ParquetFile:
    """Rows in a Parquet file; the target is one column, the features are the others, or those that are named."""

    path: Path
    target: str
    features: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        file = _parquet().ParquetFile(self.path)
        return file.metadata.num_rows, len(self._features(file))

    def read(self, first: int, last: int) -> Part:
        """Those row groups that have any of the rows."""
        file = _parquet().ParquetFile(self.path)
        sizes = [file.metadata.row_group(g).num_rows for g in range(file.metadata.num_row_groups)]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        groups = [g for g in range(len(sizes)) if starts[g] < last and starts[g + 1] > first]
        names = self._features(file)
        table = file.read_row_groups(groups, columns=[*names, self.target])
        part = table.slice(first - int(starts[groups[0]]), last - first)
        x = np.column_stack([part[name].to_numpy().astype(float) for name in names])
        return x, part[self.target].to_numpy()

    def _features(self, file: Any) -> list[str]:
        every = file.schema_arrow.names
        for name in (self.target, *self.features):
            if name not in every:
                raise BadInput("columns", name, f"not in {self.path.name}", f"it has {', '.join(every)}")
        return list(self.features) or [name for name in every if name != self.target]


@dataclass(frozen=True)
class Rows:
    """Some rows of a file, read by the worker that needs them."""

    number: int
    source: Source
    first: int
    last: int

    def load(self) -> Chunk:
        return (self.number, *self.source.read(self.first, self.last))


def _check_shapes(x: AnyArray, y: AnyArray, no_table: str) -> None:
    if x.ndim != 2:
        raise BadInput("x", x.shape, no_table, "give rows and columns")
    if not len(x):
        raise BadInput("x", x.shape, "has no rows", "give some")
    if y.shape != x.shape[:1]:
        raise BadInput("y", y.shape, f"not one target for each of {len(x)} rows", "give a vector")


def arrays(x: ArrayLike, y: ArrayLike) -> Arrays:
    """Rows in memory, checked."""
    try:
        features, target = np.asarray(x, float), np.asarray(y)
    except (TypeError, ValueError) as error:
        raise BadInput("x", type(x).__name__, f"not numbers ({error})", "give a table of numbers") from None
    _check_shapes(features, target, "not a table")
    bad = np.flatnonzero(~np.isfinite(features).all(axis=1))
    if bad.size:
        raise BadInput("x", f"row {bad[0]}", "has a value that is not finite", "fill or drop such rows")
    if target.dtype.kind == "f" and not np.isfinite(target).all():
        row = int(np.flatnonzero(~np.isfinite(target))[0])
        raise BadInput("y", f"row {row}", "is not finite", "fill or drop such rows")
    return Arrays(features, target)


def source_of(x: Any, y: Any = None, target: str | None = None) -> Source:
    """Arrays, two .npy paths, or a .parquet path with the name of its target."""
    if not isinstance(x, (str, Path)):
        return arrays(x, y)
    path = Path(x)
    if not path.is_file():
        raise BadInput("x", str(path), "no such file", "name a .npy or .parquet file")
    if path.suffix == ".parquet":
        if target is None:
            raise BadInput("target", None, "missing", "name the column to predict")
        source: Source = ParquetFile(path.resolve(), target)
    elif isinstance(y, (str, Path)) and Path(y).is_file():
        source = NpyFiles(path.resolve(), Path(y).resolve())
    else:
        raise BadInput("y", y, "no such file", "name the .npy file of the targets")
    _ = source.shape  # read once: what is wrong with the files is said now
    return source


def cut(source: Source, chunks: int) -> list[Any]:
    """Chunks of nearly equal size, in order."""
    rows, _ = source.shape
    count = whole("chunks", chunks, "give into how many pieces the rows are cut")
    if count > rows:
        raise BadInput("chunks", chunks, f"there are only {rows} rows", f"take at most {rows}")
    ends = [rows * i // count for i in range(count + 1)]
    parts = [Rows(number, source, first, last) for number, (first, last) in enumerate(pairwise(ends))]
    return [part.load() for part in parts] if isinstance(source, Arrays) else parts


def _parquet() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        problem = "Parquet files need pyarrow, which is not installed: pip install 'deadheat[data]'"
        raise DeadheatError(problem) from None
    return pyarrow.parquet
