"""A stream of jobs: when they arrive and how many iterations each takes."""

from dataclasses import dataclass
from typing import Self

from deadheat.errors import check_field
from deadheat.model.quantity import count, quantity


@dataclass(frozen=True)
class Stream:
    """Jobs, and the seconds between their arrivals: a gamma law where one is needed, so Poisson when std = mean."""

    interarrival_mean: float
    interarrival_std: float
    iterations: int

    def __post_init__(self) -> None:
        check_field(self, quantity, "interarrival_mean", "give seconds between arrivals, above 0", above=0.0)
        check_field(self, quantity, "interarrival_std", "give seconds between arrivals, 0 for a steady beat", least=0.0)
        check_field(self, count, "iterations", "give the iterations of one job")

    @classmethod
    def poisson(cls, rate: float, iterations: int) -> Self:
        mean = 1 / quantity("rate", rate, "give jobs per second, above 0", above=0.0)
        return cls(mean, mean, iterations)

    @property
    def rate(self) -> float:
        """Jobs per second (lambda)."""
        return 1 / self.interarrival_mean

    @property
    def is_poisson(self) -> bool:
        return self.interarrival_std == self.interarrival_mean
