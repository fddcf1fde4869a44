"""Jobs that cannot go well: the error names the job, the chunk and the worker, and other jobs go on."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

import deadheat as dh
from deadheat.jobs.matrix_jobs import MatrixJob
from deadheat.jobs.regression import least_squares, softmax
from deadheat.jobs.solvers import conjugate_gradients, power_iteration
from deadheat.jobs.sources import arrays, source_of
from deadheat.jobs.torch_training import Training
from deadheat.runtime.job import Job, Workable
from deadheat.runtime.pools import Pool
from deadheat.runtime.runs import run

Array = NDArray[Any]
NAMED = dh.Cluster([dh.Worker(1e-3, 1e-4, name=name) for name in ("anna", "bert", "carl")])
RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Y = X @ [1.0, 2.0, 3.0]


def good(name: str = "good") -> Job:
    return least_squares(arrays(X, Y), chunks=6, tolerance=1e-8, name=name)


def between_good_ones(bad: Workable, code: dh.Code | None = None) -> str:
    """What is said of a job between two that are well."""
    first, second, third = run([good("first"), bad, good("third")], NAMED, [None, code, None]).wait().deliveries
    for delivery in (first, third):
        assert delivery.error is None
        assert np.abs(delivery.state.weights - [1.0, 2.0, 3.0, 0.0]).max() < 1e-6
    assert (first.name, second.name, third.name) == ("first", bad.name, "third")
    assert second.error is not None
    return second.error


def names_two_workers(error: str) -> bool:
    return sum(name in error for name in ("anna", "bert", "carl")) == 2


def plus(state: float, total: Array, iteration: int) -> float:
    return state + float(total)


@pytest.mark.parametrize("coded", [False, True], ids=["plain", "cyclic"])
def test_a_chunk_that_raises(coded: bool) -> None:
    def compute(state: float, chunk: int) -> Array:
        if chunk == 4:
            raise KeyError("no such price")
        return np.array(float(chunk))

    job = Job(range(6), compute, 0.0, plus, 3, "prices")
    error = between_good_ones(job, dh.codes.cyclic(6, 1) if coded else None)
    assert "KeyError: 'no such price'" in error
    assert "test_job_faults.py" in error
    assert "chunk 4" in error
    assert names_two_workers(error)


def test_a_file_that_goes_away(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    job = least_squares(source_of(tmp_path / "x.npy", tmp_path / "y.npy"), chunks=6, name="files")
    (tmp_path / "y.npy").unlink()
    error = between_good_ones(job)
    assert "FileNotFoundError" in error
    assert "y.npy" in error
    assert "chunk " in error
    assert names_two_workers(error)


def test_a_file_with_values_that_are_not_finite(tmp_path: Path) -> None:
    holes = X.copy()
    holes[45] = np.nan  # in chunk 2 of 6
    np.save(tmp_path / "x.npy", holes)
    np.save(tmp_path / "y.npy", Y)
    job = least_squares(source_of(tmp_path / "x.npy", tmp_path / "y.npy"), chunks=6, name="holes")
    error = between_good_ones(job)
    assert "not finite" in error
    assert "chunks [2]" in error
    assert names_two_workers(error)


def test_labels_that_a_file_should_not_have(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", np.arange(120) // 50)
    error = between_good_ones(softmax(source_of(tmp_path / "x.npy", tmp_path / "y.npy"), 2, chunks=6, name="labels"))
    assert "chunk 5" in error


def test_a_matrix_whose_step_raises() -> None:
    assert "not positive definite" in between_good_ones(conjugate_gradients(-np.eye(8), np.ones(8)))
    assert "to zero" in between_good_ones(power_iteration(np.zeros((8, 8))))


def test_a_vector_that_does_not_fit_its_matrix() -> None:
    job = MatrixJob(np.eye(8), np.ones(5), lambda state, product, iteration: product, 2, name="short")
    error = between_good_ones(job, dh.codes.mds(3, 4))
    assert "ValueError" in error
    assert "task " in error
    assert names_two_workers(error)


def test_parts_that_a_gradient_cannot_be_cut_into() -> None:
    """Five numbers of a chunk, to be cut in 4: done, or refused in words that say so."""
    job = least_squares(arrays(X[:, :2], Y), chunks=8, name="odd")
    (done,) = run(job, NAMED, dh.codes.communication_efficient(8, 2, 4)).wait().deliveries
    assert done.error is None or "parts" in done.error


class Locked(nn.Linear):
    """A model that cannot travel."""

    def __init__(self) -> None:
        super().__init__(3, 1)
        self.lock = threading.Lock()


def locked() -> Job:
    lock = threading.Lock()

    def compute(state: float, chunk: int) -> Array:
        with lock:
            return np.array(float(chunk))

    return Job(range(6), compute, 0.0, plus, 3, "locked")


@pytest.mark.timeout(60)
def test_a_job_that_cannot_be_sent() -> None:
    error = between_good_ones(locked())
    assert "pickle" in error


@pytest.mark.timeout(20)
def test_a_lone_job_that_cannot_be_sent() -> None:
    """Nothing more comes from the workers then: the run must not wait for it."""
    (done,) = run(locked(), NAMED).wait().deliveries
    assert done.error is not None
    assert "pickle" in done.error


@pytest.mark.timeout(60)
def test_a_model_that_cannot_be_copied_is_said_before_anything_starts() -> None:
    model = Locked()
    job = Training(model, nn.functional.mse_loss, TENSORS, torch.optim.SGD(model.parameters(), 0.1), iterations=2)
    with pytest.raises((dh.DeadheatError, TypeError), match="pickle"):
        run(job, NAMED)


@pytest.mark.timeout(60)
def test_a_pool_goes_on_after_a_job_that_cannot_be_sent() -> None:
    pool = Pool(NAMED)
    bad: Future[dh.Delivery] = pool.submit(locked())
    with pytest.raises(Exception, match="pickle"):
        bad.result(20)
    assert pool.submit(good()).result(20).error is None
    pool.close()


def test_a_pool_names_the_job_that_failed() -> None:
    def compute(state: float, chunk: int) -> Array:
        raise OSError("no light")

    with Pool(NAMED) as pool:
        bad = pool.submit(Job(range(6), compute, 0.0, plus, 3, "dark"))
        fine = pool.submit(good())
        with pytest.raises(dh.JobFailed, match=r"job dark: .*OSError: no light.*chunk "):
            bad.result(30)
        assert fine.result(30).error is None


# PyTorch


TENSORS = torch.as_tensor(X, dtype=torch.float32), torch.as_tensor(Y[:, None], dtype=torch.float32)


def training(model: nn.Module | None = None, **ways: Any) -> Training:
    made = nn.Linear(3, 1) if model is None else model
    optimizer = ways.pop("optimizer", None) or torch.optim.SGD(made.parameters(), 0.1)
    return Training(made, nn.functional.mse_loss, TENSORS, optimizer, **({"iterations": 2, "chunks": 6} | ways))


def test_batch_normalisation_is_refused_with_a_reason() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
    with pytest.raises(dh.BadInput, match=r"statistics.*GroupNorm") as said:
        training(model)
    assert (said.value.field, said.value.value) == ("model", "1")
    model[1].eval()
    training(model)


def test_mixed_types_are_refused() -> None:
    with pytest.raises(dh.BadInput, match=r"several types.*float32") as said:
        training(nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1).double()))
    assert said.value.field == "model"


def test_an_optimizer_of_other_parameters_is_refused() -> None:
    with pytest.raises(dh.BadInput, match=r"make it of model\.parameters") as said:
        training(optimizer=torch.optim.SGD(nn.Linear(3, 1).parameters(), 0.1))
    assert said.value.field == "optimizer"


def test_a_model_without_parameters_is_refused() -> None:
    weights = [torch.zeros(1, requires_grad=True)]
    with pytest.raises(dh.BadInput, match="nothing to train"):
        training(nn.ReLU(), optimizer=torch.optim.SGD(weights, 0.1))


@pytest.mark.parametrize(
    ("ways", "field"),
    [
        ({"batch": 5}, "batch"),
        ({"batch": 121}, "batch"),
        ({"batch": 12.5}, "batch"),
        ({"iterations": 0}, "iterations"),
        ({"chunks": 0}, "chunks"),
    ],
    ids=["batch of fewer than chunks", "batch of more than rows", "half a row", "iterations", "chunks"],
)
def test_numbers_that_cannot_be_meant(ways: dict[str, Any], field: str) -> None:
    with pytest.raises(dh.BadInput) as said:
        training(**ways)
    assert said.value.field == field


def test_a_batch_that_the_chunks_do_not_divide_is_said_or_kept() -> None:
    """20 rows of 6 chunks: not 18 without a word."""
    with pytest.raises(dh.BadInput, match="batch"):
        training(batch=20)


def test_inputs_and_targets_of_other_lengths_are_refused() -> None:
    model = nn.Linear(3, 1)
    x, y = TENSORS
    with pytest.raises(dh.BadInput):
        Training(model, nn.functional.mse_loss, (x, y[:-1]), torch.optim.SGD(model.parameters(), 0.1), iterations=2)


def test_codes_that_training_cannot_use() -> None:
    with pytest.raises(dh.BadInput, match="whole chunks"):
        training().prepare(dh.codes.communication_efficient(6, 1, 2), float("inf"))
    with pytest.raises(dh.BadInput, match="whole chunks"):
        training().prepare(dh.codes.mds(3, 4), float("inf"))
    with pytest.raises(dh.BadInput, match="needs 8"):
        training().prepare(dh.codes.cyclic(8, 1), float("inf"))


def test_a_model_that_raises_on_one_chunk_says_which() -> None:
    """Rows 40 to 59 are chunk 2; without torch among the imports of a worker the first task would be late."""
    holes = X.copy()
    holes[45] = np.nan
    model = nn.Linear(3, 1)
    job = Training(
        model,
        refuse_nan,
        (torch.as_tensor(holes, dtype=torch.float32), TENSORS[1]),
        torch.optim.SGD(model.parameters(), 0.1),
        iterations=2,
        chunks=6,
        name="net",
    )
    (done,) = run(job, workers=2).wait().deliveries
    assert done.error is not None
    assert "ValueError: a hole" in done.error
    assert "chunk 2" in done.error


def refuse_nan(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    if bool(torch.isnan(output).any()):
        raise ValueError("a hole")
    return nn.functional.mse_loss(output, target)
