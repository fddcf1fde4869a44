"""All that a real run of a scenario needs: jobs, workers, a code and arrivals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from deadheat.coding import FAMILIES, Code, Shape, codes, family
from deadheat.errors import BadInput
from deadheat.jobs.tables import jobs_from
from deadheat.model import Cluster, Scenario, Worker
from deadheat.runtime import SCHEDULES
from deadheat.runtime.job import Job
from deadheat.simulation.arrivals import gaps
from deadheat.tuning import Choice, tune

Progress = Callable[[int, int, float], None]


@dataclass(frozen=True, eq=False)
class Assembly:
    """Arguments for `run`. choice: what the tuner chose, where the scenario left the code to it."""

    jobs: list[Job]
    cluster: Cluster
    code: Code
    work: float
    arrivals: list[float]
    gamma: float
    policy: str
    schedule: str
    choice: Choice | None


def assemble(
    scenario: Scenario,
    count: int,
    seed: int = 0,
    *,
    policy: str | None = None,
    schedule: str | None = None,
    progress: Progress | None = None,
) -> Assembly:
    """Put together what a scenario describes; emulated times are shortened by its engine's speedup."""
    choice = None if scenario.code is not None else _tuned(scenario, seed, progress)
    if choice is not None:
        code, units = choice.shape.build(), choice.spec.work
    else:
        code, units = _code(scenario), scenario.spec.work
    jobs = jobs_from(scenario.job, count, code.chunks, scenario.stream.iterations)
    between = gaps(scenario.stream, len(jobs), np.random.default_rng(seed)) / scenario.engine.speedup
    arrivals = np.cumsum(between) - between[0]  # the first comes at once
    return Assembly(
        jobs,
        _faster(scenario.cluster, scenario.engine.speedup),
        code,
        units / code.cost.work,
        arrivals.tolist(),
        scenario.gamma * scenario.engine.speedup,  # per second: so that the split stays
        policy or (scenario.policy if choice is None else choice.policy),
        schedule or ("static" if choice is None else choice.schedule),
        choice,
    )


def _code(scenario: Scenario) -> Code:
    """The code of the scenario's size: of the family it names, or the plainest there is."""
    spec = scenario.spec
    if not scenario.family:
        if spec.total == spec.critical:
            return codes.uncoded(spec.critical)
        return codes.cyclic(spec.total, spec.total - spec.critical, reuse=spec.lead > 0)
    try:
        chosen = family(scenario.family)
    except BadInput as error:
        raise error.within("code") from None
    if "gradient" not in chosen.kinds:
        known = ", ".join(name for name, one in FAMILIES.items() if "gradient" in one.kinds)
        raise BadInput("code.family", scenario.family, "not for sums over chunks", f"take one of {known}")
    shapes = list(chosen.shapes("gradient", spec.critical, spec.total))
    fitting = [shape for shape in shapes if (shape.critical, shape.total) == (spec.critical, spec.total)]
    if not fitting:
        sizes = ", ".join(f"{shape.critical} of {shape.total}" for shape in shapes) or "none"
        problem = f"{scenario.family} has no {spec.critical} of {spec.total}"
        raise BadInput("code.critical", spec.critical, problem, f"near it are: {sizes}")
    return _likest(fitting, spec.lead).build()


def _likest(shapes: list[Shape], lead: int) -> Shape:
    return min(shapes, key=lambda shape: abs(shape.cost.lead - lead))


def _tuned(scenario: Scenario, seed: int, progress: Progress | None) -> Choice:
    """The best choice that a live run can follow."""
    if scenario.workload is None or scenario.workload.kind != "gradient":
        kind = None if scenario.workload is None else scenario.workload.kind
        raise BadInput("workload.kind", kind, "only sums over chunks can be run so far", 'use kind = "gradient"')
    live = tuple(name for name in scenario.search.schedules if name in SCHEDULES)
    if not live:
        problem = "none of these is known to live runs"
        raise BadInput("search.schedules", scenario.search.schedules, problem, f"allow one of {', '.join(SCHEDULES)}")
    return tune(
        scenario.workload, scenario.cluster, scenario.stream, replace(scenario.search, schedules=live),
        gamma=scenario.gamma, condition=scenario.condition, seed=seed, progress=progress,
    ).best  # fmt: skip


def _faster(cluster: Cluster, times: float) -> Cluster:
    """The same workers with all their times shortened."""
    if times == 1:
        return cluster
    scaled = [
        replace(w, mean=w.mean / times, std=w.std / times, comm=w.comm / times)
        if isinstance(w.law, str)
        else Worker.of(law.scaled(1 / times), comm=w.comm / times, name=name, capacity=w.capacity)
        for w, law, name in zip(cluster, cluster.laws, cluster.names, strict=True)
    ]
    return Cluster(scaled)
