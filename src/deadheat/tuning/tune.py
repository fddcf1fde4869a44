"""The tuner: ranks code x parameters x split x schedule by the delay that each would have, at its true cost.

Candidates whose law is known are judged exactly, all of them but the hopeless. What is expensive to judge (the search
for the fastest split, and simulations) is judged only while a bound leaves it a chance to win; of every family at least
the most promising shape is.
"""

import math
from collections.abc import Callable

from deadheat.errors import BadInput
from deadheat.model import EVERYTHING, Cluster, Search, Stream, Switching, Workload
from deadheat.simulation import seeds
from deadheat.tuning.candidates import Candidate, candidates, with_state_transfer
from deadheat.tuning.judge import Choice, Judge
from deadheat.tuning.ranking import Ranking

HOPELESS = 20.0  # times the best delay: a bound above it, and a candidate is not judged at all
Progress = Callable[[int, int, float], None]  # judged, of how many, the best delay so far


def tune(
    workload: Workload, cluster: Cluster, stream: Stream, search: Search = EVERYTHING, *, gamma: float = 1.0,
    condition: Switching | None = None, seed: int | None = 0, progress: Progress | None = None,
) -> Ranking:  # fmt: skip
    """The best ways to run a workload on a cluster, by predicted delay.

    condition: workers that are slow for whole iterations. seed: of the simulations, where theory has no law.
    """
    for name, value, kind in (("workload", workload, Workload), ("search", search, Search),
        ("cluster", cluster, Cluster), ("stream", stream, Stream),
    ):  # fmt: skip
        if not isinstance(value, kind):
            raise BadInput(name, value, f"not a {kind.__name__}", f"give a {kind.__name__}")
    if condition is not None and not isinstance(condition, Switching):
        raise BadInput("condition", condition, "not a Switching", "give Switching(factor, enter, leave)")
    tried = list(candidates(workload, stream, search))
    if not tried:
        raise BadInput("search", search, "no code of these families has these sizes", "allow more families or sizes")
    judge = Judge(with_state_transfer(cluster, workload), stream, gamma, condition, seeds(seed)[0])
    judged = _judge_all(judge, tried, progress)
    ranked, refused = _without_refused(judged, search)
    plain = next((choice for choice in ranked if not choice.coded), None)
    even = math.nan if plain is None else judge.break_even(workload, search.critical, plain.iteration_mean)
    return Ranking(tuple(ranked), len(tried) - len(judged), refused, even)


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
