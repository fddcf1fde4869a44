"""A plan: all that can be said of a scenario before anything runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deadheat.coding import placement
from deadheat.errors import BadInput
from deadheat.model import Scenario, Split, assignment_moments
from deadheat.planning import in_ratio, mismatch
from deadheat.planning.policies import policy
from deadheat.planning.recruit import Recruitment, Unreachable, recruit
from deadheat.queueing import Bound, Draw, Forecast, forecast, genie_bound, lower_bound, reasons
from deadheat.tuning.named_codes import shape_for

GENIE_SIZE = 100_000  # workers * K up to which the genie's bound is worth its second
ENOUGH = 0.8  # utilisation above which one should think of more workers: the wait is twice the service time


@dataclass(frozen=True)
class Plan:
    """The split of a scenario, its forecast, its bounds and what follows from them; parts are computed when asked."""

    scenario: Scenario
    split: Split
    purge: bool = True
    target: float | None = None

    @cached_property
    def forecast(self) -> Forecast:
        """What to expect."""
        return self._forecast(self.purge)

    @cached_property
    def without_purging(self) -> Forecast:
        """What to expect if all K*Omega results were awaited, as in the paper's analysis."""
        return self._forecast(False)

    def _forecast(self, purge: bool) -> Forecast:
        scenario = self.scenario
        return forecast(scenario.cluster, self.split, scenario.stream, purge, scenario.overhead, scenario.condition)

    @cached_property
    def draw(self) -> Draw:
        """What one run of the scenario's jobs will show on average."""
        return self.forecast.draw(self.scenario.jobs)

    @cached_property
    def bound(self) -> Bound:
        """The paper's bound."""
        return lower_bound(self.scenario.cluster, self.scenario.spec, self.scenario.stream)

    @cached_property
    def genie(self) -> Forecast | None:
        """The genie's bound; None where it would take long."""
        scenario = self.scenario
        if len(scenario.cluster) * scenario.spec.critical > GENIE_SIZE:
            return None
        return genie_bound(scenario.cluster, scenario.spec, scenario.stream, scenario.condition)

    @cached_property
    def mismatch(self) -> float:
        """The variance of the workers' scores."""
        return mismatch(self.scenario.cluster, self.split)

    @cached_property
    def finish(self) -> NDArray[np.float64]:
        """When each worker is expected to finish its whole assignment."""
        return assignment_moments(self.scenario.cluster.tasks(self.split.spec), self.split.loads)[0]

    @cached_property
    def holds(self) -> list[float] | None:
        """What each worker holds of the data, as a part of it; None where no code of that size is known."""
        try:
            cost = shape_for(self.scenario).cost
        except BadInput:
            return None
        return [cost.held(tasks) if tasks else 0.0 for tasks in placement(self.split.loads)]

    @cached_property
    def reasons(self) -> list[str]:
        """Why a worker has no task; empty for those that have."""
        return reasons(self.scenario.cluster, self.split)

    @cached_property
    def recruitment(self) -> Recruitment | Unreachable | None:
        """The cheapest spares that meet the target (or stability), where it is not met; None where none are needed."""
        scenario, expected = self.scenario, self.forecast
        met = expected.stable if self.target is None else expected.delay <= self.target
        if met or not scenario.spares:
            return None
        try:
            return recruit(
                scenario.cluster,
                scenario.spares,
                scenario.prices,
                scenario.spec,
                scenario.stream,
                target=self.target,
                gamma=scenario.gamma,
                overhead=scenario.overhead,
                condition=scenario.condition,
            )
        except Unreachable as error:
            return error

    @cached_property
    def advice(self) -> list[str]:
        """What a planner should know, in sentences."""
        expected, stream = self.forecast, self.scenario.stream
        idle = [name for name, why in zip(self.scenario.cluster.names, self.reasons, strict=True) if why]
        said = []
        if not expected.stable:
            said.append(
                f"The queue is unstable: a job takes {expected.service_mean:.4g} s and one arrives every"
                f" {stream.interarrival_mean:.4g} s. The average delay of the first {self.draw.jobs} jobs is"
                f" {self.draw.mean:.4g} s, and it grows with their number. Add workers with a_p < theta, or keep below"
                f" {expected.most_rate:.4g} jobs per second."
            )
        elif expected.utilisation > ENOUGH:
            said.append(f"Only {expected.headroom:.1%} of the capacity is to spare: small changes move the delay far.")
        if self.target is not None and expected.stable:
            verdict = "met" if expected.delay <= self.target else "missed"
            said.append(f"The target delay of {self.target:g} s is {verdict}.")
        if self.bound.delay > expected.delay:
            said.append(
                "The paper's bound is above the delay: it averages the distance of all workers, used or not. The"
                " genie's bound is the one to trust."
            )
        if idle:
            shown = ", ".join(idle[:5]) + (f" and {len(idle) - 5} more" if len(idle) > 5 else "")
            said.append(f"Not used: {shown}. Nothing is lost here if used elsewhere.")
        match self.recruitment:
            case Recruitment() as found:
                names = ", ".join(self.scenario.spares[i].name or f"spare {i + 1}" for i in found.chosen)
                proof = "" if found.proven else " (the cheapest found; the search was cut short)"
                said.append(f"Add {names} for {found.price:g}: delay {found.forecast.delay:.4g} s{proof}.")
            case Unreachable() as error:
                said.append(f"Spares do not help: {error}.")
        return said


def plan(
    scenario: Scenario,
    *,
    policy_name: str | None = None,
    gamma: float | None = None,
    ratio: tuple[float, ...] | None = None,
    purge: bool = True,
    target: float | None = None,
) -> Plan:
    """The plan of a scenario; policy, gamma and ratio, where given, take the place of the scenario's own."""
    weight = scenario.gamma if gamma is None else gamma
    if ratio is not None and policy_name is not None:
        raise BadInput("policy", policy_name, "a ratio is a policy of its own", "give one of the two")
    shares = ratio if ratio is not None else scenario.ratio if policy_name is None else None
    if shares is not None:
        chosen = in_ratio(scenario.cluster, scenario.spec, shares, weight)
    else:
        chosen = policy(policy_name or scenario.policy)(scenario.cluster, scenario.spec, weight)
    return Plan(scenario, chosen, purge, target)
