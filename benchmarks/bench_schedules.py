"""Schedules: one definition in the simulator and in real runs, and what the simulator costs event by event.

Real runs are on emulated local processes: the worked example, ten times faster.
"""

from __future__ import annotations

import time

import numpy as np

import deadheat as dh
from benchmarks.timing import Row
from deadheat.paper import worked_example
from deadheat.simulation import batches, root, times_of

SPEEDUP = 10.0
ITERATIONS = 120
CODE = dh.codes.cyclic(55, 5)
SCHEDULES: dict[str, dh.schedules.Schedule] = {
    **dh.schedules.SCHEDULES,
    "pull, ahead=0": dh.schedules.Pull(ahead=0),
}


def rows() -> list[Row]:
    """For every schedule: simulated, and measured against forecast and overhead."""
    declared, spec = worked_example.cluster(), worked_example.spec()
    cluster = dh.Cluster([dh.Worker(w.mean / SPEEDUP, w.std / SPEEDUP, w.comm / SPEEDUP) for w in declared])
    chunks = [np.ones(3) for _ in range(CODE.chunks)]
    job = dh.Job(chunks, lambda state, chunk: chunk, np.zeros(3), lambda state, total, i: state + total, ITERATIONS)
    rows = []
    for name, schedule in SCHEDULES.items():
        for policy in ("optimal", "uniform") if schedule.uses_split else ("optimal",):
            split = dh.policies.policy(policy)(declared, spec, 1.0)
            began = time.perf_counter()
            times = times_of(schedule, next(batches(declared, split, None, root(1), total=2000)))
            cost = (time.perf_counter() - began) / 2000 / spec.total
            rows.append(Row(f"{name}, {policy} split: simulated iteration", times.mean(), "static", 0.7587, 2.0))
            rows.append(Row("  a task of it in the simulator", cost, "20 us", 20e-6, 1.0))
        work = spec.work / CODE.cost.work
        done = dh.run(
            job, cluster, CODE, emulate=True, adapt=False, schedule=schedule, work=work, gamma=SPEEDUP, seed=1
        )
        iteration = done.outcome.compared[0]
        against = f"forecast {iteration.forecast.mean:.4f} + overhead {done.outcome.overhead:.4f}"
        rows.append(Row(f"{name}: real run", iteration.measured.mean, against, iteration.with_overhead.mean, 1.1))
    return rows
