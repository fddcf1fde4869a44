"""Real runs on emulated workers against their forecast: the worked example, scaled so that an iteration takes 0.1 s."""

from __future__ import annotations

import numpy as np

import deadheat as dh
from benchmarks.timing import Row
from deadheat.model import Array
from deadheat.paper import worked_example

SCALE = 7.587
ITERATIONS = 100
CODE = dh.codes.cyclic(55, 5)
SPEC = worked_example.spec()


def gradient(w: Array, chunk: tuple[Array, Array]) -> Array:
    """Of least squares on one chunk."""
    x, y = chunk
    return np.asarray(x.T @ (x @ w - y))


def step(w: Array, total: Array, iteration: int) -> Array:
    """Against the gradient."""
    return w - 1e-4 * total


def job() -> dh.Job:
    """Least squares in 55 chunks."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(5500, 10))
    y = x @ rng.normal(size=10)
    return dh.Job([(x[i::55], y[i::55]) for i in range(55)], gradient, np.zeros(10), step, ITERATIONS)


def rows() -> list[Row]:
    """For both engines: measured against forecast, and an even split against Theorem 2."""
    table = []
    cluster = dh.Cluster(
        [dh.Worker(w.mean / SCALE, w.std / SCALE, w.comm / SCALE, w.name) for w in worked_example.cluster()]
    )
    for engine in ("local", "ray"):
        measured = {}
        for policy in ("optimal", "uniform"):
            work = SPEC.work / CODE.cost.work
            done = dh.run(job(), cluster, CODE, engine, policy=policy, work=work, emulate=True, adapt=False, seed=1)
            iteration, _, _ = done.outcome.compared
            measured[policy] = iteration.measured.mean
            expected = iteration.with_overhead.mean
            what = f"iteration, {policy} split, {engine} (emulated workers)"
            against = f"forecast {iteration.forecast.mean:.4f} + overhead {done.outcome.overhead:.4f}"
            table.append(Row(what, measured[policy], against, expected, 1.1))
            table.append(Row("the same, the other way round", expected, "measured", measured[policy], 1.1))
        even = measured["uniform"] / 1.6
        table.append(Row(f"Theorem 2, {engine}", measured["optimal"], "even split / 1.6", even, 1.0))
    return table
