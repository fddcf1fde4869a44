"""The same model in SimPy: workers are processes, the master waits for the K-th result and interrupts the rest."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import simpy

from deadheat.model import Array, Cluster, Split, Stream

Steps = Generator[Any, Any, None]


def play(cluster: Cluster, split: Split, stream: Stream, jobs: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Service and delay of each job, from an empty start; purged at the K-th result, jobs served in order."""
    env = simpy.Environment()
    inbox = simpy.Store(env)
    tasks = cluster.tasks(split.spec)
    service, delay = np.empty(jobs), np.empty(jobs)

    def source() -> Steps:
        for _ in range(jobs):
            yield env.timeout(rng.exponential(stream.interarrival_mean))
            inbox.put(env.now)

    def worker(p: int, results: Any) -> Steps:
        try:
            yield env.timeout(tasks.comm[p])
            for _ in range(split.loads[p]):
                yield env.timeout(float(tasks.laws[p].rvs(1, rng)[0]))
                results.put(p)
        except simpy.Interrupt:
            return

    def master() -> Steps:
        for job in range(jobs):
            arrived = yield inbox.get()
            began = env.now
            for _ in range(stream.iterations):
                results = simpy.Store(env)
                at_work = [env.process(worker(int(p), results)) for p in np.flatnonzero(split.loads)]
                for _ in range(split.spec.critical):
                    yield results.get()
                for member in at_work:
                    if member.is_alive:
                        member.interrupt()
            service[job], delay[job] = env.now - began, env.now - arrived

    env.process(source())
    done = env.process(master())
    env.run(done)
    return service, delay
