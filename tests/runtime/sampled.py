"""A master on sampled time, without results: thousands of iterations in a few seconds."""

from __future__ import annotations

from collections.abc import Sequence

import deadheat as dh
from deadheat.planning import split
from deadheat.runtime.briefs import Brief, Policy
from deadheat.runtime.driver import Driver, Listener, Task
from deadheat.runtime.engines.virtual import VirtualEngine
from deadheat.runtime.estimates import Estimates
from deadheat.runtime.master import Master
from deadheat.runtime.outlooks import Nothing
from deadheat.runtime.schedules import Schedule, Static

STATIC = Static()


def brief(code: dh.Code, work: float, iterations: int, policy: Policy = split, schedule: Schedule = STATIC) -> Brief:
    """A job whose tasks are of so much work, split by what was declared."""
    spec = dh.CodeSpec.of(code.critical, code.total, work, code.cost.shared_chunks)
    return Brief(code, spec, iterations, policy, schedule=schedule, adapt=False)


def driver(cluster: dh.Cluster, job: Brief, seed: int, estimates: Estimates, listeners: Sequence[Listener]) -> Driver:
    """A driver whose workers have joined."""
    engine = VirtualEngine(cluster, job.policy(cluster, job.spec, job.gamma), seed, compute=False)
    made = Driver(Master(estimates), engine, list(listeners))
    assert made.gather(len(cluster)) == len(cluster)
    return made


def run_through(made: Driver, job: Brief, jobs: int = 1) -> None:
    """So many of these jobs, all there from the start."""
    for _ in range(jobs):
        made.submit(Task(job, Nothing(), None, lambda state, answer, iteration: None, blind=True), 0.0)
    assert sum(1 for _ in made.deliveries()) == jobs
