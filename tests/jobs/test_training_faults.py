"""Trainings that cannot go well: what is refused and why, and errors that name the chunk."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import deadheat as dh
from deadheat.runtime import run
from deadheat.torch import Training

X = np.random.default_rng(0).normal(size=(120, 3))
Y = X @ [1.0, 2.0, 3.0]
TENSORS = torch.as_tensor(X, dtype=torch.float32), torch.as_tensor(Y[:, None], dtype=torch.float32)


def training(model: nn.Module | None = None, **settings: Any) -> Training:
    module = nn.Linear(3, 1) if model is None else model
    optimizer = settings.pop("optimizer", None) or torch.optim.SGD(module.parameters(), 0.1)
    return Training(module, nn.functional.mse_loss, TENSORS, optimizer, **({"iterations": 2, "chunks": 6} | settings))


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
    ("settings", "field"),
    [
        ({"batch": 5}, "batch"),
        ({"batch": 121}, "batch"),
        ({"batch": 12.5}, "batch"),
        ({"iterations": 0}, "iterations"),
        ({"chunks": 0}, "chunks"),
    ],
    ids=["batch of fewer than chunks", "batch of more than rows", "half a row", "iterations", "chunks"],
)
def test_numbers_that_cannot_be_meant(settings: dict[str, Any], field: str) -> None:
    with pytest.raises(dh.BadInput) as said:
        training(**settings)
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
    with pytest.raises(dh.BadInput, match="for linear work, and a job sums over chunks"):
        training().program(dh.codes.mds(3, 4), float("inf"))
    with pytest.raises(dh.BadInput, match="needs 8"):
        training().program(dh.codes.cyclic(8, 1), float("inf"))


class Locked(nn.Linear):
    """A model that cannot travel."""

    def __init__(self) -> None:
        super().__init__(3, 1)
        self.lock = threading.Lock()


@pytest.mark.timeout(60)
def test_a_model_that_cannot_be_copied_is_said_before_anything_starts() -> None:
    model = Locked()
    job = Training(model, nn.functional.mse_loss, TENSORS, torch.optim.SGD(model.parameters(), 0.1), iterations=2)
    with pytest.raises((dh.DeadheatError, TypeError), match="pickle"):
        run(job, workers=2)


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
