"""A cluster: workers as columns, so that a million of them cost a few arrays; and the same in tasks of one code."""

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Self, overload

import numpy as np

from deadheat.errors import BadInput
from deadheat.model.arrays import Array, ArrayLike
from deadheat.model.checked import checked
from deadheat.model.code_spec import CodeSpec
from deadheat.model.laws import Law
from deadheat.model.quantity import LEAST, MOST, name
from deadheat.model.worker import MOST_SPREAD, Worker, task_law


class Cluster(Sequence[Worker]):
    """A sequence of workers; .mean, .std, .comm and .capacity are read-only arrays, one entry per worker."""

    @checked
    def __init__(self, workers: Iterable[Worker]) -> None:
        members = list(workers)
        for place, member in enumerate(members):
            if not isinstance(member, Worker):
                raise BadInput(f"workers[{place}]", member, "not a Worker", "give Worker(mean, std, comm)")
        columns = [[getattr(member, name) for member in members] for name in ("mean", "std", "comm", "capacity")]
        self._fill(columns, tuple(w.name for w in members), tuple(w.law for w in members))

    @classmethod
    def from_columns(
        cls, mean: ArrayLike, std: ArrayLike, comm: ArrayLike = 0.0, *, capacity: ArrayLike = math.inf,
        names: Sequence[str] | None = None, law: str = "gamma",
    ) -> Self:  # fmt: skip
        """A cluster from arrays (scalars are broadcast to the length of mean) of one family of laws."""
        columns = {"mean": mean, "std": std, "comm": comm, "capacity": capacity}
        size = _column("mean", mean, 0).size
        means, stds, comms, room = (_column(field, values, size) for field, values in columns.items())
        times = (
            (means >= LEAST)
            & (means <= MOST)
            & (stds >= 0)
            & (stds <= MOST_SPREAD * means)
            & (comms >= 0)
            & (comms <= MOST)
        )
        for p in np.flatnonzero(~(times & (room >= 0))).tolist():  # Worker says what is wrong with it, if anything is
            Worker(float(means[p]), float(stds[p]), float(comms[p]), capacity=float(room[p]))
        if names is not None:
            if isinstance(names, str) or not isinstance(names, Iterable) or len(list(names)) != size:
                raise BadInput("names", names, f"not {size} names, one for each worker", "give one each, or none")
            names = [name(f"names[{p}]", text, "give a text for each worker") for p, text in enumerate(names)]
        self = cls.__new__(cls)
        self._fill([means, stds, comms, room], None if names is None else tuple(names), (law,))
        spread = stds / means
        for p in (int(spread.argmin()), int(spread.argmax())):
            self[p].unit_law()  # an unknown family, or one that has no such spread, is refused here
        return self

    def _fill(self, columns: Sequence[ArrayLike], names: tuple[str, ...] | None, laws: tuple[Any, ...]) -> None:
        """laws: one for each worker, or a single one for all."""
        self.mean, self.std, self.comm, self.capacity = (np.array(column, float) for column in columns)
        for column in (self.mean, self.std, self.comm, self.capacity):
            column.setflags(write=False)
        if not len(self):
            raise BadInput("workers", [], "the cluster is empty", "give at least one worker")
        self._names, self._laws = names, laws
        named = [name for name in names or () if name]
        if len(set(named)) < len(named):
            twice = next(name for name in named if named.count(name) > 1)
            raise BadInput("name", twice, "two workers have it", "give each worker a name of its own")

    def __len__(self) -> int:
        return int(self.mean.size)

    @overload
    def __getitem__(self, place: int) -> Worker: ...
    @overload
    def __getitem__(self, place: slice) -> "Cluster": ...
    def __getitem__(self, place: int | slice) -> "Worker | Cluster":
        if isinstance(place, slice):
            return Cluster([self[i] for i in range(*place.indices(len(self)))])
        place = range(len(self))[place]
        name = self._names[place] if self._names else ""
        mean, std, comm, capacity = (float(c[place]) for c in (self.mean, self.std, self.comm, self.capacity))
        return Worker(mean, std, comm, name=name, law=self._laws[place % len(self._laws)], capacity=capacity)

    def __repr__(self) -> str:
        return f"Cluster of {len(self)} workers, mean {self.mean.min():.4g} to {self.mean.max():.4g} s per unit of work"

    def __add__(self, others: Iterable[Worker]) -> "Cluster":
        return Cluster([*self, *others])

    @property
    def names(self) -> list[str]:
        """The workers' names; w1, w2, ... for those without one (where nobody else has it)."""
        names = self._names or ("",) * len(self)
        taken = set(names)
        return [name or (f"worker {i}" if f"w{i}" in taken else f"w{i}") for i, name in enumerate(names, 1)]

    @cached_property
    def laws(self) -> list[Law]:
        """The law of one unit of work of each worker."""
        return self.laws_of(1.0, range(len(self)))

    @cached_property
    def law_types(self) -> set[type[Law]]:
        return {type(law) for law in self.laws}

    def laws_of(self, work: float, workers: Iterable[int]) -> list[Law]:
        """The law of a task of that much work, of some workers; equal ones share one."""
        known: dict[Any, Law] = {}
        laws = []
        for p in workers:
            mean, std, law = float(self.mean[p]), float(self.std[p]), self._laws[p % len(self._laws)]
            kind = mean, std, law if isinstance(law, str) else id(law)
            if kind not in known:
                known[kind] = task_law(law, mean, std, work)
            laws.append(known[kind])
        return laws

    def tasks(self, spec: CodeSpec) -> "Tasks":
        return Tasks(self, spec)

    def with_extra_comm(self, seconds: float) -> "Cluster":
        cluster = Cluster.__new__(Cluster)
        cluster._fill([self.mean, self.std, self.comm + seconds, self.capacity], self._names, self._laws)
        return cluster


