"""Regression as a job: losses, steps, sources, the end, and what is refused."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from recorded_rows import Recorded
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

import deadheat as dh
from deadheat.jobs import in_series, synthetic_least_squares
from deadheat.jobs.losses import LeastSquares, Logistic, Loss, Softmax
from deadheat.jobs.optimizers import Adam, Descent, Lbfgs, step_named
from deadheat.jobs.regression import Fit, least_squares, logistic, softmax, weights_of
from deadheat.jobs.sources import Arrays, Chunk, NpyFiles, ParquetFile, Rows, arrays, cut, source_of
from deadheat.model import AnyArray as Array
from deadheat.runtime import Converged, Job, run
from deadheat.scheduling import Token

TWO = dh.Cluster.from_columns([1e-3] * 2, 1e-4)


@cache
def table() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(203, 4)) * [1.0, 2.0, 0.5, 1.0]
    return x, x @ [1.0, -2.0, 0.5, 0.0] + 3.0 + 0.3 * rng.normal(size=203)


def labels(classes: int) -> Array:
    _, y = table()
    return np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))


def alone(job: Job) -> Fit:
    """What one process makes of it, chunk after chunk."""
    state = job.start
    for iteration in range(job.iterations):
        parts = [chunk.load() if isinstance(chunk, Rows) else chunk for chunk in job.chunks]
        wanted = Token(lambda: False, iteration)
        total = np.sum([job.compute(weights_of(state), part, wanted) for part in parts], axis=0)
        state = job.step(state, total, iteration)
        if isinstance(state, dh.Converged):
            return state.state  # type: ignore[no-any-return]
    assert isinstance(state, Fit)
    return state


# Losses


@pytest.mark.parametrize("scale", [0.1, 3.0], ids=["small", "large"])
@pytest.mark.parametrize("name", ["squares", "logistic", "softmax"])
def test_gradients_are_those_of_the_loss(name: str, scale: float) -> None:
    losses: dict[str, Loss] = {"squares": LeastSquares(), "logistic": Logistic(), "softmax": Softmax(3)}
    loss, (x, y) = losses[name], table()
    target = y if name == "squares" else labels(3 if name == "softmax" else 2)
    weights = scale * np.random.default_rng(1).normal(size=loss.shape(4))
    gradient, _ = loss(weights, x, target)
    assert gradient.shape == weights.shape
    for place in np.ndindex(weights.shape):
        step = np.zeros_like(weights)
        step[place] = 1e-5
        slope = (loss(weights + step, x, target)[1] - loss(weights - step, x, target)[1]) / 2e-5
        assert slope == pytest.approx(gradient[place], rel=1e-5, abs=1e-4)


def test_extreme_scores_stay_finite() -> None:
    x, y = np.array([[1e4], [-1e4]]), np.array([0, 1])
    for loss, weights in ((Logistic(), np.ones(1)), (Softmax(2), np.array([[0.0, 1.0]]))):
        gradient, value = loss(weights, x, y)
        assert value == pytest.approx(2e4)
        assert np.isfinite(gradient).all()


# Steps and optima


def optimum(l2: float) -> Array:
    x, y = table()
    ones = np.column_stack([x, np.ones(len(x))])
    return np.asarray(np.linalg.solve(ones.T @ ones / len(x) + l2 * np.diag([1, 1, 1, 1, 0]), ones.T @ y / len(x)))


STEPS: dict[str, dict[str, Any]] = {
    "lbfgs": {"step": "lbfgs"},
    "descent": {"step": "descent", "rate": 0.3},
    "momentum": {"step": "descent", "rate": 0.05, "momentum": 0.8},
    "adam": {"step": "adam", "rate": 0.1},
    "own": {"step": Lbfgs(memory=3)},
}


@pytest.mark.parametrize("name", [*STEPS])
def test_every_step_reaches_the_optimum(name: str) -> None:
    job = least_squares(arrays(*table()), l2=0.1, iterations=3000, tolerance=1e-9, chunks=3, **STEPS[name])
    fit = alone(job)
    assert np.abs(fit.weights - optimum(0.1)).max() < 1e-7
    assert fit.slope <= 1e-9
    assert fit.losses[-1] == fit.loss < fit.losses[0]


def test_lbfgs_needs_few_passes() -> None:
    assert len(alone(least_squares(arrays(*table()), tolerance=1e-8)).losses) < 40


def test_logistic_is_that_of_sklearn() -> None:
    x, y = table()[0], labels(2)
    fit = alone(logistic(arrays(x, y), l2=0.02, tolerance=1e-9, iterations=500))
    other = LogisticRegression(C=1 / (0.02 * len(x)), tol=1e-10, max_iter=10_000).fit(x, y)
    assert np.abs(fit.weights - np.append(other.coef_[0], other.intercept_)).max() < 1e-5


def test_softmax_is_what_scipy_finds() -> None:
    x, y = table()[0], labels(3)
    fit = alone(softmax(arrays(x, y), 3, l2=0.05, tolerance=1e-9, iterations=500))

    def objective(flat: Array) -> float:
        weights = flat.reshape(5, 3)
        score = np.column_stack([x, np.ones(len(x))]) @ weights
        likely = score[np.arange(len(x)), y] - np.log(np.exp(score).sum(axis=1))
        return float(-likely.mean() + 0.025 * (weights[:-1] ** 2).sum())

    reference = minimize(objective, np.zeros(15), method="BFGS", options={"gtol": 1e-7})
    assert fit.loss == pytest.approx(reference.fun, rel=1e-8)
    assert np.abs(fit.weights[:-1] - reference.x.reshape(5, 3)[:-1]).max() < 1e-4


def test_without_an_intercept() -> None:
    x, y = table()
    fit = alone(least_squares(arrays(x, y), intercept=False, tolerance=1e-10))
    assert np.abs(fit.weights - np.linalg.lstsq(x, y)[0]).max() < 1e-7


def test_a_sample_comes_near() -> None:
    settings: dict[str, Any] = {"step": "descent", "rate": 0.05, "iterations": 600, "tolerance": 0.0}
    fit = alone(least_squares(arrays(*table()), chunks=20, sample=0.5, l2=0.1, **settings))
    assert np.abs(fit.weights - optimum(0.1)).max() < 0.05


def test_a_series_is_a_loop_over_the_chunks(tmp_path: Path) -> None:
    """Of arrays, of files that are read on the way, and of a sample that is another one in each iteration."""
    sample: dict[str, Any] = {"step": "descent", "rate": 0.05, "sample": 0.5}
    for settings, source in (({}, arrays(*table())), ({}, files(tmp_path)["npy"]), (sample, arrays(*table()))):
        job = least_squares(source, chunks=20, iterations=15, tolerance=0.0, **settings)
        fit = in_series(job)
        assert isinstance(fit, Fit)
        assert np.abs(fit.weights - alone(job).weights).max() < 1e-12
        assert len(fit.losses) == 15


def test_synthetic_data_has_its_optimum() -> None:
    """Gradient descent at half the longest step that converges: the weights are those of numpy's least squares."""
    job = synthetic_least_squares(chunks=11, iterations=60, rows=1100, columns=5, seed=3, name="synthetic")
    fit = in_series(job)
    x = np.concatenate([chunk[1] for chunk in job.chunks])
    y = np.concatenate([chunk[2] for chunk in job.chunks])
    assert (x.shape, len(job.chunks), job.name) == ((1100, 5), 11, "synthetic")
    assert np.abs(fit.weights - np.linalg.lstsq(x, y)[0]).max() < 1e-6
    assert fit.loss == pytest.approx(0.005, rel=0.1)  # half the square of the noise, 0.1
    again, other = (synthetic_least_squares(11, 1, 1100, 5, seed=seed).chunks[0][1] for seed in (3, 4))
    assert np.array_equal(again, job.chunks[0][1])
    assert not np.array_equal(other, again)


