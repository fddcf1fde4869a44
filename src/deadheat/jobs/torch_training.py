"""Training of PyTorch models over workers: `dh.torch.Training`. Needs the extra `torch`.

Workers hold the model's structure and chunks of the data; its parameters travel as one flat buffer. A task is one
backward pass over the weighted losses of its chunks: the gradient is linear, so that a coded mixture costs one pass.
The optimizer stays at the master and sees the gradient of the whole batch, whatever the split: the weights are those of
one process alone, to the precision of the numbers.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset, TensorDataset, default_collate

from deadheat.coding import Code, codes
from deadheat.errors import BadInput, whole
from deadheat.model import AnyArray
from deadheat.runtime.job import Prepared
from deadheat.runtime.work import Loaded, Mixture, Token

Loss = Callable[[Any, Any], torch.Tensor]
STATISTICS = (nn.modules.batchnorm._BatchNorm,)


class Seen(NamedTuple):
    """What workers see: the parameters in one buffer, and the number of the iteration."""

    flat: AnyArray
    iteration: int


class Trained:
    """A model with its optimizer after some iterations; `losses` is the loss of each batch before its step."""

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer, losses: tuple[float, ...] = ()) -> None:
        self.model, self.optimizer, self.losses = model, optimizer, losses

    @property
    def iteration(self) -> int:
        """How many steps were made."""
        return len(self.losses)


class Samples:
    """Some samples of a dataset, read by the worker that needs them."""

    def __init__(self, dataset: Dataset[Any], indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def load(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Read and stack them."""
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
        """Rows of one batch."""
        return self.rows if self.each is None else self.each * self.chunks


