"""Simulation against SimPy on the worked example, as seconds per task, and against itself with twice the jobs."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import simpy

import deadheat as dh
from benchmarks.timing import Row, median
from deadheat.paper import worked_example

FEW, SOME, MANY = 4, 400, 100_000  # jobs for SimPy, with a timeline, and for delays only


def in_simpy(cluster: dh.Cluster, split: dh.Split, stream: dh.Stream, jobs: int) -> None:
    """The same jobs task by task: a process per worker, interrupted at the K-th result."""
    env, rng, tasks = simpy.Environment(), np.random.default_rng(1), cluster.tasks(split.spec)
    inbox = simpy.Store(env)
    comm, loads = tasks.comm.tolist(), split.loads.tolist()
    most = jobs * stream.iterations * max(loads)
    draw = [iter(rng.exponential(mean, most).tolist()) for mean in tasks.mean]  # all at once: numpy's best speed

    def source() -> Generator[Any, Any, None]:
        for _ in range(jobs):
            yield env.timeout(rng.exponential(stream.interarrival_mean))
            inbox.put(env.now)

    def worker(p: int, left: list[int], over: Any) -> Generator[Any, Any, None]:
        try:
            yield env.timeout(comm[p])
            for _ in range(loads[p]):
                yield env.timeout(next(draw[p]))
                left[0] -= 1
                if left[0] == 0:
                    over.succeed()
        except simpy.Interrupt:
            return

    def master() -> Generator[Any, Any, None]:
        for _ in range(jobs):
            yield inbox.get()
            for _ in range(stream.iterations):
                left, over = [split.spec.critical], env.event()
                at_work = [env.process(worker(p, left, over)) for p in range(len(loads))]
                yield over
                for member in at_work:
                    if member.is_alive:
                        member.interrupt()

    env.process(source())
    env.run(env.process(master()))


def rows() -> list[Row]:
    """The limits of the issue that brought them in; a task is one of the n = 55 given out."""
    cluster, stream = worked_example.cluster(), worked_example.stream()
    split = dh.split(cluster, worked_example.spec())
    each = stream.iterations * split.spec.total  # tasks of a job
    simpys = median(lambda: in_simpy(cluster, split, stream, FEW), 5) / FEW / each
    long = median(lambda: dh.simulate(cluster, split, stream, MANY, seed=1), 5)
    twice = median(lambda: dh.simulate(cluster, split, stream, 2 * MANY, seed=1), 5)
    drawn = median(lambda: dh.simulate(cluster, split, stream, SOME, seed=1, timeline=True), 9)
    return [
        Row("a task, delays only", long / MANY / each, "SimPy's / 1000", simpys / 1000, 1),
        Row("a task, with a timeline", drawn / SOME / each, "SimPy's / 30", simpys / 30, 1),
        Row("delays of 2e5 jobs", twice, "of 1e5 jobs", long, 2.6),
    ]
