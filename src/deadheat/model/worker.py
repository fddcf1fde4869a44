"""A worker: how long a unit of work takes it, and what an iteration costs it besides."""

import math
from dataclasses import dataclass
from typing import Any, Self

from deadheat.errors import BadInput, check_field, finite
from deadheat.model.laws import Law, as_law, fit
from deadheat.model.quantity import name, quantity

MOST_SPREAD = 1e6  # of std/mean: beyond it moments say nothing of the law any more


@dataclass(frozen=True)
class Worker:
    """A worker: the mean and the standard deviation of its seconds per unit of work (U_p), its comm and its law.

    comm: seconds lost per iteration to communication, whatever the load (c_p).
    law: a family's name ("gamma", "lognormal", ...), a law of `deadheat.laws` or a frozen scipy distribution; the
    latter two must have the mean and std given: `Worker.of(law)` reads them off.
    capacity: the most units of work that the worker can hold in one iteration, for instance for its memory.
    """

    mean: float
    std: float
    comm: float = 0.0
    name: str = ""
    law: Any = "gamma"
    capacity: float = math.inf

    def __post_init__(self) -> None:
        check_field(self, quantity, "mean", "give seconds per unit of work, above 0", above=0.0)
        check_field(self, quantity, "std", "give seconds per unit of work, 0 for tasks of equal length", least=0.0)
        check_field(self, quantity, "comm", "give seconds per iteration, 0 for none", least=0.0)
        check_field(self, name, "name", 'write it in quotes, such as "w1"')
        if self.std > MOST_SPREAD * self.mean:
            remedy = f"keep std/mean below {MOST_SPREAD:g}"
            raise BadInput("std", self.std, f"more than {MOST_SPREAD:g} times the mean {self.mean:g}", remedy)
        if self.capacity != math.inf:
            check_field(self, finite, "capacity", "give the units of work it can hold, or leave it out", least=0.0)
        law = self.unit_law()
        if isinstance(self.law, str):
            return
        object.__setattr__(self, "law", law)
        for field, own, said in (("mean", law.mean(), self.mean), ("std", law.std(), self.std)):
            if abs(own - said) > 1e-6 * self.mean:
                raise BadInput(field, said, f"the law given has {own:.8g}", "use Worker.of(law), which reads it off")

    @classmethod
    def of(cls, law: Any, comm: float = 0.0, name: str = "", capacity: float = math.inf) -> Self:
        """A worker whose mean and std are those of a law (ours or a frozen scipy distribution)."""
        own = as_law(law)
        return cls(own.mean(), own.std(), comm, name=name, law=own, capacity=capacity)

    def unit_law(self) -> Law:
        return self.task_law(1.0)

    def task_law(self, work: float) -> Law:
        """The law of the time of a task of `work` units: P[T <= t] = P[U <= t/C] (Assumption 1)."""
        return task_law(self.law, self.mean, self.std, work)


def task_law(law: Any, mean: float, std: float, work: float) -> Law:
    """The law of a task of `work` units, where one unit has that law, mean and std."""
    if isinstance(law, str):
        return fit(law, mean * work, std * work)
    own = as_law(law)
    return own if work == 1.0 else own.scaled(work)
