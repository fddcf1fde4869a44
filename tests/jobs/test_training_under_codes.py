"""A network of two layers under every gradient code: the weights are those of a plain loop, whoever dies on the way."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from killed_workers import GRADIENT_CODES, ITERATIONS, Deaths, with_deaths
from softmax_fits import table
from torch import nn
from torch.utils.data import Dataset

import deadheat as dh
from deadheat.coding import Code
from deadheat.jobs import in_series
from deadheat.model import AnyArray as Array
from deadheat.scheduling import Token
from deadheat.torch import Trained, Training, flat


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Rows(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Samples that the workers read themselves."""

    def __init__(self, x: torch.Tensor, y: torch.Tensor) -> None:
        self.x, self.y = x, y

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.x[index], self.y[index]


def tensors() -> tuple[torch.Tensor, torch.Tensor]:
    x, y = table()
    return torch.as_tensor(x, dtype=torch.float32), torch.as_tensor(y)


def training(name: str, *, drop: float = 0.0, optimizer: str = "adam", rows: bool = False, **settings: Any) -> Training:
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Dropout(drop), nn.Linear(16, 4))
    parameters = model.parameters()
    chosen = torch.optim.Adam(parameters, 0.01) if optimizer == "adam" else torch.optim.SGD(parameters, 0.1, 0.9)
    data = Rows(*tensors()) if rows else tensors()
    loss = nn.functional.cross_entropy
    return Training(model, loss, data, chosen, name=name, **({"iterations": ITERATIONS, "chunks": 12} | settings))


TRAININGS: dict[str, dict[str, Any]] = {  # besides one for each code
    "batches": {"batch": 48, "seed": 3, "optimizer": "sgd"},
    "dropout": {"drop": 0.3},
    "dropout and batches of a dataset": {"drop": 0.3, "batch": 60, "chunks": 15, "rows": True},
}


# A worker that takes the place of a dead one imports torch, which takes seconds: one death for each way to compute.
# That every code survives a death is tested without torch, in test_regression_under_codes.py.
KILLED = ("cyclic", "cyclic, reuse", "Reed-Solomon", "cut in 2", "dropout and batches of a dataset")


@pytest.fixture(scope="module")
def trainings() -> Deaths:
    """The slowest has few tasks, so that nobody has to wait while the next one imports torch."""
    jobs = [training(name) for name in GRADIENT_CODES] + [training(n, **settings) for n, settings in TRAININGS.items()]
    codes = [*GRADIENT_CODES.values(), *[dh.codes.cyclic(12, 3)] * len(TRAININGS)]
    return with_deaths(jobs, codes, Deaths(slowest=True, names=KILLED), workers=3)


@cache
def in_a_plain_loop() -> Array:
    """Full batches and Adam, as anybody would write it."""
    start = training("plain").start
    x, y = tensors()
    for _ in range(ITERATIONS):
        start.optimizer.zero_grad()
        nn.functional.cross_entropy(start.model(x), y).backward()  # type: ignore[no-untyped-call]
        start.optimizer.step()
    return flat(start.model)


@pytest.mark.parametrize("name", [*GRADIENT_CODES])
def test_a_network_under_a_code(name: str, trainings: Deaths) -> None:
    state = trainings.done(name).state
    assert isinstance(state, Trained)
    assert np.abs(flat(state.model) - in_a_plain_loop()).max() < 1e-4
    assert state.losses[-1] < 0.8 * state.losses[0]


@pytest.mark.parametrize("name", [*TRAININGS])
def test_a_network_in_other_ways(name: str, trainings: Deaths) -> None:
    state, alone = trainings.done(name).state, in_series(training(name, **TRAININGS[name]))
    assert np.abs(flat(state.model) - flat(alone.model)).max() < 1e-4
    assert np.abs(np.array(state.losses) - alone.losses).max() < 1e-4


def test_the_series_is_a_plain_loop() -> None:
    assert np.abs(flat(in_series(training("plain")).model) - in_a_plain_loop()).max() < 1e-4


@pytest.mark.parametrize("name", ["batches", "dropout"])
def test_batches_and_dropout_make_a_difference(name: str) -> None:
    assert np.abs(flat(in_series(training(name, **TRAININGS[name])).model) - in_a_plain_loop()).max() > 1e-2


def test_batches_of_an_epoch_have_every_row_once() -> None:
    job = training("epoch", batch=40, chunks=10, iterations=9)
    batches = job.batches
    for chunk in range(10):
        rows = np.concatenate([batches.of(chunk, 36, iteration) for iteration in range(9)])
        assert sorted(rows) == list(range(36))


def test_a_training_can_be_run_again() -> None:
    job = training("again", iterations=5, drop=0.2)
    before = flat(job.start.model).copy()
    first, second = in_series(job), in_series(job)
    assert np.array_equal(flat(first.model), flat(second.model))
    assert np.array_equal(flat(job.start.model), before)


def test_nobody_is_dismissed_while_it_imports_torch(trainings: Deaths) -> None:
    """It takes a worker seconds to read such a job for the first time."""
    assert len(trainings.killed) == len(KILLED)
    assert trainings.dismissed == []


def converged() -> Training:
    """A line at its least squares: the gradients of the chunks are large, and their sum is nearly zero."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(240, 6)).astype(np.float32)
    y = (x.sum(axis=1, keepdims=True) + rng.normal(size=(240, 1))).astype(np.float32)
    model = nn.Linear(6, 1, bias=False)
    best = np.linalg.lstsq(x, y, rcond=None)[0].T * np.float32(1 + 1e-6)
    model.weight.data = torch.as_tensor(best)
    data = torch.as_tensor(x), torch.as_tensor(y)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    return Training(model, nn.functional.mse_loss, data, optimizer, iterations=1, chunks=12)


@pytest.mark.parametrize("code", [dh.codes.cyclic(12, 3), dh.codes.reed_solomon(12, 3)], ids=["cyclic", "Reed-Solomon"])
def test_gradients_that_cancel_lose_no_more_digits_under_a_code(code: Code) -> None:
    """One backward pass over weighted losses rounded the mixture to single precision, and decoding took the rest."""
    job, wanted = converged(), Token(lambda: False)
    plain, coded = job.program(None, np.inf), job.program(code, np.inf)
    for program in (plain, coded):
        program.begin(program.share(job.start), 0)
    gradients = np.stack([plain.run(task, wanted) for task in range(12)]).astype(float)
    truth = gradients.sum(axis=0)[:-1]
    assert np.linalg.norm(truth) < 1e-4 * np.linalg.norm(gradients[:, :-1])
    answer = coded.decode({task: coded.run(task, wanted) for task in range(3, 12)})
    assert answer.dtype == np.float32
    np.testing.assert_allclose(answer[:-1], truth, rtol=1e-6, atol=1e-12)


def test_a_chunk_that_neighbouring_tasks_need_is_one_backward_pass() -> None:
    passes: list[int] = []

    def counted(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        passes.append(len(output))
        return nn.functional.cross_entropy(output, target)

    job = training("counted", iterations=1)
    job.loss = counted
    program = job.program(dh.codes.cyclic(12, 3), np.inf)
    program.begin(program.share(job.start), 0)
    for task in (0, 1, 2):
        program.run(task, Token(lambda: False))
    assert len(passes) == 6  # chunks 0 to 5
