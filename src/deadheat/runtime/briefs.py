"""What the master must know of a job: its code, the size of its tasks, how to split them and how often."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from deadheat.coding import Code
from deadheat.model import Cluster, CodeSpec, Split
from deadheat.planning import split
from deadheat.runtime.schedules import Schedule, Static

Policy = Callable[[Cluster, CodeSpec, float], Split]
STATIC = Static()


@dataclass(frozen=True, eq=False)
class Brief:
    """A job as the master sees it.

    spec: how many tasks are given out at the start (at most the code's), and the units of work of one.
    adapt: split anew when the estimates have moved; else what was declared of the workers decides.
    """

    code: Code
    spec: CodeSpec
    iterations: int
    policy: Policy = split
    gamma: float = 1.0
    schedule: Schedule = STATIC
    adapt: bool = True
