"""Independent replications of one simulation, until the mean is known well enough."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

from deadheat.errors import BadInput, finite, whole
from deadheat.model import Array, Interval, Trace, interval
from deadheat.simulation.effort import MOST_RUNS
from deadheat.simulation.seeds import root

FEWEST = 10  # replications before an interval is trusted to stop
MOST = 10_000  # replications that may be asked for: the interval is a hundredth of the spread of one run then
Progress = Callable[[int, float], None]  # replications so far, and their precision


@dataclass(frozen=True, eq=False)
class Replications:
    """Mean delays and services of replications; quantiles of a run's delays, averaged over the replications."""

    delay: Interval
    service: Interval
    p50: float
    p95: float
    p99: float
    delays: Array  # the mean of each replication
    replications: int
    jobs: int
    seed: int


def seeds(seed: int | None) -> tuple[int, Iterator[int]]:
    """The seed that was taken, and one seed per replication that follows from it: common to all that is compared."""
    start = root(seed)
    taken = int(np.asarray(start.entropy).ravel()[0]) if seed is None else seed
    sequences = (np.random.SeedSequence(taken, spawn_key=(number,)) for number in count())
    return taken, (int(sequence.generate_state(1, np.uint64)[0]) for sequence in sequences)


def replicate(
    run: Callable[[int], Trace], seed: int | None = None, replications: int | None = None, precision: float = 0.01,
    most: int = MOST_RUNS, progress: Progress | None = None,
) -> Replications:  # fmt: skip
    """Run with seed after seed: so many times, or until the interval of the mean delay is within `precision` of it."""
    if replications is not None:
        replications = whole("replications", replications, "give the number of independent runs")
        if replications > MOST:
            raise BadInput("replications", replications, f"more than {MOST}", "ask for a precision instead")
    finite("precision", precision, "give a part of the mean, such as 0.01", above=0.0)
    taken, stream = seeds(seed)
    delays, services, quantiles, jobs = [], [], [], 0
    for number, one_seed in enumerate(stream, 1):
        trace = run(one_seed)
        jobs = len(trace)
        delays.append(float(trace.delay.mean()))
        services.append(float(trace.service.mean()))
        quantiles.append(np.quantile(trace.delay, [0.5, 0.95, 0.99]))
        reached = interval(delays).precision
        if progress is not None:
            progress(number, reached)
        enough = number >= most or (number >= FEWEST and reached <= precision)
        if number == replications or (replications is None and enough):
            break
    p50, p95, p99 = (float(q) for q in np.mean(quantiles, axis=0))
    return Replications(
        interval(delays), interval(services), p50=p50, p95=p95, p99=p99, delays=np.array(delays), replications=number,
        jobs=jobs, seed=taken,
    )  # fmt: skip
