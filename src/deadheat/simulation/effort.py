"""How long simulated runs take, roughly, so that what would take hours or all the memory is refused beforehand."""

from collections.abc import Iterable

from deadheat.errors import BadInput
from deadheat.model import Split, Stream, allowed
from deadheat.scheduling import Schedule, Static, schedules

# Seconds, by bench_simulate and bench_schedules: of an iteration from the exact law; of a task that is drawn and put in
# order; of an iteration that is followed because the one before leaves work behind; of a task, and for each worker,
# under schedules that give out tasks on the way, with a fast path and without; of the search for a task to copy.
# A worker that changes from iteration to iteration costs STATE in each.
FROM_LAW, DRAWN, FOLLOWED = 3e-8, 3e-8, 6e-5
STATE = 2e-7
LOCKSTEP, LOCKSTEP_WORKER = 5e-7, 2e-8
EVENT, EVENT_WORKER = 4e-5, 4e-7
COPY = 1e-8

LONGEST_RUN, LONGEST = 15.0, 8.0  # seconds of one run; of all, where their number is left to us
MOST_RUNS = 400
MOST_AT_ONCE = 2**27  # task times of one job, which are drawn together: a gigabyte
MOST_JOBS = 2 * 10**7  # whose times are kept: a gigabyte
REMEDY = "simulate fewer jobs or iterations, or see the forecast of `deadheat plan`"


def seconds_of_run(
    split: Split, stream: Stream, jobs: int, schedule: Schedule, by_tasks: bool, followed: bool
) -> float:
    """Roughly. by_tasks: tasks are drawn, since the exact law does not tell all. followed: purged between tasks."""
    tasks, workers = split.spec.total, split.active
    if type(schedule) is Static:
        drawn = tasks * DRAWN + len(split.loads) * STATE + FOLLOWED * followed
        each = drawn if by_tasks or followed else FROM_LAW
    elif isinstance(schedule, schedules.Speculative) or type(schedule).lengths is Schedule.lengths:
        each = tasks * (EVENT + EVENT_WORKER * workers)  # without a fast path
    else:
        copies = COPY * workers**2 if isinstance(schedule, (schedules.TopUp, schedules.Duplicates)) else 0.0
        each = tasks * (LOCKSTEP + LOCKSTEP_WORKER * workers + copies)
    return float(jobs) * stream.iterations * each


def must_be_short(split: Split, stream: Stream, jobs: int, seconds: float, by_tasks: bool) -> None:
    """Refuse a run that would take very long, or very much memory."""
    if jobs > MOST_JOBS:
        raise BadInput("jobs", jobs, f"more than {MOST_JOBS:g} in a run", REMEDY)
    at_once = stream.iterations * (split.spec.total if by_tasks else 1)
    if at_once > MOST_AT_ONCE:
        problem = f"a job of {at_once:.2g} {'tasks' if by_tasks else 'iterations'} is too long to simulate"
        raise BadInput("iterations", stream.iterations, problem, REMEDY)
    if seconds > allowed(LONGEST_RUN):
        raise BadInput(
            "jobs", jobs, f"a run of {float(jobs) * stream.iterations:.2g} iterations takes too long", REMEDY
        )


def most_runs(seconds: Iterable[float], jobs: int) -> int:
    """How many times runs of so many seconds can be repeated, at least twice; refused where even that takes long."""
    total = sum(seconds)
    if total > allowed(LONGEST):
        problem = f"a run takes some {total:.0f} s, and an interval needs many"
        raise BadInput("jobs", jobs, problem, "simulate fewer jobs, or say how many runs (replications)")
    return max(int(min(allowed(LONGEST) / total, MOST_RUNS)), 2) if total > 0 else MOST_RUNS
