"""A workload: what one plain iteration is, before any code; and what a search for the best code may try."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from deadheat.errors import BadInput, check_field, finite, nearest, whole
from deadheat.model.quantity import quantity

WORKLOADS = ("gradient", "linear", "product")


@dataclass(frozen=True)
class Workload:
    """One plain iteration: "gradient" (a sum over samples), "linear" (matrix times vector) or "product" (of matrices).

    work: W, its units of work. result, state, data: how many numbers are in its result, in the state that goes to
    every worker, and in the data that a code mixes beforehand; 0 where their cost does not matter.
    per_result: seconds that each result costs its worker, whatever its size. bandwidth: numbers per second of a link.
    speed: multiply-adds per second, of the master (encoding, decoding) and of a worker that mixes results.
    update: seconds per iteration at the master for the step itself.
    """

    kind: str
    work: float
    result: float = 0.0
    state: float = 0.0
    data: float = 0.0
    per_result: float = 0.0
    bandwidth: float = math.inf
    speed: float = 1e9
    update: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or self.kind not in WORKLOADS:
            raise BadInput("kind", self.kind, "no such kind of work", nearest(str(self.kind), WORKLOADS))
        check_field(self, quantity, "work", "give units of work per iteration (W)", above=0.0)
        for name in ("result", "state", "data"):
            check_field(self, quantity, name, "give how many numbers it has, 0 for none", least=0.0)
        for name in ("per_result", "update"):
            check_field(self, quantity, name, "give seconds, 0 for none", least=0.0)
        for name in ("bandwidth", "speed"):
            if getattr(self, name) != math.inf:
                check_field(self, quantity, name, "give numbers per second, above 0", above=0.0)


@dataclass(frozen=True)
class Search:
    """What a tuner tries: families of codes (None: its choice), K, Omega (tasks are rounded), policies, schedules."""

    families: tuple[str, ...] | None = None
    critical: tuple[int, ...] = (10, 20, 50, 100, 200)
    redundancy: tuple[float, ...] = (1.0, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0)
    policies: tuple[str, ...] = ("optimal", "fastest")
    schedules: tuple[str, ...] = ("static",)

    def __post_init__(self) -> None:
        for name in ("families", "critical", "redundancy", "policies", "schedules"):
            values = getattr(self, name)
            if values is None and name == "families":
                continue
            if isinstance(values, str) or not isinstance(values, Sequence):
                raise BadInput(name, values, "not a list", "write it in brackets, such as [50, 100]")
            if not values:
                raise BadInput(name, values, "an empty list", "give at least one, or leave it out")
            object.__setattr__(self, name, tuple(values))
        remedy = "give tasks per critical task (Omega), from 1 on"
        criticals = (whole(f"critical[{i}]", k, "give numbers of results (K)") for i, k in enumerate(self.critical))
        omegas = (finite(f"redundancy[{i}]", o, remedy, least=1.0) for i, o in enumerate(self.redundancy))
        object.__setattr__(self, "critical", tuple(criticals))
        object.__setattr__(self, "redundancy", tuple(omegas))
