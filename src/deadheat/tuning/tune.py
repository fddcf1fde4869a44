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
    judged, unjudged = _judge_all(judge, tried, progress)
    ranked, refused = _without_refused(judged, search)
    best = ranked[0]
    even = math.nan if best.coded else judge.break_even(workload, search.critical, best.iteration_mean)
    return Ranking(tuple(ranked), len(tried) - len(judged) - unjudged, refused, even, unjudged)


def _judge_all(judge: Judge, tried: list[Candidate], progress: Progress | None) -> tuple[list[Choice], int]:
    """The exact ones first, all but the hopeless; then what is expensive to judge, while a bound leaves it a chance.

    Also how many were not judged because the time was up; of every family at least one is.
    """
    bounds = {candidate: judge.least_delay(candidate) for candidate in tried}
    costs = {candidate: judge.seconds(candidate) for candidate in tried}
    ordered = sorted(tried, key=lambda candidate: (bounds[candidate], costs[candidate]))
    expensive = [c for c in ordered if c.policy == "fastest" or not judge.is_exact(c)]
    cheap = [c for c in ordered if c.policy != "fastest" and judge.is_exact(c)]
    chosen = _affordable(cheap, costs)
    judged: list[Choice] = []
    best, seconds, unjudged = math.inf, 0.0, len(cheap) - len(chosen)
    unfit: BadInput | None = None

    def look(candidate: Candidate) -> None:
        nonlocal best, seconds, unfit
        seconds += costs[candidate]
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

    for candidate in chosen:
        if bounds[candidate] <= HOPELESS * best:
            look(candidate)
    shown = {choice.family for choice in judged}
    for candidate in expensive:
        in_time = seconds + costs[candidate] <= LONGEST
        if candidate.shape.family not in shown or (bounds[candidate] < best and in_time):
            look(candidate)
            shown.add(candidate.shape.family)
        elif bounds[candidate] < best:
            unjudged += 1
    if unfit is not None and not judged:
        raise unfit
    return judged, unjudged


def _affordable(ordered: list[Candidate], costs: dict[Candidate, float]) -> list[Candidate]:
    """All of them, or where these would take too long some: the promising ones, and ever fewer of the others."""
    seconds, places = np.array([costs[candidate] for candidate in ordered]), np.arange(len(ordered))
    while seconds[places].sum() > LONGEST / 3 and places.size > 1:
        places = np.unique((np.linspace(0.0, 1.0, places.size * 3 // 4) ** 2 * (len(ordered) - 1)).astype(int))
    return [ordered[place] for place in places]


def _without_refused(judged: list[Choice], search: Search) -> tuple[list[Choice], int]:
    """Choices by delay, without those at the front whose codes would lose too many digits; how many these are."""
    ranked = sorted(judged, key=lambda choice: (choice.delay, choice.iteration_mean, choice.work_factor))
    for refused, choice in enumerate(ranked):
        if choice.certificate is not None:
            return ranked[refused:], refused
    raise BadInput("search", search, "every code found would lose its digits", "allow other families or sizes")