class Tasks:
    """The workers of a cluster measured in tasks of one code, where `Cluster` measures them in units of work.

    mean, std: of the seconds that the work of one task takes. comm: seconds per iteration (c_p).
    capacity: the most tasks' worth of work that a worker holds. shared_chunks, seconds_per_task: see CodeSpec.
    """

    @checked
    def __init__(self, cluster: Cluster, spec: CodeSpec) -> None:
        with np.errstate(over="ignore", under="ignore"):
            self.mean, self.std = cluster.mean * spec.work, cluster.std * spec.work  # Assumption 1
        if not ((self.mean >= LEAST) & (self.mean <= MOST) & (self.std <= MOST)).all():
            problem = f"task times are not between {LEAST:g} and {MOST:g} s"
            raise BadInput("work", spec.work, problem, "choose another unit of work")
        self.comm, self.capacity = cluster.comm, cluster.capacity / spec.work
        for column in (self.mean, self.std, self.capacity):
            column.setflags(write=False)
        self.shared_chunks, self.seconds_per_task = spec.shared_chunks, spec.seconds_per_task
        self._cluster, self._work = cluster, spec.work

    def __len__(self) -> int:
        return int(self.mean.size)

    @property
    def names(self) -> list[str]:
        return self._cluster.names

    @property
    def law_types(self) -> set[type[Law]]:
        """The families of the workers' laws, which are those of a unit of work."""
        return self._cluster.law_types

    def laws_of(self, workers: Iterable[int]) -> list[Law]:
        """The law of the work of one task, of some workers."""
        return self._cluster.laws_of(self._work, workers)

    @cached_property
    def laws(self) -> list[Law]:
        """The law of the work of one task of each worker."""
        return self.laws_of(range(len(self)))

    @property
    def pace(self) -> Array:
        """Seconds from one result of a worker to its next, on average."""
        return self.mean + self.seconds_per_task

    @property
    def ready(self) -> Array:
        """Seconds until a worker begins with its first result, on average: c_p and the shared chunks."""
        return self.comm + self.shared_chunks * self.mean


def _column(field: str, values: ArrayLike, size: int) -> Array:
    """One number for each worker, or one for all."""
    try:
        column = np.asarray(values, float)
        return np.broadcast_to(column, size) if size else column.ravel()
    except (TypeError, ValueError):
        problem = "not numbers, one for each worker" if size else "not numbers"
        raise BadInput(field, values, problem, "give a list of numbers, or one for all") from None


def require_tasks(tasks: object) -> None:
    """Refuse a Cluster where tasks are meant: its seconds per unit of work would pass for seconds per task."""
    if not isinstance(tasks, Tasks):
        raise BadInput("tasks", tasks, "not workers measured in tasks", "give cluster.tasks(spec)")
