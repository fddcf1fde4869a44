"""Jobs from the table [job] of a scenario file: a kind with its settings, or a Python file."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.errors import BadInput, nearest
from deadheat.jobs import solvers
from deadheat.jobs.python_file import jobs_of
from deadheat.jobs.regression import Fit, least_squares, logistic, softmax, synthetic_least_squares
from deadheat.jobs.sources import source_of
from deadheat.runtime import Workable

Table = Mapping[str, Any]


@dataclass(frozen=True)
class Kind:
    """A kind of job: for what kind of code, how it is made (folder, chunks, iterations, name, settings), its keys."""

    code: str
    make: Callable[..., Workable]
    keys: tuple[str, ...]


class JobStream:
    """The jobs of a table [job], made one after the other; least squares on synthetic data by default.

    count: how many. chunks: into how many the data is cut. Files are looked for in the folder.
    """

    def __init__(self, table: Table, count: int, chunks: int, iterations: int, folder: Path) -> None:
        self._table, self._count, self._chunks = table, count, chunks
        self._iterations, self._folder = iterations, folder
        self._listed: list[Workable] | None = None
        if "python" in table:
            _known(table, ("python",))
            place = table["python"]
            if isinstance(place, str) and not Path(place.rpartition(":")[0]).is_absolute():
                place = str(folder / place)
            self._listed = jobs_of("job.python", place, count)
        self.first = self._first()  # what cannot be meant is said before any work

    def __len__(self) -> int:
        return self._count if self._listed is None else len(self._listed)

    def __iter__(self) -> Iterator[Workable]:
        """Jobs of a kind are equal but for their names, and share their data."""
        for number in range(len(self)):
            if self._listed is not None:
                yield self._listed[number]
            else:
                yield replace(self.first, name=f"{kind_of(self._table)[0]} {number + 1}")  # type: ignore[type-var]

    def _first(self) -> Workable:
        if self._listed is not None:
            return self._listed[0]
        name, kind = kind_of(self._table)
        _known(self._table, ("kind", *kind.keys))
        settings = {key: value for key, value in self._table.items() if key != "kind"}
        try:
            return kind.make(self._folder, self._chunks, self._iterations, f"{name} 1", **settings)
        except BadInput as error:
            raise error.within("job") from None
        except TypeError as error:
            raise BadInput("job", dict(self._table), str(error), f"{name} takes {', '.join(kind.keys)}") from None


def code_kind(table: Table) -> str:
    """What kind of code the job needs."""
    return "gradient" if "python" in table else kind_of(table)[1].code


def kind_of(table: Table) -> tuple[str, Kind]:
    """The kind by its name."""
    name = table.get("kind", "least-squares")
    if name not in KINDS:
        raise BadInput("job.kind", name, "no such kind of job", nearest(str(name), KINDS))
    return name, KINDS[name]


def result_of(state: Any) -> Any:
    """The array that a user of a built-in kind wants: weights, solution or ranks."""
    if isinstance(state, Fit):
        return state.weights
    return state.x if isinstance(state, solvers.Search) else state


def _least_squares(folder: Path, chunks: int, iterations: int, name: str, **settings: Any) -> Workable:
    """From files, or on synthetic data where none are named."""
    if "x" in settings:
        return _regression(least_squares)(folder, chunks, iterations, name, **settings)
    return synthetic_least_squares(chunks, iterations, name=name, **settings)


def _regression(make: Callable[..., Workable]) -> Callable[..., Workable]:
    def job(
        folder: Path, chunks: int, iterations: int, name: str, x: str = "", y: str | None = None,
        target: str | None = None, **settings: Any,
    ) -> Workable:  # fmt: skip
        if not x:
            raise BadInput("x", x, "missing", "name a .npy file (and y), or a .parquet file (and target)")
        source = source_of(folder / x, folder / y if y else None, target)
        return make(source, chunks=chunks, iterations=iterations, name=name, **settings)

    return job


def _solver(make: Callable[..., Workable], *files: str) -> Callable[..., Workable]:
    def job(folder: Path, chunks: int, iterations: int, name: str, **settings: Any) -> Workable:
        for key in files:
            if key not in settings:
                raise BadInput(key, None, "missing", "name a .npy file, or a .npz file of scipy.sparse")
        read = [_matrix(key, folder / str(settings.pop(key))) for key in files]
        return make(*read, iterations=iterations, name=name, **settings)

    return job


def _matrix(field: str, path: Path) -> Any:
    """An array, or a sparse matrix."""
    if not path.is_file():
        raise BadInput(field, str(path), "no such file", "name a .npy file, or a .npz file of scipy.sparse")
    try:
        if path.suffix == ".npz":
            from scipy import sparse

            return sparse.csr_array(sparse.load_npz(path))
        return np.load(path)
    except (ValueError, OSError, KeyError) as error:
        raise BadInput(field, str(path), f"cannot be read ({error})", "write it with numpy or scipy.sparse") from None


REGRESSION = (
    "x", "y", "target", "l2", "intercept", "step", "rate", "momentum", "tolerance", "sample", "seed",
)  # fmt: skip
KINDS: Mapping[str, Kind] = {
    "least-squares": Kind("gradient", _least_squares, (*REGRESSION, "rows", "columns")),
    "logistic": Kind("gradient", _regression(logistic), REGRESSION),
    "softmax": Kind("gradient", _regression(softmax), (*REGRESSION, "classes")),
    "pagerank": Kind("linear", _solver(solvers.pagerank, "links"), ("links", "damping", "tolerance")),
    "power-iteration": Kind("linear", _solver(solvers.power_iteration, "matrix"), ("matrix", "tolerance", "seed")),
    "jacobi": Kind("linear", _solver(solvers.jacobi, "matrix", "right"), ("matrix", "right", "tolerance")),
    "conjugate-gradients": Kind(
        "linear", _solver(solvers.conjugate_gradients, "matrix", "right"), ("matrix", "right", "tolerance")
    ),
}


def _known(table: Table, names: tuple[str, ...]) -> None:
    for key in table:
        if key not in names:
            raise BadInput(f"job.{key}", table[key], "unknown key", nearest(key, names))
