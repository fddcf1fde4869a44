"""Jobs from the table [job] of a scenario file: a kind with its settings, or a Python file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from deadheat.errors import BadInput, nearest
from deadheat.jobs.from_python import jobs_of
from deadheat.jobs.least_squares import made_least_squares
from deadheat.runtime.job import Job

Table = Mapping[str, Any]
KINDS: Mapping[str, Callable[..., Job]] = {"least-squares": made_least_squares}
FILLED = ("chunks", "iterations", "name")  # known from elsewhere in the scenario


def jobs_from(table: Table, count: int, chunks: int, iterations: int) -> list[Job]:
    """So many jobs, in so many chunks where nothing else is said; least squares on made data by default."""
    if "python" in table:
        _known(table, ("python",))
        return jobs_of("job.python", table["python"], count)
    kind = table.get("kind", "least-squares")
    if kind not in KINDS:
        raise BadInput("job.kind", kind, "no such kind of job", nearest(str(kind), KINDS))
    make = KINDS[kind]
    _known(table, ("kind", *(name for name in inspect.signature(make).parameters if name not in FILLED)))
    settings = {key: value for key, value in table.items() if key != "kind"}
    try:
        made = make(chunks, iterations, **settings)
        return [Job(made.chunks, made.compute, made.start, made.step, iterations, f"job {n}") for n in range(count)]
    except BadInput as error:
        raise error.within("job") from None


def _known(table: Table, names: tuple[str, ...]) -> None:
    for key in table:
        if key not in names:
            raise BadInput(f"job.{key}", table[key], "unknown key", nearest(key, names))
