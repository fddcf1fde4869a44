"""Workers measured in tasks of one code, where a `Cluster` is measured in units of work."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from deadheat.errors import BadInput
from deadheat.model.arrays import Array
from deadheat.model.code_spec import CodeSpec
from deadheat.model.laws import Law

if TYPE_CHECKING:  # Cluster.tasks makes these
    from deadheat.model.cluster import Cluster


class Tasks:
    """The workers of a cluster with tasks of one code; the arrays are read-only and have one entry per worker.

    mean, std: of the seconds that the work of one task takes. comm: seconds per iteration (c_p).
    capacity: the most tasks' worth of work that a worker holds. shared_chunks, seconds_per_task: see CodeSpec.
    """

    def __init__(self, cluster: Cluster, spec: CodeSpec) -> None:
        """P[T <= t] = P[U <= t/C] (Assumption 1)."""
        with np.errstate(over="ignore", under="ignore"):
            self.mean, self.std = cluster.mean * spec.work, cluster.std * spec.work
        if not (np.isfinite(self.mean) & np.isfinite(self.std) & (self.mean > 0)).all():
            remedy = "choose another unit of work"
            raise BadInput("work", spec.work, "task times leave the range of floating point", remedy)
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

    @cached_property
    def laws(self) -> list[Law]:
        """The law of the work of one task of each worker."""
        return [worker.task_law(self._work) for worker in self._cluster]

    @property
    def pace(self) -> Array:
        """Seconds from one result of a worker to its next, on average."""
        return self.mean + self.seconds_per_task

    @property
    def ready(self) -> Array:
        """Seconds until a worker begins with its first result, on average: c_p and the shared chunks."""
        return self.comm + self.shared_chunks * self.mean


def require_tasks(tasks: object) -> None:
    """Refuse a Cluster where tasks are meant: its seconds per unit of work would pass for seconds per task."""
    if not isinstance(tasks, Tasks):
        raise BadInput("tasks", tasks, "not workers measured in tasks", "give cluster.tasks(spec)")
