"""A job that was submitted and is not delivered: its program, where it stands, and whose results it has used."""

import math
from dataclasses import dataclass, field
from typing import Any

from deadheat.runtime.checkpoint import Saved
from deadheat.runtime.job import Converged, private_copy
from deadheat.runtime.result_checks import ResultChecks
from deadheat.scheduling import Program, Ticket


@dataclass(eq=False)
class ActiveJob:
    """A job that was submitted and is not delivered.

    start, first: the state and the iteration with which it began here. iteration: how many are done. chunks: their
    numbers. checks: of its results; unchecked: workers of whose results some were used that nobody checked.
    """

    program: Program
    start: Any
    first: int
    arrived: float
    chunks: tuple[int, ...]
    checks: ResultChecks | None = None
    fingerprint: str = ""
    state: Any = None
    iteration: int = 0
    started: float = math.nan
    over: bool = False
    converged: bool = False
    ended: str = ""
    shared: tuple[Ticket, Any] | None = None  # what workers see of the state, and in which iteration
    unchecked: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Begin, or begin anew. The step gets a copy of the start, which it may change in place."""
        self.state, self.iteration, self.unchecked = private_copy(self.start), self.first, set()

    def step(self, state: Any) -> None:
        """Go on to what the job's step gave."""
        self.converged = isinstance(state, Converged)
        self.state, self.iteration = state.state if isinstance(state, Converged) else state, self.iteration + 1
        self.over = self.converged or self.iteration >= self.program.iterations
        if isinstance(state, Converged):
            self.ended = f"converged after {self.iteration} iterations" + (f": {state.why}" if state.why else "")
        elif self.over:
            self.ended = f"all {self.iteration} iterations were done"

    def saved(self) -> Saved:
        """Where it stands, for its checkpoint."""
        return Saved(
            fingerprint=self.fingerprint, name=self.program.name, iteration=self.iteration, state=self.state,
            over=self.over, converged=self.converged, ended=self.ended,
        )  # fmt: skip
