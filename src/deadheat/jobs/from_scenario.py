"""All that a real run of a scenario needs: jobs, workers, a code and arrivals."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.coding import Code
from deadheat.errors import BadInput
from deadheat.jobs.job_tables import JobStream, code_kind
from deadheat.model import Cluster, Scenario, Worker, checked
from deadheat.planning import POLICIES, Policy, in_ratio
from deadheat.scheduling import SCHEDULES
from deadheat.simulation import gaps
from deadheat.tuning import Choice, shape_for, tune

HERE = Path()
Progress = Callable[[int, int, float], None]


@dataclass(frozen=True, eq=False)
class ScenarioRun:
    """What `run` and `measure` need. choice: what the tuner chose, where the scenario left the code to it."""

    jobs: JobStream
    code: Code
    arrivals: Iterator[float]
    choice: Choice | None
    options: dict[str, Any]  # arguments of `run` by name: cluster, work, gamma, policy, schedule, engine, ...

    def __str__(self) -> str:
        policy = self.options["policy"] if isinstance(self.options["policy"], str) else "given"
        code = f"{self.code.family}, K = {self.code.critical} of {self.code.total}"
        return f"{code}, {policy} split, {self.options['schedule']}"


@checked
def from_scenario(
    scenario: Scenario, count: int, seed: int = 0, *, folder: Path = HERE,
    policy: str | None = None, schedule: str | None = None, progress: Progress | None = None,
) -> ScenarioRun:  # fmt: skip
    """Put together what a scenario describes; emulated times are shortened by its engine's speedup.

    folder: where the files lie that it names. policy, schedule: instead of the scenario's own.
    """
    if policy is not None:
        POLICIES.find(policy, "--policy")
    if schedule is not None:
        SCHEDULES.find(schedule, "--schedule")
    kind, engine = code_kind(scenario.job), scenario.engine
    choice = None if scenario.code is not None else _tuned(scenario, kind, seed, progress)
    code = (shape_for(scenario, kind) if choice is None else choice.shape).build()
    spec = scenario.spec if choice is None else choice.spec
    jobs = JobStream(scenario.job, count, code.chunks, scenario.stream.iterations, folder)
    options = {
        "cluster": _faster(scenario.cluster, engine.speedup),
        "work": spec.work / code.cost.work,
        "gamma": scenario.gamma * engine.speedup,  # per second: so that the split stays
        "policy": policy or _policy(scenario, choice),
        "schedule": schedule or ("static" if choice is None else choice.schedule),
        "engine": engine.kind, "emulate": engine.emulate, "quotas": engine.quotas or None,
        "address": engine.address or None, "seed": seed,
    }  # fmt: skip
    between = gaps(scenario.stream, len(jobs), np.random.default_rng(seed)) / engine.speedup
    arrivals = np.cumsum(between) - between[0]  # the first job comes at once
    return ScenarioRun(jobs, code, iter(arrivals.tolist()), choice, options)


def _policy(scenario: Scenario, choice: Choice | None) -> str | Policy:
    """The scenario's own: a policy by name, or its ratio; the tuner's where it chose."""
    ratio = scenario.ratio
    if choice is not None or ratio is None:
        return scenario.policy if choice is None else choice.policy
    return lambda cluster, spec, gamma: in_ratio(cluster, spec, ratio)


def _tuned(scenario: Scenario, kind: str, seed: int, progress: Progress | None) -> Choice:
    if scenario.workload is None or scenario.workload.kind != kind:
        declared = None if scenario.workload is None else scenario.workload.kind
        raise BadInput("workload.kind", declared, "not the kind of the job", f'write kind = "{kind}"')
    return tune(
        scenario.workload, scenario.cluster, scenario.stream, scenario.search,
        gamma=scenario.gamma, condition=scenario.condition, seed=seed, progress=progress,
    ).best  # fmt: skip


def _faster(cluster: Cluster, times: float) -> Cluster:
    if times == 1:
        return cluster
    scaled = [
        replace(w, mean=w.mean / times, std=w.std / times, comm=w.comm / times)
        if isinstance(w.law, str)
        else Worker.of(law.scaled(1 / times), comm=w.comm / times, name=name, capacity=w.capacity)
        for w, law, name in zip(cluster, cluster.laws, cluster.names, strict=True)
    ]
    return Cluster(scaled)
