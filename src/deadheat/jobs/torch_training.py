"""Training of PyTorch models over workers: `dh.torch.Training`. Needs the extra `torch`.

Workers hold the model's structure and chunks of the data; its parameters travel as one flat buffer. Each chunk that a
worker's tasks need is one backward pass; mixtures of their gradients are made in double precision, since decoding takes
the digits that a backward pass over weighted losses would round.
The optimizer stays at the master and sees the gradient of the whole batch, whatever the split: the weights are those of
one process alone, to the precision of the numbers.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset, TensorDataset, default_collate

from deadheat.coding import Code
from deadheat.errors import BadInput, whole
from deadheat.model import AnyArray
from deadheat.runtime import ChunkProgram, LoadedChunks, code_of_sum, grouped, in_series
from deadheat.scheduling import Program, Token

Loss = Callable[[Any, Any], torch.Tensor]
STATISTICS = (nn.modules.batchnorm._BatchNorm,)


class Trained:
    """A model with its optimizer after some iterations; `losses` is the loss of each batch before its step."""

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer, losses: tuple[float, ...] = ()) -> None:
        self.model, self.optimizer, self.losses = model, optimizer, losses

    @property
    def iteration(self) -> int:
        return len(self.losses)


class Samples:
    """Some samples of a dataset, read by the worker that needs them."""

    def __init__(self, dataset: Dataset[Any], indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def load(self) -> tuple[torch.Tensor, torch.Tensor]:
        x, y = default_collate([self.dataset[i] for i in self.indices])
        return x, y


@dataclass(frozen=True)
class Batches:
    """Which rows of a chunk are in the batch of an iteration: all, or `each` of them, in a new order every epoch."""

    rows: int
    chunks: int
    each: int | None
    seed: int

    def of(self, chunk: int, size: int, iteration: int) -> AnyArray | None:
        """Row numbers within a chunk of so many rows; None for all."""
        if self.each is None:
            return None
        steps = max(self.rows // (self.each * self.chunks), 1)
        epoch, place = divmod(iteration, steps)
        order = np.random.default_rng([self.seed, epoch, chunk]).permutation(size)
        return np.asarray(order[place * self.each : (place + 1) * self.each])

    @property
    def size(self) -> int:
        return self.rows if self.each is None else self.each * self.chunks


class TorchProgram(ChunkProgram):
    """For a chunk the gradient of its loss, and the loss itself, in one flat array."""

    def __init__(self, code: Code, training: Training, memory: float) -> None:
        super().__init__(
            code, work=float(training.batches.rows), iterations=training.iterations, name=training.name,
            chunks=grouped(training.chunks, code.chunks), step=_step, share=lambda state: flat(state.model),
        )  # fmt: skip
        self._model = copy.deepcopy(training.start.model).cpu()
        self._loss, self._batches, self._loaded = training.loss, training.batches, LoadedChunks(memory)

    def begin(self, state: AnyArray, iteration: int) -> None:
        super().begin(None, iteration)
        put(self._model, state)

    def result(self, chunk: int, token: Token) -> AnyArray:
        """One backward pass over the losses of the user's chunks in a chunk of the code."""
        self._model.zero_grad(set_to_none=True)
        total: Any = 0.0
        for place, data in self.chunk(chunk):
            token.check()
            try:
                x, y = self._samples(place, data)
                torch.manual_seed(hash((self._batches.seed, self._iteration, place)) % 2**63)  # for dropout
                total = total + self._loss(self._model(x), y) * (len(x) / self._batches.size)
            except Exception as error:
                error.add_note(f"chunk {chunk}")
                raise
        total.backward()
        gradient = [
            torch.zeros(p.numel(), dtype=p.dtype) if p.grad is None else p.grad.reshape(-1)
            for p in self._model.parameters()
            if p.requires_grad
        ]
        return np.asarray(torch.cat([*gradient, total.detach().reshape(1).to(gradient[0].dtype)]).numpy())

    def _samples(self, place: int, data: Any) -> tuple[Any, Any]:
        x, y = self._loaded.get(place, data)
        rows = self._batches.of(place, len(x), self._iteration)
        x, y = (torch.as_tensor(np.array(v)) if isinstance(v, np.ndarray) else v for v in (x, y))
        return (x, y) if rows is None else (x[rows], y[rows])


