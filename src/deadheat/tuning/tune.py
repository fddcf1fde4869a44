"""The tuner: ranks code x parameters x split x schedule by the delay that each would have, at its true cost.

Candidates whose law is known are judged exactly, all of them but the hopeless. What is dear to judge (the search for
the fastest split, and simulations) is judged only while a bound leaves it a chance to win; of every family at least the
most promising shape is.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from deadheat.errors import BadInput
from deadheat.model import Cluster, Search, Stream, Switching, Workload
from deadheat.model.scenario import EVERYTHING
from deadheat.simulation.replicate import seeds
from deadheat.tuning.candidates import Candidate, at_hand, candidates
from deadheat.tuning.judge import Choice, Judge
from deadheat.tuning.ranking import Ranking

HOPELESS = 20.0  # times the best delay: a bound above it, and a candidate is not judged at all
Progress = Callable[[int, int, float], None]  # judged, of how many, the best delay so far


def tune(
    workload: Workload,
    cluster: Cluster,
    stream: Stream,
    search: Search = EVERYTHING,
    *,
    gamma: float = 1.0,
    condition: Switching | None = None,
    seed: int | None = 0,
    progress: Progress | None = None,
) -> Ranking:
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
    workers = at_hand(cluster, workload)
    every = list(candidates(workload, stream, search))
    if not every:
        raise BadInput("search", search, "no code of these families has these sizes", "allow more families or sizes")
    judge = Judge(workers, stream, gamma, condition, seeds(seed)[0])
    bounds = {one: judge.least_delay(one) for one in every}
    judged: list[Choice] = []
    best = math.inf
    unfit: BadInput | None = None

    def look(one: Candidate) -> None:
        nonlocal best, unfit
        try:
            judged.append(judge.judge(one, best))
        except BadInput as error:
            if error.field != "capacity":
                raise
            unfit = error  # its tasks are larger, or more, than the workers can hold
            return
        best = min(best, judged[-1].delay)
        if progress is not None:
            progress(len(judged), len(every), best)

    every.sort(key=lambda one: bounds[one])
    dear = []
    for one in every:
        if one.policy == "fastest" or not judge.is_exact(one):
            dear.append(one)
        elif bounds[one] <= HOPELESS * best:
            look(one)
    shown = {choice.family for choice in judged}
    for one in dear:
        if bounds[one] < best or one.shape.family not in shown:
            look(one)
            shown.add(one.shape.family)
    if unfit is not None and not judged:
        raise unfit
    judged.sort(key=lambda choice: (choice.delay, choice.iteration_mean, choice.work_factor))
    refused = 0
    while judged[refused].certificate is None:
        refused += 1  # there is a family that never refuses: uncoded, or what was named
        if refused == len(judged):
            raise BadInput("search", search, "every code found would lose its digits", "allow other families or sizes")
    ranked = tuple(judged[refused:])
    plain = next((choice for choice in ranked if not choice.coded), None)
    even = math.nan if plain is None else judge.break_even(workload, search.critical, plain.iteration_mean)
    return Ranking(ranked, len(every) - len(judged), refused, even)
