"""The jobs of a scenario's [job] table as a stream: made one after the other, from the same data."""

from __future__ import annotations

import math
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.jobs import MatrixJob
from deadheat.jobs.job_tables import JobStream
from deadheat.runtime import Job
from deadheat.runtime.chunk_library import memory_key

PYTHON = """
import numpy as np
import deadheat as dh

def compute(state, chunk):
    return np.array([float(chunk)])

def jobs():
    return [dh.Job(range(n), compute, 0.0, lambda s, t, i: s + t[0], 1, f"own {n}") for n in (3, 4)]

job = dh.Job(range(5), compute, 0.0, lambda s, t, i: s + t[0], 1, "own")
"""


def stream_of(table: dict[str, Any], folder: Path, count: int = 4) -> JobStream:
    return JobStream(table, count, 6, 10, folder)


def test_a_stream_has_as_many_jobs_as_asked_for(tmp_path: Path) -> None:
    stream = stream_of({"rows": 60, "columns": 2}, tmp_path)
    assert len(stream) == 4
    jobs = list(stream)
    assert [job.name for job in jobs] == [f"least-squares {number}" for number in (1, 2, 3, 4)]
    for job in jobs:
        assert isinstance(job, Job)
        assert (len(job.chunks), job.iterations) == (6, 10)


def test_a_long_stream_costs_nothing_before_its_jobs_come(tmp_path: Path) -> None:
    """A million jobs with their data would not fit into memory."""
    stream = stream_of({"rows": 60, "columns": 2}, tmp_path, count=10**6)
    assert [job.name for job in islice(stream, 2)] == ["least-squares 1", "least-squares 2"]


def test_what_cannot_be_meant_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(dh.BadInput, match="did you mean 'rows'"):
        stream_of({"row": 60}, tmp_path)
    with pytest.raises(dh.BadInput, match="did you mean 'pagerank'"):
        stream_of({"kind": "pagerang"}, tmp_path)


@pytest.mark.parametrize("kind", ["least-squares", "softmax", "jacobi"])
def test_jobs_of_a_table_share_their_data(kind: str, tmp_path: Path) -> None:
    """It is read once; a matrix is encoded once for jobs under way, and chunks in the same memory are sent once."""
    rng = np.random.default_rng(0)
    np.save(tmp_path / "matrix.npy", np.diag(np.full(12, 4.0)) + rng.random((12, 12)) / 12)
    np.save(tmp_path / "right.npy", rng.normal(size=12))
    np.save(tmp_path / "x.npy", rng.normal(size=(60, 3)))
    np.save(tmp_path / "y.npy", rng.integers(0, 2, 60))
    tables: dict[str, dict[str, Any]] = {
        "least-squares": {"kind": kind, "rows": 60, "columns": 2},
        "softmax": {"kind": kind, "x": "x.npy", "y": "y.npy", "classes": 2},
        "jacobi": {"kind": kind, "matrix": "matrix.npy", "right": "right.npy"},
    }
    first, second = islice(stream_of(tables[kind], tmp_path), 2)
    assert first.name != second.name
    code = dh.codes.mds(4, 6) if isinstance(first, MatrixJob) else dh.codes.cyclic(6, 2)
    programs = [job.program(code, math.inf) for job in (first, second)]
    for place in range(6):
        assert len({memory_key(program.chunks[place]) for program in programs}) == 1


def test_jobs_of_a_python_file(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PYTHON)
    assert [job.name for job in stream_of({"python": "train.py:jobs"}, tmp_path)] == ["own 3", "own 4"]
    several = stream_of({"python": "train.py:job"}, tmp_path)
    assert len(several) == 4
    assert len({id(job) for job in several}) == 1
    with pytest.raises(dh.BadInput, match=r"job\.rows"):
        stream_of({"python": "train.py:job", "rows": 5}, tmp_path)
