"""Write tables, traces, arrays and texts to files, whole or not at all. The ending of the name says the format."""

import csv
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np

from deadheat.errors import BadInput, DeadheatError
from deadheat.model import AnyArray, Timeline, Trace
from deadheat.reporting.number_format import plain

Columns = Mapping[str, AnyArray]
TABLES = (".csv", ".parquet", ".json")
FIGURES = (".png", ".svg", ".pdf")


class Missing(DeadheatError):
    """An optional package that is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is needed for this and not installed: pip install 'deadheat[{extra}]'")


def check_target(option: str, path: Path | None, endings: Sequence[str] = TABLES) -> None:
    """Refuse a file that could not be written, before any work is done for it; no endings: any will do."""
    if path is None:
        return
    if endings and path.suffix not in endings:
        raise BadInput(option, str(path), "unknown ending", "use " + ", ".join(endings))
    if not os.path.isdir(path.parent):  # unlike Path.is_dir, it never raises: a name may be too long
        raise BadInput(option, str(path), "its folder does not exist", "make it, or name another")
    if os.path.isdir(path):
        raise BadInput(option, str(path), "is a folder", "name a file")
    if endings and os.path.exists(path) and not os.path.isfile(path):
        raise BadInput(option, str(path), "is a device", "name a file")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise BadInput(option, str(path), error.strerror or "cannot be written", "name another folder") from None


def write_table(columns: Columns, path: Path, about: Mapping[str, Any] | None = None) -> None:
    """Write columns to .csv, .parquet or .json (which also holds what it is about)."""
    check_target("file", path)
    if path.suffix == ".json":
        write_text(json.dumps(plain({"about": dict(about or {}), "columns": dict(columns)})), path)
    else:
        write = _csv if path.suffix == ".csv" else _parquet
        _atomically(path, lambda temporary: write(columns, temporary, about or {}))


def write_trace(
    trace: Trace, names: list[str], *, jobs: Path | None, tasks: Path | None, about: Mapping[str, Any]
) -> None:
    """Write a trace's jobs and its tasks, where files are named for them; tasks to .json are a Chrome trace."""
    if jobs is not None:
        write_table(trace.columns(), jobs, {**trace.about, **about})
    if tasks is not None and trace.timeline is not None:
        if tasks.suffix == ".json":
            write_chrome_trace(trace.timeline, names, tasks)
        else:
            write_table(trace.timeline.columns(), tasks)


def write_chrome_trace(timeline: Timeline, names: list[str], path: Path) -> None:
    """Write a timeline for chrome://tracing or ui.perfetto.dev: a row per worker, a slice per task."""
    rows = [{"ph": "M", "name": "thread_name", "pid": 0, "tid": p, "args": {"name": n}} for p, n in enumerate(names)]
    slices = [
        {
            "ph": "X", "pid": 0, "tid": worker, "ts": begin * 1e6, "dur": (end - begin) * 1e6,
            "name": f"job {job}, iteration {iteration}", "cat": "task" if done else "purged",
            "args": {"job": job, "iteration": iteration, "counted": done},
        }
        for job, iteration, worker, begin, end, done in zip(
            *(column.tolist() for column in timeline.columns().values()), strict=True
        )
    ]  # fmt: skip
    write_text(json.dumps({"traceEvents": rows + slices, "displayTimeUnit": "ms"}), path)


def write_arrays(arrays: Mapping[str, Any], path: Path) -> None:
    """Write arrays by name to .npz."""
    _atomically(path, lambda temporary: np.savez(temporary, **dict(arrays)))


def write_figure(axes: Any, path: Path) -> None:
    """Write the figure of these axes to .png, .svg or .pdf."""
    check_target("file", path, FIGURES)
    _atomically(path, axes.figure.savefig)


def write_text(text: str, path: Path) -> None:
    """Write a text in UTF-8."""
    _atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def _atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Write beside the place and move it there, so that a failure leaves what was; a link is followed."""
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{token_hex(8)}.{target.name}")  # with its ending, which says the format
    try:
        os.close(
            os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        )  # nobody's link, and as the umask says
        write(temporary)
        temporary.replace(target)
    except OSError as error:
        why = error.strerror or "cannot be written"
        raise BadInput("file", str(path), why, "name a file in a folder of yours") from None
    finally:
        with suppress(OSError):
            temporary.unlink()


def _csv(columns: Columns, path: Path, about: Mapping[str, Any]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True))


def _parquet(columns: Columns, path: Path, about: Mapping[str, Any]) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise Missing("pyarrow", "data") from None
    table = pa.table(dict(columns)).replace_schema_metadata({"deadheat": json.dumps(plain(dict(about)))})
    pq.write_table(table, path)
