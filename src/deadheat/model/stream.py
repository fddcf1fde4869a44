"""A stream of jobs: when they arrive and how many iterations each takes."""

from dataclasses import dataclass
from typing import Self

from deadheat.errors import check_field, finite, whole


@dataclass(frozen=True)
class Stream:
    """Jobs with a mean and standard deviation of the seconds between arrivals, and iterations per job.

    Where a law is needed the time between arrivals is a gamma: a Poisson stream when std = mean.
    """

    interarrival_mean: float
    interarrival_std: float
    iterations: int

    def __post_init__(self) -> None:
        check_field(self, finite, "interarrival_mean", "give seconds between arrivals, above 0", above=0.0)
        check_field(self, finite, "interarrival_std", "give seconds between arrivals, 0 for a steady beat", least=0.0)
        check_field(self, whole, "iterations", "give the iterations of one job")

    @classmethod
    def poisson(cls, rate: float, iterations: int) -> Self:
        """Jobs that arrive at random, `rate` per second on average."""
        mean = 1 / finite("rate", rate, "give jobs per second, above 0", above=0.0)
        return cls(mean, mean, iterations)

    @property
    def rate(self) -> float:
        """Jobs per second (lambda)."""
        return 1 / self.interarrival_mean

    @property
    def is_poisson(self) -> bool:
        return self.interarrival_std == self.interarrival_mean
