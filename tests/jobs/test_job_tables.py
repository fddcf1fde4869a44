"""Built-in jobs from a scenario's [job] table, as users run them: results saved, errors in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

SCENARIO = """
[stream]
rate = 5.0
iterations = 200
jobs = 1
[code]
critical = 4
redundancy = 1.25
work = 1.0
[[workers]]
mean = 1e-3
std = 1e-4
[[workers]]
mean = 2e-3
std = 1e-4
[job]
"""
N = 60


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of every kind."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", x @ np.array([1.0, -2.0, 0.5]) + 3)
    np.save(tmp_path / "labels.npy", (x[:, 0] > 0).astype(int))
    matrix = sparse.diags_array([np.full(N - 1, -1.0), np.full(N, 3.0), np.full(N - 1, -1.0)], offsets=[-1, 0, 1])
    sparse.save_npz(tmp_path / "matrix.npz", matrix.tocsr())
    np.save(tmp_path / "right.npy", rng.normal(size=N))
    links = (rng.random((N, N)) < 0.1).astype(float)
    sparse.save_npz(tmp_path / "links.npz", sparse.csr_array(links))
    return tmp_path


def solved(deadheat: Any, folder: Path, job: str) -> Any:
    file, out = folder / "scenario.toml", folder / "result.npz"
    file.write_text(SCENARIO + job)
    code, _, err = deadheat("run", file, "--save", out, "--json")
    assert code == 0, err
    (result,) = np.load(out).values()
    return result


def test_least_squares(deadheat: Any, folder: Path) -> None:
    result = solved(deadheat, folder, 'kind = "least-squares"\nx = "x.npy"\ny = "y.npy"')
    assert np.allclose(result, [1.0, -2.0, 0.5, 3.0], atol=1e-5)


@pytest.mark.parametrize("kind", ["logistic", "softmax"])
def test_classification(deadheat: Any, folder: Path, kind: str) -> None:
    more = "\nclasses = 2" if kind == "softmax" else ""
    result = solved(deadheat, folder, f'kind = "{kind}"\nx = "x.npy"\ny = "labels.npy"\nl2 = 0.01{more}')
    score = result[0] if kind == "logistic" else result[0, 1] - result[0, 0]
    assert score > 1


@pytest.mark.parametrize("kind", ["jacobi", "conjugate-gradients"])
def test_systems(deadheat: Any, folder: Path, kind: str) -> None:
    result = solved(deadheat, folder, f'kind = "{kind}"\nmatrix = "matrix.npz"\nright = "right.npy"')
    matrix = sparse.load_npz(folder / "matrix.npz").toarray()
    assert np.allclose(matrix @ result, np.load(folder / "right.npy"), atol=1e-8)


def test_ranks(deadheat: Any, folder: Path) -> None:
    result = solved(deadheat, folder, 'kind = "pagerank"\nlinks = "links.npz"')
    assert result.sum() == pytest.approx(1.0)
    links = sparse.load_npz(folder / "links.npz").toarray()
    out = links.sum(axis=1)
    flow = np.where(out[:, None] > 0, links / np.maximum(out, 1)[:, None], 1 / N).T
    assert np.abs(result - (0.85 * flow @ result + 0.15 / N)).sum() < 1e-9


def test_an_eigenvector(deadheat: Any, folder: Path) -> None:
    result = solved(deadheat, folder, 'kind = "power-iteration"\nmatrix = "matrix.npz"\ntolerance = 1e-3')
    assert np.linalg.norm(result) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("job", "words"),
    [
        ('kind = "pagerank"', "job.links = None: missing"),
        ('kind = "pagerank"\nlinks = "none.npz"', "no such file"),
        ('kind = "pagerank"\nlinks = "right.npy"', "not a matrix"),
        ('kind = "logistic"\nx = "x.npy"', "job.y"),
        ('kind = "logistic"\nx = "x.npy"\ny = "labels.npy"\nstep = "adamm"', "did you mean 'adam'"),
        ('kind = "logistic"\nx = "x.npy"\ny = "labels.npy"\nsample = 0.5', "lbfgs compares losses"),
        ('kind = "least-squares"\nrows = 100\nl2 = 1.0', "least-squares takes"),
        ('kind = "jacobi"\nmatrix = "matrix.npz"\nright = "y.npy"', "the matrix has 60 rows"),
    ],
    ids=["missing", "file", "shape", "target", "step", "sample", "setting", "right"],
)
def test_what_cannot_be_meant_is_one_line(deadheat: Any, folder: Path, job: str, words: str) -> None:
    file = folder / "scenario.toml"
    file.write_text(SCENARIO + job)
    code, said, err = deadheat("run", file)
    assert code == 2
    assert said == ""
    assert words in err
    assert err.count("\n") == 1