@pytest.mark.parametrize("name", ["lbfgs", "momentum", "adam"])
def test_a_job_can_be_run_twice(name: str) -> None:
    job = least_squares(arrays(*table()), iterations=12, tolerance=0.0, chunks=6, **STEPS[name])
    first, second = run([job, job], TWO).wait().deliveries
    assert np.abs(first.state.weights - second.state.weights).max() < 1e-12
    assert np.abs(first.state.weights - alone(job).weights).max() < 1e-9
    assert first.state.losses == pytest.approx(second.state.losses)


def test_a_fit_ends_when_the_gradient_is_small_enough() -> None:
    job = least_squares(arrays(*table()), tolerance=1e-4, iterations=500)
    (done,) = run(job, TWO).wait().deliveries
    assert done.error is None
    assert done.iterations < 50
    assert done.state.slope <= 1e-4
    assert np.isfinite(done.state.loss)


def test_a_fit_says_that_it_converges_and_with_what_gradient() -> None:
    source = arrays(*table())
    job = least_squares(source, tolerance=1e-4)
    assert job.converges
    assert not least_squares(source, tolerance=0.0).converges  # all iterations are wanted
    assert not least_squares(source, step="adam", sample=0.5).converges  # a sample's gradient tells little
    state: Any = job.start
    while not isinstance(state, Converged):
        parts = [job.compute(state.weights, chunk, Token(lambda: False)) for chunk in job.chunks]
        state = job.step(state, np.sum(parts, axis=0), 0)
    assert state.why == f"the largest element of the gradient is {state.state.slope:.2g}"


