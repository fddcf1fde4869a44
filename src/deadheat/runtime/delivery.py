"""A delivery: a job that is done, or was given up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deadheat.errors import DeadheatError


@dataclass(frozen=True, eq=False)
class Delivery:
    """A job that is done, or was given up (then `error` says why): its last state and its times.

    converged: its step said that it is done; ended: why it ended, in words.
    """

    job: int
    name: str
    state: Any
    iterations: int
    arrived: float
    started: float
    delivered: float
    error: str | None = None
    converged: bool = False
    ended: str = ""

    @property
    def delay(self) -> float:
        return self.delivered - self.arrived

    @property
    def service(self) -> float:
        """Seconds from its first tasks to delivery."""
        return self.delivered - self.started


class JobFailed(DeadheatError):
    """A job that could not be finished; `delivery` has its last state."""

    def __init__(self, delivery: Delivery) -> None:
        super().__init__(f"job {delivery.name or delivery.job}: {delivery.error}")
        self.delivery = delivery
