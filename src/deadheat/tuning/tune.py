"""The tuner: ranks code x parameters x split x schedule by the delay that each would have, at its true cost.

Candidates whose law is known are judged exactly, all of them but the hopeless. What is expensive to judge (the search
for the fastest split, and simulations) is judged only while a bound leaves it a chance to win; of every family at least
the most promising shape is. On very large clusters only some are judged, so that the answer comes in bounded time.
"""

import math
from collections.abc import Callable

import numpy as np

from deadheat.errors import BadInput
from deadheat.model import EVERYTHING, Cluster, Search, Stream, Switching, Workload, checked
from deadheat.simulation import seeds
from deadheat.tuning.candidates import Candidate, candidates, with_state_transfer
from deadheat.tuning.judge import LONGEST, Choice, Judge
from deadheat.tuning.ranking import Ranking

HOPELESS = 20.0  # times the best delay: a bound above it, and a candidate is not judged at all
Progress = Callable[[int, int, float], None]  # judged, of how many, the best delay so far


@checked
def tune(
    workload: Workload, cluster: Cluster, stream: Stream, search: Search = EVERYTHING, *, gamma: float = 1.0,
    condition: Switching | None = None, seed: int | None = 0, progress: Progress | None = None,
) -> Ranking:  # fmt: skip
    """The best ways to run a workload on a cluster, by predicted delay.

    condition: workers that are slow for whole iterations. seed: of the simulations, where theory has no law.
    """
    tried = list(candidates(workload, stream, search))
    if not tried:
        raise BadInput("search", search, "no code of these families has these sizes", "allow more families or sizes")
    judge = Judge(with_state_transfer(cluster, workload), stream, gamma, condition, seeds(seed)[0])
    affordable = _affordable(judge, tried)
    judged = _judge_all(judge, affordable, progress)
    ranked, refused = _without_refused(judged, search)
    best, even = ranked[0], math.nan
    if not best.coded:
        even = judge.break_even(workload, search.critical, best.iteration_mean)
    return Ranking(
        tuple(ranked), len(affordable) - len(judged), refused, even, unjudged=len(tried) - len(affordable)
    )  # fmt: skip


def _affordable(judge: Judge, tried: list[Candidate]) -> list[Candidate]:
    """All of them, or where these would take too long some: the promising more densely, and one of every family."""
    ordered = sorted(tried, key=judge.least_delay)
    costs = np.array([judge.seconds(candidate) for candidate in ordered])
    number = len(ordered)
    places = np.arange(number)
    while costs[places].sum() > LONGEST and number > 1:
        number = number * 3 // 4
        places = np.unique((np.linspace(0.0, 1.0, number) ** 2 * (len(ordered) - 1)).astype(int))
    if places.size == len(ordered):
        return tried
    cheapest = {ordered[place].shape.family: place for place in np.argsort(-costs, kind="stable").tolist()}
    return [ordered[place] for place in sorted({*places.tolist(), *cheapest.values()})]


def _judge_all(judge: Judge, tried: list[Candidate], progress: Progress | None) -> list[Choice]:
    """The exact ones first, all but the hopeless; then what is expensive to judge, while a bound leaves it a chance."""
    bounds = {candidate: judge.least_delay(candidate) for candidate in tried}
    judged: list[Choice] = []
    best = math.inf
    unfit: BadInput | None = None

    def look(candidate: Candidate) -> None:
        nonlocal best, unfit
        try:
            judged.append(judge.judge(candidate, best))
        except BadInput as error:
            if error.field != "capacity":
                raise
            unfit = error  # its tasks are larger, or more, than the workers can hold
            return
        best = min(best, judged[-1].delay)
        if progress is not None:
            progress(len(judged), len(tried), best)

    expensive = []
    for candidate in sorted(tried, key=lambda candidate: bounds[candidate]):
        if candidate.policy == "fastest" or not judge.is_exact(candidate):
            expensive.append(candidate)
        elif bounds[candidate] <= HOPELESS * best:
            look(candidate)
    shown = {choice.family for choice in judged}
    for candidate in expensive:
        if bounds[candidate] < best or candidate.shape.family not in shown:
            look(candidate)
            shown.add(candidate.shape.family)
    if unfit is not None and not judged:
        raise unfit
    return judged


def _without_refused(judged: list[Choice], search: Search) -> tuple[list[Choice], int]:
    """Choices by delay, without those at the front whose codes would lose too many digits; how many these are."""
    ranked = sorted(judged, key=lambda choice: (choice.delay, choice.iteration_mean, choice.work_factor))
    for refused, choice in enumerate(ranked):
        if choice.certificate is not None:
            return ranked[refused:], refused
    raise BadInput("search", search, "every code found would lose its digits", "allow other families or sizes")
