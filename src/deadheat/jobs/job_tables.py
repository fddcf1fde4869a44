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
MATRIX_FILE = "name a .npy file, or a .npz file of scipy.sparse"


@dataclass(frozen=True)
class Kind:
    """A kind of job: for what kind of code, the function that makes it, its keys; files: those that name matrices."""

    code: str
    make: Callable[..., Workable]
    keys: tuple[str, ...]
    files: tuple[str, ...] = ()


class JobStream:
    """The jobs of a table [job], made one after the other; least squares on synthetic data by default.

    count: how many. chunks: into how many the data is cut. Files are looked for in the folder.
    """

    def __init__(self, table: Table, count: int, chunks: int, iterations: int, folder: Path) -> None:
        self._count, self._name = count, ""
        self._listed: list[Workable] = []
        if "python" in table:
            _check_keys(table, ("python",))
            place = table["python"]
            if isinstance(place, str) and not Path(place.rpartition(":")[0]).is_absolute():
                place = str(folder / place)
            self._listed = jobs_of("job.python", place, count)
            self.first = self._listed[0]
            return
        self._name, kind = kind_of(table)
        keys = (*kind.files, *kind.keys)
        _check_keys(table, ("kind", *keys))
        settings = {key: value for key, value in table.items() if key != "kind"}
        try:  # the first job is made here: what cannot be meant is said before any work
            make = _solver if kind.files else _regression
            self.first = make(kind, folder, settings, chunks, iterations=iterations, name=f"{self._name} 1")
        except BadInput as error:
            raise error.within("job") from None
        except TypeError as error:
            raise BadInput("job", dict(table), str(error), f"{self._name} takes {', '.join(keys)}") from None

    def __len__(self) -> int:
        return len(self._listed) or self._count

    def __iter__(self) -> Iterator[Workable]:
        """Jobs of a kind are equal but for their names, and share their data."""
        if self._listed:
            yield from self._listed
            return
        for number in range(self._count):
            yield replace(self.first, name=f"{self._name} {number + 1}")  # type: ignore[type-var]


def code_kind(table: Table) -> str:
    """What kind of code the job needs."""
    return "gradient" if "python" in table else kind_of(table)[1].code


def kind_of(table: Table) -> tuple[str, Kind]:
    """The kind of a table's jobs, with its name."""
    name = table.get("kind", "least-squares")
    if name not in KINDS:
        raise BadInput("job.kind", name, "no such kind of job", nearest(str(name), KINDS))
    return name, KINDS[name]


def result_of(state: Any) -> Any:
    """The array that a user of a built-in kind wants: weights, solution or ranks."""
    if isinstance(state, Fit):
        return state.weights
    return state.x if isinstance(state, solvers.Search) else state


def _regression(kind: Kind, folder: Path, settings: dict[str, Any], chunks: int, **common: Any) -> Workable:
    """A regression on rows from files; least squares are on synthetic data where none are named."""
    if kind.make is least_squares and "x" not in settings:
        return synthetic_least_squares(chunks, **common, **settings)
    x, y, target = settings.pop("x", ""), settings.pop("y", None), settings.pop("target", None)
    if not x:
        raise BadInput("x", x, "missing", "name a .npy file (and y), or a .parquet file (and target)")
    return kind.make(source_of(folder / x, folder / y if y else None, target), chunks=chunks, **common, **settings)


def _solver(kind: Kind, folder: Path, settings: dict[str, Any], chunks: int, **common: Any) -> Workable:
    for key in kind.files:
        if key not in settings:
            raise BadInput(key, None, "missing", MATRIX_FILE)
    matrices = [_matrix(key, folder / str(settings.pop(key))) for key in kind.files]
    return kind.make(*matrices, **common, **settings)


def _matrix(field: str, path: Path) -> Any:
    if not path.is_file():
        raise BadInput(field, str(path), "no such file", MATRIX_FILE)
    try:
        if path.suffix == ".npz":
            from scipy import sparse

            return sparse.csr_array(sparse.load_npz(path))
        return np.load(path)
    except (ValueError, OSError, KeyError) as error:
        raise BadInput(field, str(path), f"cannot be read ({error})", "write it with numpy or scipy.sparse") from None


REGRESSION = ("x", "y", "target", "l2", "intercept", "step", "rate", "momentum", "tolerance", "sample", "seed")
KINDS: Mapping[str, Kind] = {
    "least-squares": Kind("gradient", least_squares, (*REGRESSION, "rows", "columns")),
    "logistic": Kind("gradient", logistic, REGRESSION),
    "softmax": Kind("gradient", softmax, (*REGRESSION, "classes")),
    "pagerank": Kind("linear", solvers.pagerank, ("damping", "tolerance"), ("links",)),
    "power-iteration": Kind("linear", solvers.power_iteration, ("tolerance", "seed"), ("matrix",)),
    "jacobi": Kind("linear", solvers.jacobi, ("tolerance",), ("matrix", "right")),
    "conjugate-gradients": Kind("linear", solvers.conjugate_gradients, ("tolerance",), ("matrix", "right")),
}


def _check_keys(table: Table, names: tuple[str, ...]) -> None:
    for key in table:
        if key not in names:
            raise BadInput(f"job.{key}", table[key], "unknown key", nearest(key, names))
