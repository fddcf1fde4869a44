"""Training under every gradient code, with a worker killed on the way: the weights are those of a serial run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn
from torch.utils.data import Dataset

import deadheat as dh
from deadheat.jobs.regression import Fit, seen, softmax
from deadheat.jobs.sources import arrays
from deadheat.jobs.torch_training import Trained, Training, flat, in_series
from deadheat.runtime.driver import Converged
from deadheat.runtime.job import Job, Workable
from deadheat.runtime.messages import Dismiss, Finished, Lost
from deadheat.runtime.runs import Run, run

Array = NDArray[Any]
CLUSTER = dh.Cluster([dh.Worker(4e-4 * times, 1e-4 * times, comm=2e-4) for times in (1.0, 1.5, 2.0, 3.0)])
WORK = 30.0  # units of a plain iteration: about 5 ms on the four of them
ITERATIONS, KILLED_AT = 50, 20
REAL = {  # codes whose weights are real, of 12 chunks
    "uncoded": None,
    "replication": dh.codes.replication(6, 2),
    "fractional": dh.codes.fractional_repetition(12, 2),
    "cyclic": dh.codes.cyclic(12, 3),
    "cyclic, reuse": dh.codes.cyclic(12, 3, reuse=True),
    "cyclic MDS": dh.codes.cyclic_mds(12, 3),
}
MORE = {
    "cyclic MDS, reuse": dh.codes.cyclic_mds(12, 3, reuse=True),
    "paper": dh.codes.paper_example(),
    "cut in 2": dh.codes.communication_efficient(12, 2, 2),
}
COMPLEX = {
    "cyclic MDS, complex": dh.codes.cyclic_mds(12, 2),
    "Reed-Solomon": dh.codes.reed_solomon(12, 3),
    "Reed-Solomon, reuse": dh.codes.reed_solomon(12, 3, reuse=True),
}


class KillInEach:
    """Kills a worker in iteration 20 of every job: always the slowest, or each time another one."""

    def __init__(self, slowest: bool) -> None:
        self.slowest = slowest
        self.run: Run | None = None
        self.killed: dict[int, int] = {}
        self.lost: list[int] = []
        self.dismissed: list[int] = []

    def __call__(self, news: object, at: float) -> None:
        match news:
            case Finished(ticket=ticket) if ticket.iteration == KILLED_AT and ticket.job not in self.killed:
                assert self.run is not None
                alive = sorted(self.run.driver.master.alive)
                self.killed[ticket.job] = alive[-1 if self.slowest else ticket.job % len(alive)]
                engine: Any = self.run.driver.engine
                engine.kill(self.killed[ticket.job])
            case Lost(worker=worker):
                self.lost.append(worker)
            case Dismiss(worker=worker):
                self.dismissed.append(worker)


def with_a_death_in_each(
    jobs: Sequence[Workable], codes: Sequence[dh.Code | None], engine: str = "local", slowest: bool = False
) -> tuple[dict[str, dh.Delivery], KillInEach]:
    deaths = KillInEach(slowest)
    deaths.run = run(list(jobs), CLUSTER, list(codes), engine, emulate=True, work=WORK, listeners=[deaths])
    done = deaths.run.wait().deliveries
    return {delivery.name: delivery for delivery in done}, deaths


# Multinomial logistic regression, in double precision


@cache
def table() -> tuple[Array, Array]:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(360, 6))
    return x, (x @ rng.normal(size=(6, 4)) + rng.gumbel(size=(360, 4))).argmax(axis=1)


def fit(name: str, **ways: Any) -> Job:
    chosen = {"step": "descent", "rate": 0.5, "l2": 1e-3, "tolerance": 0.0, "chunks": 12, "iterations": ITERATIONS}
    return softmax(arrays(*table()), 4, **(chosen | ways), name=name)


FITS: dict[str, dict[str, Any]] = {  # besides one for each code
    "Adam": {"step": "adam", "rate": 0.05},
    "L-BFGS": {"step": "lbfgs", "rate": None},
    "a sample": {"sample": 0.5, "seed": 5},
    "more chunks": {"chunks": 31},
}


def one_after_the_other(job: Job) -> Fit:
    """What a loop over the chunks makes of it."""
    state = job.start
    for iteration in range(job.iterations):
        total = np.sum([job.compute(seen(state), chunk) for chunk in job.chunks], axis=0)
        state = job.step(state, total, iteration)
        assert not isinstance(state, Converged)
    assert isinstance(state, Fit)
    return state


@pytest.fixture(scope="module")
def fits() -> tuple[dict[str, dh.Delivery], KillInEach]:
    plain = REAL | COMPLEX | MORE
    jobs = [fit(name) for name in plain] + [fit(name, **ways) for name, ways in FITS.items()]
    return with_a_death_in_each(jobs, [*plain.values(), *[dh.codes.cyclic(12, 3)] * len(FITS)])


def assert_done(name: str, found: tuple[dict[str, dh.Delivery], KillInEach]) -> Any:
    done, deaths = found
    assert done[name].error is None
    assert done[name].iterations == ITERATIONS
    assert done[name].job in deaths.killed
    return done[name].state


@pytest.mark.parametrize("name", [*REAL, *COMPLEX, *MORE])
def test_softmax_regression_under_a_code(name: str, fits: tuple[dict[str, dh.Delivery], KillInEach]) -> None:
    state = assert_done(name, fits)
    assert np.abs(state.weights - one_after_the_other(fit(name)).weights).max() < 1e-8
    assert len(state.losses) == ITERATIONS


@pytest.mark.parametrize("name", [*FITS])
def test_softmax_regression_in_other_ways(name: str, fits: tuple[dict[str, dh.Delivery], KillInEach]) -> None:
    state = assert_done(name, fits)
    limit = 1e-6 if name == "L-BFGS" else 1e-8  # near its end L-BFGS compares losses that differ by rounding alone
    assert np.abs(state.weights - one_after_the_other(fit(name, **FITS[name])).weights).max() < limit


def test_the_loop_over_chunks_is_plain_descent() -> None:
    x, y = table()
    ones, labels = np.column_stack([x, np.ones(len(x))]), np.eye(4)[y]
    weights = np.zeros((7, 4))
    for _ in range(ITERATIONS):
        chance = np.exp(ones @ weights)
        chance /= chance.sum(axis=1, keepdims=True)
        penalty = 1e-3 * np.vstack([weights[:-1], np.zeros(4)])
        weights = weights - 0.5 * (ones.T @ (chance - labels) / len(x) + penalty)
    assert np.abs(one_after_the_other(fit("plain")).weights - weights).max() < 1e-12


def test_a_sample_is_not_the_whole() -> None:
    whole, sample = one_after_the_other(fit("all")), one_after_the_other(fit("sample", **FITS["a sample"]))
    assert np.abs(whole.weights - sample.weights).max() > 1e-3


def test_every_job_lost_a_worker(fits: tuple[dict[str, dh.Delivery], KillInEach]) -> None:
    _, deaths = fits
    assert len(deaths.killed) == len(REAL | COMPLEX | MORE) + len(FITS)
    assert len(deaths.lost) >= len(deaths.killed) - 1  # of the last one the run may not hear
    assert deaths.dismissed == []


def test_on_ray(ray_cluster: None) -> None:
    found = with_a_death_in_each([fit("on Ray")], [dh.codes.reed_solomon(12, 3)], "ray")
    state = assert_done("on Ray", found)
    assert np.abs(state.weights - one_after_the_other(fit("serial")).weights).max() < 1e-8


# A network of two layers, in single precision


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


def training(name: str, *, drop: float = 0.0, optimizer: str = "adam", rows: bool = False, **ways: Any) -> Training:
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Dropout(drop), nn.Linear(16, 4))
    parameters = model.parameters()
    chosen = torch.optim.Adam(parameters, 0.01) if optimizer == "adam" else torch.optim.SGD(parameters, 0.1, 0.9)
    data = Rows(*tensors()) if rows else tensors()
    loss = nn.functional.cross_entropy
    return Training(model, loss, data, chosen, name=name, **({"iterations": ITERATIONS, "chunks": 12} | ways))


TRAININGS: dict[str, dict[str, Any]] = {  # besides one for each code
    "batches": {"batch": 48, "seed": 3, "optimizer": "sgd"},
    "dropout": {"drop": 0.3},
    "dropout and batches of a dataset": {"drop": 0.3, "batch": 60, "chunks": 15, "rows": True},
}


@pytest.fixture(scope="module")
def trainings() -> tuple[dict[str, dh.Delivery], KillInEach]:
    """The slowest has few tasks, so that nobody has to wait while the next one imports torch."""
    plain = REAL | COMPLEX
    jobs = [training(name) for name in plain] + [training(name, **ways) for name, ways in TRAININGS.items()]
    return with_a_death_in_each(jobs, [*plain.values(), *[dh.codes.cyclic(12, 3)] * len(TRAININGS)], slowest=True)


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


@pytest.mark.parametrize("name", [*REAL, *COMPLEX])
def test_a_network_under_a_code(name: str, trainings: tuple[dict[str, dh.Delivery], KillInEach]) -> None:
    state = assert_done(name, trainings)
    assert isinstance(state, Trained)
    assert np.abs(flat(state.model) - in_a_plain_loop()).max() < 1e-4
    assert state.losses[-1] < 0.8 * state.losses[0]


@pytest.mark.parametrize("name", [*TRAININGS])
def test_a_network_in_other_ways(name: str, trainings: tuple[dict[str, dh.Delivery], KillInEach]) -> None:
    state, alone = assert_done(name, trainings), in_series(training(name, **TRAININGS[name]))
    assert np.abs(flat(state.model) - flat(alone.model)).max() < 1e-4
    assert np.abs(np.array(state.losses) - alone.losses).max() < 1e-4


def test_the_series_is_a_plain_loop() -> None:
    assert np.abs(flat(in_series(training("plain")).model) - in_a_plain_loop()).max() < 1e-4


@pytest.mark.parametrize("name", ["batches", "dropout"])
def test_batches_and_dropout_make_a_difference(name: str) -> None:
    assert np.abs(flat(in_series(training(name, **TRAININGS[name])).model) - in_a_plain_loop()).max() > 1e-2


def test_batches_of_an_epoch_have_every_row_once() -> None:
    made = training("epoch", batch=40, chunks=10, iterations=9)
    batches = made._batches
    for chunk in range(10):
        rows = np.concatenate([batches.of(chunk, 36, iteration) for iteration in range(9)])
        assert sorted(rows) == list(range(36))


def test_a_training_can_be_run_again() -> None:
    made = training("again", iterations=5, drop=0.2)
    before = flat(made.start.model).copy()
    first, second = in_series(made), in_series(made)
    assert np.array_equal(flat(first.model), flat(second.model))
    assert np.array_equal(flat(made.start.model), before)


def test_nobody_is_dismissed_while_it_imports_torch(trainings: tuple[dict[str, dh.Delivery], KillInEach]) -> None:
    """It takes a worker seconds to read such a job for the first time."""
    _, deaths = trainings
    assert deaths.dismissed == []
