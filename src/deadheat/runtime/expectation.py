"""What to expect of a run: its iterations by the exact law, or by simulation of the same schedule where there is none.

A run of some jobs is one draw. Its interval tells what such a run shows in 95 of 100 cases.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from deadheat.coding import Code
from deadheat.model import Array, Cluster, CodeSpec, Interval
from deadheat.planning import Policy
from deadheat.queueing import IterationLaw
from deadheat.scheduling import Program, Schedule, Static
from deadheat.simulation import batches, root, starts, times_of

SAMPLED = 4000  # iterations that are simulated where there is no exact law
SAMPLED_TASKS = 200_000  # in all of them together, where they are many
DRAWS = 2000  # runs that are drawn for an interval
AT_ONCE = 2**20  # numbers that are drawn at a time


@dataclass(frozen=True)
class Expectation:
    """The time of an iteration at the workers: mean and standard deviation, seconds. exact: from the law itself."""

    mean: float
    std: float
    exact: bool


def expected_iteration(
    cluster: Cluster, code: Code, spec: CodeSpec, policy: Policy, gamma: float, schedule: Schedule, seed: int = 0
) -> Expectation:
    """What an iteration of a job takes on these workers, computed when it is asked for."""
    split = policy(cluster, spec, gamma)
    if type(schedule) is Static and code.fewest == code.critical:
        law = IterationLaw(cluster.tasks(spec), split.loads, code.critical)
        return Expectation(law.mean, law.std, exact=True)
    size = max(min(SAMPLED, SAMPLED_TASKS // spec.total), 50)
    times = times_of(schedule, next(batches(cluster, split, None, root(seed), total=size)), code)
    return Expectation(float(times.mean()), float(times.std(ddof=1)), exact=False)


@dataclass(eq=False)
class Expectations:
    """Of the jobs of a run, computed once for all jobs of one kind. cluster: the workers as the run found them."""

    cluster: Cluster
    policy: Policy
    gamma: float
    schedule: Schedule
    seed: int
    _programs: dict[object, tuple[Code, CodeSpec]] = field(default_factory=dict)
    _computed: dict[object, Expectation] = field(default_factory=dict)

    def kind(self, program: Program) -> object:
        """What is equal for jobs whose iterations have the same law."""
        code, spec = program.code, program.spec
        key = spec, None if code.fewest == code.critical else code
        self._programs.setdefault(key, (code, spec))
        return key

    def of(self, kind: object) -> Expectation:
        """What an iteration of such jobs takes."""
        if kind not in self._computed:
            code, spec = self._programs[kind]
            self._computed[kind] = expected_iteration(
                self.cluster, code, spec, self.policy, self.gamma, self.schedule, self.seed
            )
        return self._computed[kind]


def intervals_of_a_run(
    expectations: Sequence[Expectation], iterations: Array, arrivals: Array, overhead: float, seed: int = 0
) -> tuple[Interval, Interval, Interval]:
    """The mean iteration, service and delay that one run of these jobs shows, each with `overhead` per iteration.

    A job is a sum of iterations: its service is drawn as a gamma variable of the right mean and variance.
    """
    rng = np.random.default_rng(seed)
    means = iterations * np.array([e.mean + overhead for e in expectations])
    stds = np.sqrt(iterations) * np.array([e.std for e in expectations])
    drawn: list[tuple[Array, Array, Array]] = []
    step = max(AT_ONCE // means.size, 1)
    for first in range(0, DRAWS, step):
        services = _services(means, stds, min(step, DRAWS - first), rng)
        begun = np.array([starts(arrivals, row) for row in services])
        delays = (begun + services - arrivals).mean(axis=1)
        drawn.append((services.sum(axis=1) / iterations.sum(), services.mean(axis=1), delays))
    iteration, service, delay = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
    return _interval(iteration), _interval(service), _interval(delay)


def _services(means: Array, stds: Array, count: int, rng: np.random.Generator) -> Array:
    random = stds > 0
    safe = np.where(random, stds, means)
    drawn = rng.gamma((means / safe) ** 2, size=(count, means.size)) * safe**2 / means
    return np.where(random, drawn, means)


def _interval(values: Array) -> Interval:
    low, high = np.quantile(values, (0.025, 0.975))
    return Interval(float(values.mean()), float(low), float(high))
