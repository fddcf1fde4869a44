"""A job: chunks of data, what to compute on each, and how the state goes on from the sum."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from deadheat.errors import BadInput, whole


@dataclass(frozen=True, eq=False)
class Job:
    """An iterative job whose iteration is a sum over chunks.

    chunks: the data, in pieces that workers can hold. compute(state, chunk) -> array: the part of one chunk; where it
    takes a third argument, that is a token with `.purged` and `.check()`. start: the first state.
    step(state, total, iteration) -> the next state, or `Converged(state)` to end early. iterations: at most.
    """

    chunks: Sequence[Any]
    compute: Callable[..., Any]
    start: Any
    step: Callable[[Any, Any, int], Any]
    iterations: int
    name: str = ""

    def __post_init__(self) -> None:
        whole("iterations", self.iterations, "give how often to iterate")
        if len(self.chunks) == 0:
            raise BadInput("chunks", self.chunks, "no data", "give at least one chunk")
        for field in ("compute", "step"):
            if not callable(getattr(self, field)):
                raise BadInput(field, getattr(self, field), "not a function", f"give {field}(state, ...)")

    @property
    def wants_token(self) -> bool:
        """Whether compute takes a token."""
        try:
            return len(inspect.signature(self.compute).parameters) >= 3
        except (TypeError, ValueError):
            return False
