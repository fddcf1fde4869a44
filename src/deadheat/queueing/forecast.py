"""What to expect of a split: iteration, service and delay, and whether the queue is stable."""

import math
from dataclasses import dataclass

from deadheat.errors import BadInput
from deadheat.model import NONE, Cluster, Overhead, Split, Stream, Switching, checked
from deadheat.queueing.average_delay import Draw, draw
from deadheat.queueing.iteration_law import IterationLaw
from deadheat.queueing.waiting import mean_delay, service_moments


@dataclass(frozen=True)
class Forecast:
    """Seconds to expect, per iteration and per job.

    delay: mean time from arrival to delivery in the steady state, infinite where the queue is unstable (`mean_delay`).
    law: the law of an iteration's time at the workers, for quantiles; iteration_mean adds the master's overhead.
    """

    iteration_mean: float
    iteration_std: float
    service_mean: float
    service_std: float
    utilisation: float
    delay: float
    stream: Stream
    law: IterationLaw

    @property
    def stable(self) -> bool:
        """Whether jobs are served faster than they arrive: E[T_s] < E[T_a]."""
        return self.utilisation < 1

    @property
    def headroom(self) -> float:
        return 1 - self.utilisation

    @property
    def most_rate(self) -> float:
        return 1 / self.service_mean  # jobs per second, where the queue ceases to be stable

    def draw(self, jobs: int) -> Draw:
        """The average delay that one run of `jobs` jobs will show, from an empty start; finite even if unstable."""
        return draw(self.stream, self.service_mean, self.service_std, jobs)


@checked
def forecast(
    cluster: Cluster, split: Split, stream: Stream, purge: bool = True, overhead: Overhead = NONE,
    condition: Switching | None = None,
) -> Forecast:  # fmt: skip
    """Forecast the jobs of a stream under a split.

    purge: the K-th result ends an iteration and the rest is dropped; False waits for all K*Omega (the paper's
    analysis, an upper bound). overhead: what every iteration costs at the master besides.
    condition: workers that are slow for whole iterations, independently from one to the next (leave = 1 - enter).
    """
    if not isinstance(purge, bool):
        raise BadInput("purge", purge, "theory knows purging at once or not at all", "give True or False, or simulate")
    split.must_fit(len(cluster))
    law = IterationLaw(cluster.tasks(split.spec), split.loads, split.spec.critical, purge, condition)
    return of_law(law, stream, overhead)


def of_law(law: IterationLaw, stream: Stream, overhead: Overhead = NONE) -> Forecast:
    """The forecast for iterations of a law."""
    iteration = law.mean + overhead.total
    mean, std = service_moments(stream.iterations, iteration, law.std)
    utilisation = mean / stream.interarrival_mean
    return Forecast(
        iteration_mean=iteration, iteration_std=law.std, service_mean=mean, service_std=std, utilisation=utilisation,
        delay=mean_delay(stream, mean, std) if utilisation < 1 else math.inf, stream=stream, law=law,
    )  # fmt: skip
