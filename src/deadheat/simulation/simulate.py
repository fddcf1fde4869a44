"""What would happen: a stream of jobs under a split, simulated."""

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from deadheat.errors import BadInput, finite, whole
from deadheat.model import Array, Cluster, Overhead, Split, Stream, Timeline, Trace, checked
from deadheat.scheduling import Schedule, Static, kth, results, schedule_named
from deadheat.simulation.arrivals import gaps
from deadheat.simulation.batch import Batch
from deadheat.simulation.condition import Condition
from deadheat.simulation.effort import must_be_short, seconds_of_run
from deadheat.simulation.iteration_times import all_needed, batches, exact, times_of
from deadheat.simulation.lindley import starts
from deadheat.simulation.purge_between_tasks import follow
from deadheat.simulation.seeds import child, root
from deadheat.simulation.timeline import timeline_of

Purge = bool | Literal["between-tasks"]


@checked
def simulate(
    cluster: Cluster, split: Split, stream: Stream, jobs: int = 1000, purge: Purge = True, seed: int | None = None,
    timeline: bool = False, *, schedule: str | Schedule = "static", condition: Condition | None = None,
    arrivals: Sequence[float] | None = None, overhead: float | Overhead = 0.0, by_tasks: bool = False,
) -> Trace:  # fmt: skip
    """Simulate `jobs` jobs and return their trace; the same seed gives the same bytes.

    purge: True ends an iteration and all its tasks at the K-th result, "between-tasks" lets each worker finish the task
    in hand first, False waits for all results.
    timeline: also record every task.
    schedule: "static" (the split), "pull", "top-up", "duplicates", "speculative", or one of one's own.
    condition: workers that change from iteration to iteration, such as `Switching(10, 0.2, 0.8)`.
    arrivals: the jobs' arrival times in seconds, instead of the stream's law.
    overhead: seconds per iteration of encoding, decoding and update at the master.
    by_tasks: draw every task even where the exact law of an iteration would do.
    """
    jobs = whole("jobs", jobs, "give the number of jobs")
    extra = overhead.total if isinstance(overhead, Overhead) else overhead
    extra = finite("overhead", extra, "give seconds per iteration, 0 for none", least=0.0)
    if purge not in (True, False, "between-tasks"):
        raise BadInput("purge", purge, "no such way to purge", 'give True, False or "between-tasks"')
    chosen = schedule_named(schedule)
    split.must_fit(len(cluster))
    seeds = root(seed)
    by_tasks = by_tasks or timeline or condition is not None or type(chosen) is not Static or purge == "between-tasks"
    seconds = seconds_of_run(split, stream, jobs, chosen, by_tasks, purge == "between-tasks")
    must_be_short(split, stream, jobs, seconds, by_tasks)
    arrival = _arrivals(stream, jobs, arrivals, seeds)
    about = {
        "seed": seeds.entropy, "jobs": jobs, "iterations": stream.iterations, "loads": split.loads.tolist(),
        "critical": split.spec.critical, "purge": purge, "schedule": type(chosen).__name__, "overhead": extra,
    }  # fmt: skip
    if split.spec.shared_chunks and not chosen.keeps_split:
        problem = "tasks that share chunks must stay where they were planned"
        raise BadInput("schedule", schedule, problem, "use the static schedule, or a code without reuse")
    if type(chosen) is not Static and (timeline or purge is not True):
        raise BadInput("schedule", schedule, "has no timeline and purges at once", "use the static schedule")
    needed, iterations, total = split if purge else all_needed(split), stream.iterations, jobs * stream.iterations
    source = batches(cluster, needed, condition, seeds, multiple=iterations, total=total)
    if purge == "between-tasks":
        if timeline:
            raise BadInput("timeline", True, "is not recorded when tasks are not interrupted", "purge at once")
        start, end, lost = follow(source, arrival, iterations, extra)
        return Trace(arrival, start, end, None, about | {"lost_seconds_per_iteration": lost})
    if timeline:
        start, end, record = _with_timeline(source, needed, arrival, iterations, extra, condition)
        return Trace(arrival, start, end, record, about)
    if not by_tasks:
        times = exact(cluster, split, bool(purge), seeds, multiple=iterations, total=total)
    else:
        times = (times_of(chosen, batch) for batch in source)
    service = np.concatenate([part.reshape(-1, iterations).sum(axis=1) for part in times]) + extra * iterations
    start = starts(arrival, service)
    return Trace(arrival, start, start + service, None, about)


def _arrivals(stream: Stream, jobs: int, arrivals: Sequence[float] | None, seeds: np.random.SeedSequence) -> Array:
    if arrivals is None:
        return np.cumsum(gaps(stream, jobs, child(seeds, 0)))
    times = np.asarray(arrivals, float)
    if times.shape != (jobs,) or not np.isfinite(times).all() or (np.diff(times) < 0).any():
        raise BadInput("arrivals", times.shape, "not one finite time per job in order", f"give {jobs} ascending times")
    return times


def _with_timeline(
    source: Iterator[Batch], split: Split, arrival: Array, iterations: int, overhead: float, condition: object
) -> tuple[Array, Array, Timeline]:
    """Every task on record, some jobs at a time: results, then the queue, then the tasks in their places."""
    start, end = np.empty(arrival.size), np.empty(arrival.size)

    def parts() -> Iterator[Timeline]:
        first, free = 0, 0.0
        for batch in source:
            ends = results(batch)
            lengths = kth(ends, split.spec.critical)
            if not np.isfinite(lengths).all():
                problem = "at times fewer than K tasks are with living workers"
                raise BadInput("condition", condition, problem, "simulate without a timeline")
            jobs = slice(first, first + batch.size // iterations)
            table = lengths.reshape(-1, iterations) + overhead
            service = table.sum(axis=1)
            start[jobs] = starts(arrival[jobs], service, free)
            end[jobs] = start[jobs] + service
            begun = start[jobs, None] + np.cumsum(table, axis=1) - table
            yield timeline_of(batch.tasks, split, ends, lengths, begun.ravel(), iterations, first)
            first, free = jobs.stop, float(end[jobs][-1])

    return start, end, Timeline.joined(parts(), arrival.size * iterations * split.spec.total)
