"""All that a real run of a scenario needs: jobs, workers, a code and arrivals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from deadheat.coding import Code
from deadheat.errors import BadInput
from deadheat.jobs.tables import code_kind, jobs_from
from deadheat.model import Cluster, Scenario, Worker
from deadheat.planning import in_ratio
from deadheat.runtime import SCHEDULES
from deadheat.runtime.briefs import Policy
from deadheat.runtime.job import Workable
from deadheat.simulation.arrivals import gaps
from deadheat.tuning import Choice, shape_for, tune

HERE = Path()
Progress = Callable[[int, int, float], None]


@dataclass(frozen=True, eq=False)
class Assembly:
    """Arguments for `run`. choice: what the tuner chose, where the scenario left the code to it."""

    jobs: list[Workable]
    cluster: Cluster
    code: Code
    work: float
    arrivals: list[float]
    gamma: float
    policy: str | Policy
    schedule: str
    choice: Choice | None


def assemble(
    scenario: Scenario,
    count: int,
    seed: int = 0,
    *,
    folder: Path = HERE,
    policy: str | None = None,
    schedule: str | None = None,
    progress: Progress | None = None,
) -> Assembly:
    """Put together what a scenario describes; emulated times are shortened by its engine's speedup.

    folder: where the files lie that it names.
    """
    kind = code_kind(scenario.job)
    choice = None if scenario.code is not None else _tuned(scenario, kind, seed, progress)
    shape, units = (
        (shape_for(scenario, kind), scenario.spec.work) if choice is None else (choice.shape, choice.spec.work)
    )
    code = shape.build()
    jobs = jobs_from(scenario.job, count, code.chunks, scenario.stream.iterations, folder)
    between = gaps(scenario.stream, len(jobs), np.random.default_rng(seed)) / scenario.engine.speedup
    arrivals = np.cumsum(between) - between[0]  # the first comes at once
    return Assembly(
        jobs,
        _faster(scenario.cluster, scenario.engine.speedup),
        code,
        units / code.cost.work,
        arrivals.tolist(),
        scenario.gamma * scenario.engine.speedup,  # per second: so that the split stays
        policy or _policy(scenario, choice),
        schedule or ("static" if choice is None else choice.schedule),
        choice,
    )


def _policy(scenario: Scenario, choice: Choice | None) -> str | Policy:
    """The scenario's own: a policy by name, or its ratio; the tuner's where it chose."""
    ratio = scenario.ratio
    if choice is not None or ratio is None:
        return scenario.policy if choice is None else choice.policy
    return lambda cluster, spec, gamma: in_ratio(cluster, spec, ratio)


def _tuned(scenario: Scenario, kind: str, seed: int, progress: Progress | None) -> Choice:
    """The best choice that a live run can follow."""
    if scenario.workload is None or scenario.workload.kind != kind:
        given = None if scenario.workload is None else scenario.workload.kind
        raise BadInput("workload.kind", given, "not the kind of the job", f'write kind = "{kind}"')
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
