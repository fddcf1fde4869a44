"""What would happen: a stream of jobs under a split, simulated."""

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from deadheat.errors import BadInput, finite, whole
from deadheat.model import Array, Cluster, Overhead, Split, Stream, Timeline, Trace
from deadheat.scheduling import Schedule, Static, kth, results, schedule_named
from deadheat.simulation.arrivals import gaps
from deadheat.simulation.between_tasks import follow
from deadheat.simulation.condition import Condition
from deadheat.simulation.iteration_times import Source, all_needed, batches, by_task, exact, is_exact
from deadheat.simulation.lindley import starts
from deadheat.simulation.seeds import child, root
from deadheat.simulation.timeline import timeline_of

Purge = bool | Literal["between-tasks"]
AT_ONCE = 2**18  # iteration times drawn at a time


def simulate(
    cluster: Cluster,
    split: Split,
    stream: Stream,
    jobs: int = 1000,
    purge: Purge = True,
    seed: int | None = None,
    timeline: bool = False,
    *,
    schedule: str | Schedule = "static",
    condition: Condition | None = None,
    arrivals: Sequence[float] | None = None,
    overhead: float | Overhead = 0.0,
    by_tasks: bool = False,
) -> Trace:
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
    seeds, total = root(seed), jobs * stream.iterations
    arrival = _arrivals(stream, jobs, arrivals, seeds)
    about = {
        "seed": seeds.entropy, "jobs": jobs, "iterations": stream.iterations, "loads": split.loads.tolist(),
        "critical": split.spec.critical, "purge": purge, "schedule": type(chosen).__name__, "overhead": extra,
    }  # fmt: skip
    if split.spec.shared_chunks and not chosen.keeps_split:
        problem = "tasks that share chunks must stay where they were planned"
        raise BadInput("schedule", schedule, problem, 'use schedule="static", or a code without reuse')
    if type(chosen) is not Static and (timeline or purge is not True):
        raise BadInput("schedule", schedule, "has no timeline and purges at once", 'use schedule="static"')
    if purge == "between-tasks":
        if timeline:
            raise BadInput("timeline", True, "is not recorded when tasks are not interrupted", "use purge=True")
        start, end, lost = follow(
            batches(cluster, split, condition, seeds, multiple=stream.iterations, total=total),
            arrival,
            stream.iterations,
            extra,
        )
        return Trace(arrival, start, end, None, about | {"lost_seconds_per_iteration": lost})
    if timeline:
        needed = split if purge else all_needed(split)
        return _with_timeline(cluster, needed, stream, arrival, seeds, condition, extra, about)
    if is_exact(chosen, condition) and not by_tasks:
        source = exact(cluster, split, bool(purge), seeds)
    else:
        needed = split if purge else all_needed(split)
        source = by_task(chosen, cluster, needed, seeds, condition=condition, multiple=stream.iterations, total=total)
    service = _services(source, jobs, stream.iterations) + extra * stream.iterations
    start = starts(arrival, service)
    return Trace(arrival, start, start + service, None, about)


def _arrivals(stream: Stream, jobs: int, given: Sequence[float] | None, seeds: np.random.SeedSequence) -> Array:
    if given is None:
        return np.cumsum(gaps(stream, jobs, child(seeds, 0)))
    times = np.asarray(given, float)
    if times.shape != (jobs,) or not np.isfinite(times).all() or (np.diff(times) < 0).any():
        raise BadInput("arrivals", times.shape, "not one finite time per job in order", f"give {jobs} ascending times")
    return times


def _services(source: Source, jobs: int, iterations: int) -> Array:
    """The service time of each job: the sum of its iterations, drawn a bounded number at a time."""
    service = np.empty(jobs)
    step = max(AT_ONCE // iterations, 1)
    for first in range(0, jobs, step):
        size = min(step, jobs - first)
        service[first : first + size] = source(size * iterations).reshape(size, iterations).sum(axis=1)
    return service


def _with_timeline(
    cluster: Cluster, split: Split, stream: Stream, arrival: Array, seeds: np.random.SeedSequence,
    condition: Condition | None, overhead: float, about: dict[str, object],
) -> Trace:  # fmt: skip
    """Every task on record, some jobs at a time: results, then the queue, then the tasks in their places."""
    iterations, tasks = stream.iterations, cluster.tasks(split.spec)
    start, end, total = np.empty(arrival.size), np.empty(arrival.size), arrival.size * iterations

    def parts() -> Iterator[Timeline]:
        first, free = 0, 0.0
        for batch in batches(cluster, split, condition, seeds, multiple=iterations, total=total):
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
            yield timeline_of(tasks, split, ends, lengths, begun.ravel(), iterations, first)
            first, free = jobs.stop, float(end[jobs][-1])

    record = Timeline.joined(parts(), total * split.spec.total)
    return Trace(arrival, start, end, record, about)