class Training:
    """Training as a job. Its states are `Trained`; the last one has the model.

    loss(output, target): the mean over its samples, as PyTorch's losses give. dataset: a pair of tensors, or any
    map-style dataset of (x, y); samples of the latter are read by the workers. optimizer: a torch optimizer of the
    model's parameters; it is copied, so that a Training can be run again. batch: rows of a mini-batch, the same number
    from every chunk; None takes all rows in every step. Dropout draws the same whatever the split and the code. Batch
    normalisation is refused: its statistics would be those of a chunk.
    """

    def __init__(
        self, model: nn.Module, loss: Loss, dataset: Dataset[Any] | tuple[torch.Tensor, torch.Tensor],
        optimizer: torch.optim.Optimizer, *,
        iterations: int, chunks: int = 20, batch: int | None = None, seed: int = 0, name: str = "",
    ) -> None:  # fmt: skip
        whole("iterations", iterations, "give the number of steps")
        _check_model(model, optimizer)
        if isinstance(dataset, tuple) and len(set(lengths := [len(tensor) for tensor in dataset])) > 1:
            raise BadInput("dataset", lengths, "of different lengths", "give a y for each x")
        rows = len(dataset[0]) if isinstance(dataset, tuple) else len(dataset)  # type: ignore[arg-type]
        count = min(whole("chunks", chunks, "give into how many pieces the samples are cut"), rows)
        if batch is not None and (whole("batch", batch, "give the rows of a mini-batch") > rows or batch % count):
            problem = f"no multiple of the {count} chunks, up to the {rows} rows"
            remedy = "every chunk gives the same number of rows: take a multiple of chunks"
            raise BadInput("batch", batch, problem, remedy)
        self.name, self.iterations, self.loss = name, iterations, loss
        self.start = Trained(model, optimizer)
        self.batches = Batches(rows, count, None if batch is None else batch // count, seed)
        ends = [rows * i // count for i in range(count + 1)]
        data = TensorDataset(*dataset) if isinstance(dataset, tuple) else dataset
        self.chunks = [(n, _chunk(data, first, last)) for n, (first, last) in enumerate(pairwise(ends))]

    def program(self, code: Code | None, memory: float) -> Program:
        """The job under a gradient code of as many chunks as there are, or fewer."""
        return TorchProgram(code_of_sum(code, len(self.chunks)), self, memory)


def _chunk(dataset: Dataset[Any], first: int, last: int) -> Any:
    """Tensors travel; samples of other datasets are read where they are needed."""
    if isinstance(dataset, TensorDataset):
        x, y = (tensor[first:last].cpu().numpy() for tensor in dataset.tensors)
        return x, y
    return Samples(dataset, range(first, last))


def _step(state: Trained, total: AnyArray, iteration: int) -> Trained:
    """The optimizer's step with the gradient of the whole batch; the first one is made on a copy."""
    loss = float(total[-1])
    if not np.isfinite(loss):
        raise FloatingPointError("the loss is not finite: take a smaller learning rate")
    model, optimizer = state.model, state.optimizer
    if not state.losses:
        model, optimizer = copy.deepcopy((model, optimizer))
    trained = [p for p in model.parameters() if p.requires_grad]
    for p, gradient in zip(trained, _cut_for(trained, total), strict=True):
        p.grad = gradient.to(p.dtype).to(p.device)
    optimizer.step()
    return Trained(model, optimizer, (*state.losses, loss))


def flat(model: nn.Module) -> AnyArray:
    """All parameters in one buffer."""
    return np.asarray(torch.cat([p.detach().reshape(-1).cpu() for p in model.parameters()]).numpy())


def put(model: nn.Module, buffer: AnyArray) -> None:
    """The buffer into the parameters."""
    parameters = list(model.parameters())
    with torch.no_grad():
        for p, values in zip(parameters, _cut_for(parameters, buffer), strict=True):
            p.copy_(values)


def _cut_for(parameters: Sequence[nn.Parameter], buffer: AnyArray) -> Iterator[torch.Tensor]:
    """The buffer cut into tensors of the parameters' shapes, one after the other."""
    place = 0
    for p in parameters:
        yield torch.as_tensor(np.array(buffer[place : place + p.numel()])).reshape(p.shape)
        place += p.numel()


def _check_model(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    for name, module in model.named_modules():
        if isinstance(module, STATISTICS) and module.training:
            problem = "batch normalisation takes its statistics over a batch, and workers see only chunks of it"
            raise BadInput("model", name or type(module).__name__, problem, "use GroupNorm or LayerNorm, or .eval() it")
    mine = {id(p) for p in model.parameters() if p.requires_grad}
    if not mine:
        raise BadInput("model", type(model).__name__, "has nothing to train", "give a module with parameters")
    kinds = {p.dtype for p in model.parameters()}
    if len(kinds) > 1:
        raise BadInput("model", sorted(map(str, kinds)), "has parameters of several types", "use one, such as float32")
    if {id(p) for group in optimizer.param_groups for p in group["params"]} - mine:
        raise BadInput("optimizer", type(optimizer).__name__, "of other parameters", "make it of model.parameters()")


__all__ = ["Trained", "Training", "flat", "in_series"]
