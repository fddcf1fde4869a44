"""A stream of jobs: when they arrive and how many iterations each takes."""

from dataclasses import dataclass
from typing import Self

from deadheat.errors import finite, whole


@dataclass(frozen=True)
class Stream:
    """Jobs with a mean and standard deviation of the seconds between arrivals, and iterations per job.

    Where a law is needed the time between arrivals is a gamma: a Poisson stream when std = mean.
    """

    interarrival_mean: float
    interarrival_std: float
    iterations: int

    def __post_init__(self) -> None:
        remedy = "give seconds between arrivals"
        mean = finite("interarrival_mean", self.interarrival_mean, f"{remedy}, above 0", above=0.0)
        std = finite("interarrival_std", self.interarrival_std, f"{remedy}, 0 for a steady beat", least=0.0)
        iterations = whole("iterations", self.iterations, "give the iterations of one job")
        for name, value in (("interarrival_mean", mean), ("interarrival_std", std), ("iterations", iterations)):
            object.__setattr__(self, name, value)

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