class TorchWork(Mixture):
    """The work: for a task the gradient of its chunks' weighted losses, and the loss itself, in one flat array."""

    def __init__(
        self, code: Code, chunks: Sequence[Any], model: nn.Module, loss: Loss, batches: Batches, memory: float
    ) -> None:
        super().__init__(code, chunks)
        self._reuse = code.cost.shared_chunks > 0
        self._model, self._loss, self._batches, self._loaded = model, loss, batches, Loaded(memory)
        self._iteration = 0

    def begin(self, state: Seen) -> None:
        """Take the parameters."""
        put(self._model, state.flat)
        self._iteration, self._known = state.iteration, {}

    def run(self, task: int, token: Token) -> AnyArray:
        """One backward pass; or, where neighbouring tasks share chunks, one for each chunk that is new."""
        chunks, weights = self._tasks[task]
        numbers, parts = chunks.tolist(), weights[:, 0].tolist()
        whole = np.iscomplexobj(weights)  # a backward pass has real weights only
        if not self._reuse and not whole:
            return self._backward(numbers, parts, token)
        for number in numbers:
            if number not in self._known:
                self._known[number] = self._backward([number], [1.0], token)
        kind = np.result_type(self._known[numbers[0]].dtype, np.complex64 if whole else np.float32)
        return np.asarray(sum(part * self._known[n] for n, part in zip(numbers, parts, strict=True)), kind)

    def _backward(self, numbers: Sequence[int], parts: Sequence[float], token: Token) -> AnyArray:
        self._model.zero_grad(set_to_none=True)
        total: Any = 0.0
        for number, part in zip(numbers, parts, strict=True):
            for piece, data in self.piece(number):
                token.check()
                try:
                    x, y = self._samples(piece, data)
                    torch.manual_seed(hash((self._batches.seed, self._iteration, piece)) % 2**63)  # for dropout
                    total = total + part * self._loss(self._model(x), y) * (len(x) / self._batches.size)
                except Exception as error:
                    error.add_note(f"chunk {number}")
                    raise
        total.backward()
        gradient = [
            torch.zeros(p.numel(), dtype=p.dtype) if p.grad is None else p.grad.reshape(-1)
            for p in self._model.parameters()
            if p.requires_grad
        ]
        return np.asarray(torch.cat([*gradient, total.detach().reshape(1).to(gradient[0].dtype)]).numpy())

    def _samples(self, piece: int, data: Any) -> tuple[Any, Any]:
        x, y = self._loaded.get(piece, data)
        rows = self._batches.of(piece, len(x), self._iteration)
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
        self,
        model: nn.Module,
        loss: Loss,
        dataset: Dataset[Any] | tuple[torch.Tensor, torch.Tensor],
        optimizer: torch.optim.Optimizer,
        *,
        iterations: int,
        chunks: int = 20,
        batch: int | None = None,
        seed: int = 0,
        name: str = "",
    ) -> None:
        whole("iterations", iterations, "give the number of steps")
        _refuse_statistics(model)
        _same_parameters(model, optimizer)
        if isinstance(dataset, tuple) and len({len(tensor) for tensor in dataset}) > 1:
            raise BadInput(
                "dataset", [len(tensor) for tensor in dataset], "of different lengths", "give a y for each x"
            )
        rows = len(dataset[0]) if isinstance(dataset, tuple) else len(dataset)  # type: ignore[arg-type]
        count = min(whole("chunks", chunks, "give into how many pieces the samples are cut"), rows)
        if batch is not None and (whole("batch", batch, "give the rows of a mini-batch") > rows or batch % count):
            problem = f"no multiple of the {count} chunks, up to the {rows} rows"
            raise BadInput(
                "batch", batch, problem, "every chunk gives the same number of rows: take a multiple of chunks"
            )
        self.name, self.iterations = name, iterations
        self.start = Trained(model, optimizer)
        self._loss, self._rows = loss, rows
        self._dataset = TensorDataset(*dataset) if isinstance(dataset, tuple) else dataset
        self._count = count
        self._batches = Batches(rows, count, None if batch is None else batch // count, seed)

    def prepare(self, code: Code | None, memory: float) -> Prepared:
        """The job under a gradient code of as many chunks as there are, or fewer."""
        code = code or codes.uncoded(self._count)
        if code.kind != "gradient" or getattr(code, "parts", 1) != 1:
            raise BadInput(
                "code", code.family, "not for sums over whole chunks", "take a gradient code, such as cyclic"
            )
        if code.chunks > self._count:
            remedy = f"give chunks={code.chunks}, or take a smaller code"
            raise BadInput("chunks", self._count, f"{code.family} needs {code.chunks}", remedy)
        ends = [self._rows * i // self._count for i in range(self._count + 1)]
        pieces = [(n, self._chunk(first, last)) for n, (first, last) in enumerate(pairwise(ends))]
        chunks = [[pieces[i] for i in group] for group in np.array_split(np.arange(self._count), code.chunks)]
        bare = copy.deepcopy(self.start.model).cpu()
        work = TorchWork(code, chunks, bare, self._loss, self._batches, memory)
        return Prepared(code, work, float(self._rows), _step, _seen)

    def _chunk(self, first: int, last: int) -> Any:
        """Tensors travel; samples of other datasets are read where they are needed."""
        if isinstance(self._dataset, TensorDataset):
            x, y = (tensor[first:last].cpu().numpy() for tensor in self._dataset.tensors)
            return x, y
        return Samples(self._dataset, range(first, last))


def _seen(state: Trained) -> Seen:
    return Seen(flat(state.model), state.iteration)


def _step(state: Trained, total: AnyArray, iteration: int) -> Trained:
    """The optimizer's step with the gradient of the whole batch; the first one is made on a copy."""
    loss = float(total[-1])
    if not np.isfinite(loss):
        raise FloatingPointError("the loss is not finite: take a smaller learning rate")
    if not state.losses:
        model, optimizer = copy.deepcopy((state.model, state.optimizer))
    else:
        model, optimizer = state.model, state.optimizer
    place = 0
    for p in model.parameters():
        if p.requires_grad:
            p.grad = (
                torch.as_tensor(np.array(total[place : place + p.numel()])).to(p.dtype).reshape(p.shape).to(p.device)
            )
            place += p.numel()
    optimizer.step()
    return Trained(model, optimizer, (*state.losses, loss))


def flat(model: nn.Module) -> AnyArray:
    """All parameters in one buffer."""
    every = [p.detach().reshape(-1).cpu() for p in model.parameters()]
    return np.asarray(torch.cat(every).numpy())


def put(model: nn.Module, buffer: AnyArray) -> None:
    """The buffer into the parameters."""
    place = 0
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.as_tensor(np.array(buffer[place : place + p.numel()])).reshape(p.shape))
            place += p.numel()


def _refuse_statistics(model: nn.Module) -> None:
    for name, module in model.named_modules():
        if isinstance(module, STATISTICS) and module.training:
            problem = "batch normalisation takes its statistics over a batch, and workers see only chunks of it"
            raise BadInput("model", name or type(module).__name__, problem, "use GroupNorm or LayerNorm, or .eval() it")


def _same_parameters(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    mine = {id(p) for p in model.parameters() if p.requires_grad}
    if not mine:
        raise BadInput("model", type(model).__name__, "has nothing to train", "give a module with parameters")
    kinds = {p.dtype for p in model.parameters()}
    if len(kinds) > 1:
        raise BadInput("model", sorted(map(str, kinds)), "has parameters of several types", "use one, such as float32")
    if {id(p) for group in optimizer.param_groups for p in group["params"]} - mine:
        raise BadInput("optimizer", type(optimizer).__name__, "of other parameters", "make it of model.parameters()")


def in_series(training: Training) -> Trained:
    """What one process makes of it, batch after batch."""
    made = training.prepare(None, float("inf"))
    work: Any = made.work
    state = training.start
    for iteration in range(training.iterations):
        work.begin(_seen(state))
        total = sum(np.asarray(work.run(task, Token(lambda: False))) for task in range(made.code.total))
        state = made.step(state, np.asarray(total), iteration)
    return state


__all__ = ["Trained", "Training", "flat", "in_series"]
