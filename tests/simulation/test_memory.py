"""A million jobs of the worked example stay below 1 GB: memory does not grow with iterations or tasks."""

from __future__ import annotations

import subprocess
import sys

CODE = """
from pathlib import Path
import deadheat as dh
from deadheat.paper import worked_example as paper
cluster = paper.cluster()
split = dh.split(cluster, paper.spec())
trace = dh.simulate(cluster, split, paper.stream(), {jobs}, seed=1, by_tasks={by_tasks})
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(len(trace), float(trace.service.mean()), int(peak.split()[1]) / 1024)
"""


def peak(jobs: int, by_tasks: bool) -> float:
    """Megabytes that a process needs for so many jobs; not by getrusage, which counts its parent before exec."""
    code = CODE.format(jobs=jobs, by_tasks=by_tasks)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    count, service, megabytes = done.stdout.split()
    assert int(count) == jobs
    assert 37 < float(service) < 39
    return float(megabytes)


def test_a_million_jobs_fit_in_a_gigabyte() -> None:
    assert peak(10**6, False) < 1024


def test_tasks_are_not_kept() -> None:
    """4000 jobs are 11 million tasks, 88 MB of numbers; a tenth of the jobs needs nearly the same memory."""
    assert peak(4000, True) < peak(400, True) + 40
