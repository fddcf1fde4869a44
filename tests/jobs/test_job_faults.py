"""Jobs that cannot go well: the error names the job, the chunk and the worker, and other jobs go on."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.coding import Code
from deadheat.jobs import (
    MatrixJob,
    arrays,
    conjugate_gradients,
    in_series,
    least_squares,
    power_iteration,
    softmax,
    source_of,
)
from deadheat.model import AnyArray as Array
from deadheat.runtime import Delivery, Job, Pool, Workable, run

NAMED = dh.Cluster([dh.Worker(1e-3, 1e-4, name=name) for name in ("anna", "bert", "carl")])
RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Y = X @ [1.0, 2.0, 3.0]


def good(name: str = "good") -> Job:
    return least_squares(arrays(X, Y), chunks=6, tolerance=1e-8, name=name)


def plus(state: float, total: Array, iteration: int) -> float:
    return state + float(total)


def no_price(state: float, chunk: int) -> Array:
    if chunk == 4:
        raise KeyError("no such price")
    return np.array(float(chunk))


def locked() -> Job:
    """A job that cannot be sent."""
    lock = threading.Lock()

    def compute(state: float, chunk: int) -> Array:
        with lock:
            return np.array(float(chunk))

    return Job(range(6), compute, 0.0, plus, 3, "locked")


class Counter:
    """A state that cannot be copied, and is changed in place."""

    def __init__(self) -> None:
        self.value, self.lock = 0.0, threading.Lock()

    def add(self, total: Array, iteration: int) -> Counter:
        self.value += float(total)
        return self


def uncopied() -> Job:
    return Job([1.0, 2.0], lambda state, chunk: np.array(chunk), Counter(), Counter.add, 3, share=lambda state: None)


def hidden(state: float, chunk: int) -> Array:
    return np.ma.array([float(chunk), 5.0], mask=[False, True])


def odd() -> Job:
    """Five numbers of a chunk: two weights, the intercept, the loss and the rows."""
    return least_squares(arrays(X[:, :2], Y), chunks=8, iterations=5, tolerance=0.0, name="odd")


def from_files(folder: Path, name: str, x: Array, y: Array, **settings: Any) -> Job:
    np.save(folder / f"{name}-x.npy", x)
    np.save(folder / f"{name}-y.npy", y)
    source = source_of(folder / f"{name}-x.npy", folder / f"{name}-y.npy")
    if "classes" in settings:
        return softmax(source, settings["classes"], chunks=6, name=name)
    return least_squares(source, chunks=6, name=name)


def bad_ones(folder: Path) -> Iterator[tuple[Workable, Code | None]]:
    """Jobs that fail, each in its own way, with their codes."""
    yield Job(range(6), no_price, 0.0, plus, 3, "prices"), None
    yield Job(range(6), no_price, 0.0, plus, 3, "coded prices"), dh.codes.cyclic(6, 1)
    yield from_files(folder, "gone", X, Y), None
    (folder / "gone-y.npy").unlink()
    holes = X.copy()
    holes[45] = np.nan  # in chunk 2 of 6
    yield from_files(folder, "holes", holes, Y), None
    yield from_files(folder, "labels", X, np.arange(120) // 50, classes=2), None
    yield conjugate_gradients(-np.eye(8), np.ones(8)), None
    yield power_iteration(np.zeros((8, 8))), None
    short = MatrixJob(np.eye(8), np.ones(5), lambda state, product, iteration: product, 2, name="short")
    yield short, dh.codes.mds(3, 4)
    yield locked(), None
    yield Job(range(6), hidden, np.zeros(2), lambda state, total, iteration: total, 2, "hidden"), None
    yield odd(), dh.codes.communication_efficient(8, 2, 4)


Deliveries = dict[str, Delivery]


@pytest.fixture(scope="module")
def deliveries(tmp_path_factory: pytest.TempPathFactory) -> Deliveries:
    """One run: a job that is well, then one that is not, and so on; those that are well are done."""
    jobs, codes = list[Workable](), list[Code | None]()
    for job, code in bad_ones(tmp_path_factory.mktemp("files")):
        jobs += [good(f"before {job.name}"), job]
        codes += [None, code]
    done = run([*jobs, good("the last")], NAMED, [*codes, None]).wait().deliveries
    assert [delivery.name for delivery in done] == [*(job.name for job in jobs), "the last"]
    for delivery in done[::2]:
        assert delivery.error is None
        assert np.abs(delivery.state.weights - [1.0, 2.0, 3.0, 0.0]).max() < 1e-6
    return {delivery.name: delivery for delivery in done}


def error_of(name: str, deliveries: Deliveries) -> str:
    error = deliveries[name].error
    assert error is not None
    return error


def names_two_workers(error: str) -> bool:
    return sum(name in error for name in ("anna", "bert", "carl")) == 2


@pytest.mark.parametrize("name", ["prices", "coded prices"])
def test_a_chunk_that_raises(name: str, deliveries: Deliveries) -> None:
    error = error_of(name, deliveries)
    assert "KeyError: 'no such price'" in error
    assert "test_job_faults.py" in error
    assert "chunk 4" in error
    assert names_two_workers(error)


def test_a_file_that_goes_away(deliveries: Deliveries) -> None:
    error = error_of("gone", deliveries)
    assert "FileNotFoundError" in error
    assert "gone-y.npy" in error
    assert "chunk " in error
    assert names_two_workers(error)


def test_a_file_with_values_that_are_not_finite(deliveries: Deliveries) -> None:
    error = error_of("holes", deliveries)
    assert "not finite" in error
    assert "chunks [2]" in error
    assert names_two_workers(error)


def test_labels_that_a_file_should_not_have(deliveries: Deliveries) -> None:
    assert "chunk 5" in error_of("labels", deliveries)


def test_a_matrix_whose_step_raises(deliveries: Deliveries) -> None:
    assert "not positive definite" in error_of("conjugate gradients", deliveries)
    assert "to zero" in error_of("power iteration", deliveries)


def test_a_vector_that_does_not_fit_its_matrix(deliveries: Deliveries) -> None:
    error = error_of("short", deliveries)
    assert "ValueError" in error
    assert "task " in error
    assert names_two_workers(error)


def test_results_that_parts_do_not_divide(deliveries: Deliveries) -> None:
    """Five numbers of a chunk, to be cut in 4 parts: the weights are those of one process alone."""
    assert deliveries["odd"].error is None
    assert np.abs(deliveries["odd"].state.weights - in_series(odd()).weights).max() < 1e-8


def test_a_job_that_cannot_be_sent(deliveries: Deliveries) -> None:
    assert "pickle" in error_of("locked", deliveries)


@pytest.mark.timeout(20)
def test_a_lone_job_that_cannot_be_sent() -> None:
    """Nothing more comes from the workers then: the run must not wait for it."""
    (done,) = run(locked(), NAMED).wait().deliveries
    assert done.error is not None
    assert "pickle" in done.error


@pytest.mark.timeout(60)
def test_a_pool_names_the_job_that_failed_and_goes_on() -> None:
    def compute(state: float, chunk: int) -> Array:
        raise OSError("no light")

    with Pool(NAMED) as pool:
        unsent: Future[Delivery] = pool.submit(locked())
        with pytest.raises(dh.JobFailed, match=r"job locked: .*pickle"):
            unsent.result(20)
        assert pool.submit(good()).result(20).error is None
        dark = pool.submit(Job(range(6), compute, 0.0, plus, 3, "dark"))
        fine = pool.submit(good())
        with pytest.raises(dh.JobFailed, match=r"job dark: .*OSError: no light.*chunk "):
            dark.result(30)
        assert fine.result(30).error is None


UNCOPIED = r"start = .*: cannot be copied \(TypeError: cannot pickle .*lock.*\); leave out"


@pytest.mark.timeout(60)
def test_a_start_that_cannot_be_copied_is_refused_and_others_go_on() -> None:
    """Two runs of the job would share it, and the second begin where the first ended."""
    for alone in (in_series, lambda job: run(job, NAMED)):
        with pytest.raises(dh.BadInput, match=UNCOPIED):
            alone(uncopied())
    first, second, third = run([good(), uncopied(), good()], NAMED).wait().deliveries
    assert (first.error, third.error) == (None, None)
    assert re.match(UNCOPIED, second.error or "")
    with Pool(NAMED) as pool:
        refused, fine = pool.submit(uncopied()), pool.submit(good())
        with pytest.raises(dh.BadInput, match=UNCOPIED):
            refused.result(20)
        assert fine.result(20).error is None


def test_a_mask_is_not_dropped(deliveries: Deliveries) -> None:
    error = error_of("hidden", deliveries)
    assert "masked" in error
    assert "filled(0.0)" in error
    shown = Job(range(3), lambda state, chunk: np.ma.array([chunk, 1.0]), np.zeros(2), lambda s, total, i: total, 1)
    assert in_series(shown).tolist() == [3.0, 3.0]  # nothing is behind this mask
