"""Honest comparisons: every scheme sees the same arrivals and the same luck, and differences come in pairs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deadheat.errors import BadInput, whole
from deadheat.model import NONE, Cluster, Interval, Overhead, Split, Stream, Switching, Trace, checked, interval
from deadheat.queueing import forecast
from deadheat.scheduling import Schedule, Static
from deadheat.simulation.condition import Condition
from deadheat.simulation.effort import most_runs, seconds_of_run
from deadheat.simulation.replicate import Replications, replicate
from deadheat.simulation.simulate import Purge, simulate

STATIC = Static()


@dataclass(frozen=True, eq=False)
class Scheme:
    """What is compared: a split with a schedule and a way to purge, under a name."""

    name: str
    split: Split
    schedule: Schedule = STATIC
    purge: Purge = True


@dataclass(frozen=True, eq=False)
class Comparison:
    """How a scheme did: its delays, its difference to the first in pairs, and the forecast where there is one."""

    scheme: Scheme
    sample: Replications
    difference: Interval
    forecast: float | None


@checked
def compare(
    cluster: Cluster, stream: Stream, schemes: Sequence[Scheme], jobs: int = 1000, *, seed: int | None = None,
    replications: int | None = None, precision: float = 0.01, condition: Condition | None = None,
    overhead: Overhead = NONE, progress: Callable[[Scheme, int, float], None] | None = None,
) -> list[Comparison]:  # fmt: skip
    """Simulate each scheme with the same seeds, all as often as the least certain of them needs for `precision`.

    The difference is to the first scheme, over replications; it is far more certain than the means themselves.
    """
    if not all(isinstance(scheme, Scheme) for scheme in schemes):
        raise BadInput("schemes", schemes, "not a list of schemes", "give Scheme(name, split) and others like it")
    if not schemes:
        raise BadInput("schemes", [], "nothing to compare", "give at least one Scheme")
    jobs = whole("jobs", jobs, "give the number of jobs")
    bounded = {} if replications is not None else {"most": most_runs(
        (seconds_of_run(
            s.split, stream, jobs, s.schedule, condition is not None, followed=s.purge == "between-tasks"
        ) for s in schemes), jobs,
    )}  # fmt: skip

    def sample(scheme: Scheme, times: int | None) -> Replications:
        def run(one_seed: int) -> Trace:
            return simulate(
                cluster, scheme.split, stream, jobs, scheme.purge, one_seed,
                schedule=scheme.schedule, condition=condition, overhead=overhead,
            )  # fmt: skip

        tell = None if progress is None else lambda number, reached: progress(scheme, number, reached)
        return replicate(run, taken, times, precision, progress=tell, **bounded)

    taken = seed
    samples = []
    for scheme in schemes:
        samples.append(sample(scheme, replications))
        taken = samples[0].seed
    most = max(s.replications for s in samples)
    comparisons: list[Comparison] = []
    for scheme, few in zip(schemes, samples, strict=True):
        runs = few if few.replications == most else sample(scheme, most)
        first = comparisons[0].sample if comparisons else runs
        expected = _forecast(cluster, stream, scheme, condition, overhead)
        comparisons.append(Comparison(scheme, runs, interval(runs.delays - first.delays), expected))
    return comparisons


def _forecast(
    cluster: Cluster, stream: Stream, scheme: Scheme, condition: Condition | None, overhead: Overhead
) -> float | None:
    """The exact mean delay, where theory has one: static, independent, purged at once or not at all."""
    if type(scheme.schedule) is not Static or isinstance(scheme.purge, str):
        return None
    if condition is not None and not (isinstance(condition, Switching) and condition.independent):
        return None
    return forecast(cluster, scheme.split, stream, scheme.purge, overhead, condition).delay
