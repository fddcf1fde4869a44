"""A plan: all that can be said of a scenario before anything runs, computed once."""

from dataclasses import dataclass, replace

from deadheat.coding import placement
from deadheat.errors import BadInput
from deadheat.model import Array, Scenario, Split, assignment_moments, checked
from deadheat.planning import POLICIES, Recruitment, Unreachable, in_ratio, mismatch, recruit
from deadheat.queueing import Bound, Draw, Forecast, forecast, genie_bound, lower_bound, reasons
from deadheat.tuning.shape_for import shape_for

GENIE_SIZE = 100_000  # workers * K up to which the genie's bound is worth its second
ENOUGH = 0.8  # utilisation above which one should think of more workers: the wait is twice the service time


@dataclass(frozen=True, eq=False)
class Plan:
    """The split of a scenario, its forecast, its bounds and what follows from them.

    draw: what one run of the scenario's jobs will show on average. bound: the paper's. genie: the genie's bound; None
    where it would take long. mismatch: the variance of the workers' scores. finish: when each worker is expected to
    finish its whole assignment. holds: what each worker holds of the data, as a part of it; None where no code of that
    size is known. reasons: why a worker has no task; empty for those that have. recruitment: the cheapest spares that
    meet the target (or stability), where it is not met; None where none are needed.
    """

    scenario: Scenario
    split: Split
    purge: bool
    target: float | None
    forecast: Forecast
    draw: Draw
    bound: Bound
    genie: Forecast | None
    mismatch: float
    finish: Array
    holds: list[float] | None
    reasons: list[str]
    recruitment: Recruitment | Unreachable | None

    @property
    def advice(self) -> list[str]:
        """What a planner should know, in sentences."""
        expected, stream = self.forecast, self.scenario.stream
        idle = [name for name, why in zip(self.scenario.cluster.names, self.reasons, strict=True) if why]
        advice = []
        if not expected.stable:
            advice.append(
                f"The queue is unstable: a job takes {expected.service_mean:.4g} s and one arrives every"
                f" {stream.interarrival_mean:.4g} s. The average delay of the first {self.draw.jobs} jobs is"
                f" {self.draw.mean:.4g} s, and it grows with their number. Add workers with a_p < theta, or keep below"
                f" {expected.most_rate:.4g} jobs per second."
            )
        elif expected.utilisation > ENOUGH:
            spare = f"Only {expected.headroom:.1%} of the capacity is to spare"
            advice.append(f"{spare}: small changes move the delay far.")
        if self.target is not None and expected.stable:
            verdict = "met" if expected.delay <= self.target else "missed"
            advice.append(f"The target delay of {self.target:g} s is {verdict}.")
        if self.bound.delay > expected.delay:
            advice.append(
                "The paper's bound is above the delay: it averages the comm of all workers, used or not. The"
                " genie's bound is the one to trust."
            )
        if idle:
            shown = ", ".join(idle[:5]) + (f" and {len(idle) - 5} more" if len(idle) > 5 else "")
            advice.append(f"Not used: {shown}. Nothing is lost here if used elsewhere.")
        match self.recruitment:
            case Recruitment() as recruits:
                names = ", ".join(self.scenario.spares[i].name or f"spare {i + 1}" for i in recruits.chosen)
                proof = "" if recruits.proven else " (the cheapest found; the search was cut short)"
                advice.append(f"Add {names} for {recruits.price:g}: delay {recruits.forecast.delay:.4g} s{proof}.")
            case Unreachable() as error:
                advice.append(f"Spares do not help: {error}.")
        return advice


@checked
def plan(
    scenario: Scenario, *, policy: str | None = None, gamma: float | None = None,
    ratio: tuple[float, ...] | None = None, purge: bool = True, target: float | None = None,
) -> Plan:  # fmt: skip
    """The plan of a scenario; policy, gamma and ratio, where given, take the place of the scenario's own."""
    cluster, spec, stream = scenario.cluster, scenario.spec, scenario.stream
    split = split_of(scenario, policy=policy, gamma=gamma, ratio=ratio)
    expected = forecast(cluster, split, stream, purge, scenario.overhead, scenario.condition)
    small = len(cluster) * spec.critical <= GENIE_SIZE
    return Plan(
        scenario=scenario, split=split, purge=purge, target=target,
        forecast=expected, draw=expected.draw(scenario.jobs), bound=lower_bound(cluster, spec, stream),
        genie=genie_bound(cluster, spec, stream, scenario.condition) if small else None,
        mismatch=mismatch(cluster, split), finish=assignment_moments(cluster.tasks(spec), split.loads)[0],
        holds=_holds(scenario, split), reasons=reasons(cluster, split),
        recruitment=_recruitment(scenario, expected, target),
    )  # fmt: skip


def split_of(
    scenario: Scenario, *, policy: str | None = None, gamma: float | None = None,
    ratio: tuple[float, ...] | None = None,
) -> Split:  # fmt: skip
    """The split of a scenario's tasks; policy, gamma and ratio, where given, take the place of its own."""
    weight = scenario.gamma if gamma is None else gamma
    if ratio is not None and policy is not None:
        raise BadInput("policy", policy, "a ratio is a policy of its own", "give one of the two")
    shares = ratio if ratio is not None else scenario.ratio if policy is None else None
    if shares is not None:
        return in_ratio(scenario.cluster, scenario.spec, shares, weight)
    name = scenario.policy if policy is None else policy
    split = POLICIES.find(name, None if policy is None else "policy")(scenario.cluster, scenario.spec, weight)
    return replace(split, policy=name) if split.policy == "given" else split


def _holds(scenario: Scenario, split: Split) -> list[float] | None:
    try:
        cost = shape_for(scenario).cost
    except BadInput:
        return None
    return [cost.held(tasks) if tasks else 0.0 for tasks in placement(split.loads)]


def _recruitment(scenario: Scenario, expected: Forecast, target: float | None) -> Recruitment | Unreachable | None:
    met = expected.stable if target is None else expected.delay <= target
    if met or not scenario.spares:
        return None
    try:
        return recruit(
            scenario.cluster, scenario.spares, scenario.prices, scenario.spec, scenario.stream, target=target,
            gamma=scenario.gamma, overhead=scenario.overhead, condition=scenario.condition,
        )  # fmt: skip
    except Unreachable as error:
        return error
