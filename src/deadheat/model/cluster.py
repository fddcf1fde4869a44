"""A cluster: workers as columns, so that a million of them cost three arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from deadheat.errors import BadInput
from deadheat.model.arrays import Array
from deadheat.model.code_spec import CodeSpec
from deadheat.model.laws import Law
from deadheat.model.worker import Worker


class Cluster(Sequence[Worker]):
    """A sequence of workers; .mean, .std, .comm and .capacity are read-only arrays, one entry per worker.

    shared_chunks, seconds_per_task: where the unit of work is one task, how many units each worker does before its first result, and the
    seconds that each result costs besides (see CodeSpec).
    """

    mean: Array
    std: Array
    comm: Array
    capacity: Array
    shared_chunks: int = 0
    seconds_per_task: float = 0.0
    _names: tuple[str, ...] | None
    _laws: tuple[Any, ...]  # one for each worker, or a single one for all

    def __init__(self, workers: Iterable[Worker]) -> None:
        members = list(workers)
        for place, member in enumerate(members):
            if not isinstance(member, Worker):
                raise BadInput(f"workers[{place}]", member, "not a Worker", "give Worker(mean, std, comm)")
        self._fill(
            [w.mean for w in members],
            [w.std for w in members],
            [w.comm for w in members],
            [w.capacity for w in members],
            tuple(w.name for w in members),
            tuple(w.law for w in members),
        )

    @classmethod
    def from_columns(
        cls,
        mean: ArrayLike,
        std: ArrayLike,
        comm: ArrayLike = 0.0,
        *,
        capacity: ArrayLike = math.inf,
        names: Sequence[str] | None = None,
        law: str = "gamma",
    ) -> Cluster:
        """A cluster from arrays (scalars are broadcast to the length of mean) of one family of laws."""
        size = np.asarray(mean, float).size
        means, stds, comms, room = (np.broadcast_to(np.asarray(c, float), size) for c in (mean, std, comm, capacity))
        fine = (means > 0) & (stds >= 0) & (comms >= 0) & (room >= 0) & np.isfinite(means + stds + comms)
        for p in np.flatnonzero(~fine)[:1]:  # Worker says what is wrong with it
            Worker(float(means[p]), float(stds[p]), float(comms[p]), capacity=float(room[p]))
        if names is not None and len(names) != size:
            raise BadInput("names", list(names), f"{len(names)} names for {size} workers", "give one each, or none")
        self = cls.__new__(cls)
        self._fill(means, stds, comms, room, None if names is None else tuple(names), (law,))
        spread = stds / means
        for p in (int(spread.argmin()), int(spread.argmax())):
            self[p].unit_law()  # an unknown family, or one that has no such spread, is refused here
        return self

    def _fill(
        self,
        mean: ArrayLike,
        std: ArrayLike,
        comm: ArrayLike,
        capacity: ArrayLike,
        names: tuple[str, ...] | None,
        laws: tuple[Any, ...],
    ) -> None:
        for field, column in (("mean", mean), ("std", std), ("comm", comm), ("capacity", capacity)):
            values = np.array(column, float)
            values.setflags(write=False)
            setattr(self, field, values)
        if not len(self):
            raise BadInput("workers", [], "the cluster is empty", "give at least one worker")
        self._names, self._laws = names, laws
        given = [name for name in names or () if name]
        if len(set(given)) < len(given):
            twice = next(name for name in given if given.count(name) > 1)
            raise BadInput("name", twice, "two workers have it", "give each worker a name of its own")

    def __len__(self) -> int:
        return int(self.mean.size)

    @overload
    def __getitem__(self, place: int) -> Worker: ...
    @overload
    def __getitem__(self, place: slice) -> Cluster: ...
    def __getitem__(self, place: int | slice) -> Worker | Cluster:
        if isinstance(place, slice):
            return Cluster([self[i] for i in range(*place.indices(len(self)))])
        place = range(len(self))[place]
        name = self._names[place] if self._names else ""
        mean, std, comm, capacity = (float(c[place]) for c in (self.mean, self.std, self.comm, self.capacity))
        return Worker(mean, std, comm, name, self._laws[place % len(self._laws)], capacity)

    def __iter__(self) -> Iterator[Worker]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"Cluster of {len(self)} workers, mean {self.mean.min():.4g} to {self.mean.max():.4g} s per unit of work"

    def __add__(self, others: Iterable[Worker]) -> Cluster:
        """This cluster with more workers behind it."""
        return Cluster([*self, *others])

    @property
    def names(self) -> list[str]:
        """The workers' names; w1, w2, ... where none was given (and nobody else has it)."""
        given = self._names or ("",) * len(self)
        taken = set(given)
        return [name or (f"worker {i}" if f"w{i}" in taken else f"w{i}") for i, name in enumerate(given, 1)]

    @cached_property
    def laws(self) -> list[Law]:
        """The law of one unit of work of each worker."""
        return [worker.unit_law() for worker in self]

    def tasks(self, spec: CodeSpec) -> Cluster:
        """The cluster whose unit of work is one task of a code."""
        if not (spec.shared_chunks or spec.seconds_per_task):
            return self.scaled(spec.work)
        scaled = self.scaled(spec.work)
        found = scaled._with(scaled.mean, scaled.std, scaled.capacity, scaled._laws)
        found.shared_chunks, found.seconds_per_task = spec.shared_chunks, spec.seconds_per_task
        return found

    @property
    def pace(self) -> Array:
        """Seconds from one result of a worker to its next, on average."""
        return self.mean + self.seconds_per_task

    @property
    def ready(self) -> Array:
        """Seconds until a worker begins with its first result, on average: its distance, and what leads."""
        return self.comm + self.shared_chunks * self.mean

    def farther(self, seconds: float) -> Cluster:
        """The same workers, each so many seconds per iteration farther away."""
        made = Cluster.__new__(Cluster)
        made._fill(self.mean, self.std, self.comm + seconds, self.capacity, self._names, self._laws)
        return made

    def scaled(self, work: float) -> Cluster:
        """The cluster whose unit is a task of `work` units: P[T <= t] = P[U <= t/C] (Assumption 1)."""
        if work == 1.0:
            return self
        with np.errstate(over="ignore", under="ignore"):
            mean, std = self.mean * work, self.std * work
        if not (np.isfinite(mean) & np.isfinite(std) & (mean > 0)).all():
            raise BadInput("work", work, "task times leave the range of floating point", "choose another unit of work")
        laws = tuple(law if isinstance(law, str) else law.scaled(work) for law in self._laws)
        return self._with(mean, std, self.capacity / work, laws)

    def _with(self, mean: Array, std: Array, capacity: Array, laws: tuple[Any, ...]) -> Cluster:
        """The same workers with other task times."""
        made = Cluster.__new__(Cluster)
        made._fill(mean, std, self.comm, capacity, self._names, laws)
        return made