def test_a_rate_that_is_too_large_is_said() -> None:
    job = least_squares(arrays(*table()), step="descent", rate=1e3, iterations=500, name="wild")
    (done,) = run(job, TWO).wait().deliveries
    assert done.error is not None
    assert "take a smaller rate" in done.error


# Sources


def files(place: Path) -> dict[str, Any]:
    x, y = table()
    np.save(place / "x.npy", x)
    np.save(place / "y.npy", y)
    columns = {f"c{i}": x[:, i] for i in range(4)} | {"price": y}
    pq.write_table(pa.table(columns), place / "rows.parquet", row_group_size=37)
    return {
        "arrays": source_of(x, y),
        "npy": source_of(place / "x.npy", str(place / "y.npy")),
        "parquet": source_of(place / "rows.parquet", target="price"),
    }


def test_every_source_gives_the_same_rows(tmp_path: Path) -> None:
    x, y = table()
    for source in files(tmp_path).values():
        assert source.shape == (203, 4)
        for first, last in ((0, 203), (0, 1), (36, 38), (37, 74), (150, 203)):
            rows, target = source.read(first, last)
            assert np.array_equal(rows, x[first:last])
            assert np.array_equal(target, y[first:last])


@pytest.mark.parametrize("memory", [float("inf"), 1.0], ids=["kept", "read each time"])
def test_every_source_gives_the_same_fit(tmp_path: Path, memory: float) -> None:
    sources = files(tmp_path)
    jobs = [least_squares(source, tolerance=1e-9, chunks=7, name=name) for name, source in sources.items()]
    done = run(jobs, TWO, memory=memory).wait().deliveries
    assert [delivery.name for delivery in done] == ["arrays", "npy", "parquet"]
    for delivery in done:
        assert delivery.error is None
        assert np.abs(delivery.state.weights - optimum(0.0)).max() < 1e-7


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "read each time"])
def test_files_are_read_by_workers_only(tmp_path: Path, kept: bool) -> None:
    files(tmp_path)
    read = tmp_path / "read"
    source = Recorded(NpyFiles(tmp_path / "x.npy", tmp_path / "y.npy"), str(read))
    job = least_squares(source, tolerance=0.0, iterations=5, chunks=8)
    done = run(job, TWO, memory=float("inf") if kept else 1.0, adapt=False).wait()
    assert done.deliveries[0].error is None
    who = read.read_text().split()
    assert str(os.getpid()) not in who
    assert len(who) <= 16 if kept else len(who) >= 30  # of 8 chunks in 5 iterations


def test_chunks_are_nearly_equal_and_in_order() -> None:
    pieces: list[Chunk] = cut(arrays(*table()), 10)
    assert {len(x) for _, x, _ in pieces} == {20, 21}
    assert np.array_equal(np.concatenate([y for _, _, y in pieces]), table()[1])
    assert [number for number, _, _ in pieces] == list(range(10))


def test_chosen_features_of_a_parquet_file(tmp_path: Path) -> None:
    files(tmp_path)
    rows, _ = ParquetFile(tmp_path / "rows.parquet", "price", ("c2", "c0")).read(5, 9)
    assert np.array_equal(rows, table()[0][5:9][:, [2, 0]])


# What is refused


def with_nan(values: Array) -> Array:
    holes = values.copy()
    holes[17] = np.nan
    return holes


X, Y = table()
SOURCES: dict[str, tuple[tuple[Any, Any], str, str]] = {
    "nan in x": ((with_nan(X), Y), "x", "row 17"),
    "nan in y": ((X, with_nan(Y)), "y", "row 17"),
    "x a vector": ((Y, Y), "x", "not a table"),
    "y a table": ((X, X), "y", "203 rows"),
    "y too short": ((X, Y[:-1]), "y", "203 rows"),
    "x no file": (("nowhere.npy", "nowhere.npy"), "x", "no such file"),
    "y no file": ((__file__, "nowhere.npy"), "y", "no such file"),
    "x of text": (([["a", "b"]], [1.0]), "x", "not numbers"),
    "no rows": ((np.zeros((0, 3)), np.zeros(0)), "x", "no rows"),
}


@pytest.mark.parametrize("name", [*SOURCES])
def test_sources_that_cannot_be_meant(name: str) -> None:
    (x, y), field, problem = SOURCES[name]
    with pytest.raises(dh.BadInput, match=problem) as said:
        source_of(x, y)
    assert said.value.field == field


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "chunks 0": ({"chunks": 0}, "chunks"),
    "chunks 2.5": ({"chunks": 2.5}, "chunks"),
    "l2": ({"l2": -1.0}, "l2"),
    "tolerance": ({"tolerance": np.nan}, "tolerance"),
    "iterations": ({"iterations": 0}, "iterations"),
    "sample 0": ({"sample": 0.0, "step": "adam"}, "sample"),
    "sample 2": ({"sample": 2.0, "step": "adam"}, "sample"),
    "sample with lbfgs": ({"sample": 0.5}, "sample"),
    "sample with own lbfgs": ({"sample": 0.5, "step": Lbfgs()}, "sample"),
    "step": ({"step": "newton"}, "step"),
    "rate": ({"step": "adam", "rate": 0.0}, "rate"),
    "momentum": ({"step": "descent", "momentum": 1.0}, "momentum"),
    "momentum of adam": ({"step": "adam", "momentum": 0.5}, "momentum"),
}


@pytest.mark.parametrize("name", [*REFUSED])
def test_ways_that_cannot_be_meant(name: str) -> None:
    settings, field = REFUSED[name]
    with pytest.raises(dh.BadInput) as said:
        least_squares(arrays(X, Y), **settings)
    assert said.value.field == field


def test_one_class_is_refused() -> None:
    with pytest.raises(dh.BadInput, match="classes"):
        softmax(arrays(X, np.zeros(len(X), int)), 1)


@pytest.mark.parametrize("wrong", [labels(4), labels(3) - 1, labels(3) + 0.5], ids=["above", "below", "half"])
def test_labels_of_softmax_are_numbers_of_classes(wrong: Array) -> None:
    with pytest.raises(dh.BadInput) as said:
        softmax(arrays(X, wrong), 3)
    assert said.value.field == "y"


@pytest.mark.parametrize("wrong", [2 * labels(2) - 1, labels(3), labels(2) + 0.5], ids=["-1", "three", "half"])
def test_labels_of_logistic_are_0_and_1(wrong: Array) -> None:
    with pytest.raises(dh.BadInput) as said:
        logistic(arrays(X, wrong))
    assert said.value.field == "y"


def test_columns_that_a_file_does_not_have(tmp_path: Path) -> None:
    files(tmp_path)
    with pytest.raises(dh.BadInput, match="target"):
        source_of(tmp_path / "rows.parquet")
    with pytest.raises(dh.BadInput, match=r"'cost': not in rows\.parquet; it has c0, c1"):
        source_of(tmp_path / "rows.parquet", target="cost")
    with pytest.raises(dh.BadInput, match="c9"):
        _ = ParquetFile(tmp_path / "rows.parquet", "price", ("c9",)).shape


def test_files_of_other_lengths(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", np.append(Y, 0.0))
    with pytest.raises(dh.BadInput) as said:
        source_of(tmp_path / "x.npy", tmp_path / "y.npy")
    assert said.value.field == "y"


def test_a_file_that_is_no_table(tmp_path: Path) -> None:
    np.save(tmp_path / "y.npy", Y)
    with pytest.raises(dh.BadInput) as said:
        source_of(tmp_path / "y.npy", tmp_path / "y.npy")
    assert said.value.field == "x"


def test_steps_by_name() -> None:
    assert isinstance(step_named("adam"), Adam)
    assert isinstance(step_named("descent", 0.2, 0.5), Descent)
    with pytest.raises(dh.BadInput, match="did you mean 'adam'"):
        step_named("Adam")


def test_whole_numbers_and_lists_will_do() -> None:
    source = arrays([[1, 2], [3, 4], [5, 7]], [1, 2, 3])
    assert isinstance(source, Arrays)
    assert len(least_squares(source, chunks=50).chunks) == 3
