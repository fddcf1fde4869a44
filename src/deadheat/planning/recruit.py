"""Whom to add: the cheapest spare workers that make the queue stable or meet a delay (section IV-A).

The paper adds workers and repeats until the queue is stable. With prices that is a search for the cheapest set:
branch and bound over the spares, cheapest first. A branch ends when it costs as much as the best set so far, or when
even with all the spares still open it does not suffice: up to the rounding of loads, more workers do not hurt.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from deadheat.errors import BadInput, DeadheatError, finite
from deadheat.model import NONE, Cluster, CodeSpec, Overhead, Split, Stream, Switching, Worker, checked
from deadheat.planning.split import Policy, split
from deadheat.queueing import Forecast, forecast

MOST_FORECASTS = 1000


class Unreachable(DeadheatError):
    """Not even all spare workers together meet the target; `forecast` is what they reach."""

    def __init__(self, spares: int, target: float | None, best: Forecast) -> None:
        wanted = "a stable queue" if target is None else f"a delay of {target:g} s"
        reached = f"the delay is {best.delay:.6g} s at utilisation {best.utilisation:.3g}"
        super().__init__(f"{wanted} is out of reach: with all {spares} spare workers {reached}")
        self.forecast = best


@dataclass(frozen=True)
class Recruitment:
    """Which spares to add (places in the pool) and what follows; `proven` unless the search was cut short."""

    chosen: tuple[int, ...]
    price: float
    cluster: Cluster
    split: Split
    forecast: Forecast
    proven: bool


@checked
def recruit(
    cluster: Cluster, pool: Sequence[Worker], prices: Sequence[float], spec: CodeSpec, stream: Stream, *,
    target: float | None = None, gamma: float = 1.0, policy: Policy = split, overhead: Overhead = NONE,
    condition: Switching | None = None,
) -> Recruitment:  # fmt: skip
    """The cheapest set of spare workers that makes the queue stable, or the mean delay at most `target` seconds.

    Raises Unreachable where the whole pool does not suffice. Workers that would get no task are never part of it.
    """
    if len(prices) != len(pool):
        raise BadInput("prices", list(prices), f"{len(prices)} prices for {len(pool)} workers", "give one each")
    costs = [finite(f"prices[{i}]", p, "give a price from 0 on", least=0.0) for i, p in enumerate(prices)]
    if target is not None:
        finite("target", target, "give a delay in seconds, above 0", above=0.0)
    order = sorted(range(len(pool)), key=lambda i: (costs[i], i))
    seen: dict[frozenset[int], tuple[Cluster, Split, Forecast]] = {}

    def outcome(members: frozenset[int]) -> tuple[Cluster, Split, Forecast]:
        if members not in seen:
            joined = cluster + [pool[i] for i in sorted(members)] if members else cluster
            chosen = policy(joined, spec, gamma)
            seen[members] = joined, chosen, forecast(joined, chosen, stream, overhead=overhead, condition=condition)
        return seen[members]

    def meets(members: frozenset[int]) -> bool:
        expected = outcome(members)[2]
        return expected.stable if target is None else expected.delay <= target

    everyone = frozenset(order)
    if not meets(everyone):
        raise Unreachable(len(pool), target, outcome(everyone)[2])
    best, least, proven = everyone, (sum(costs), len(pool)), True

    def search(taken: frozenset[int], price: float, rest: list[int]) -> None:
        """Extend the set by any of the rest; what suffices and is cheaper, or as cheap and smaller, is the best."""
        nonlocal best, least, proven
        if (price, len(taken)) >= least:
            return
        if meets(taken):
            best, least = taken, (price, len(taken))
            return
        for place, spare in enumerate(rest):
            if len(seen) > MOST_FORECASTS:
                proven = False
                return
            if price + costs[spare] > least[0] or not meets(taken | frozenset(rest[place:])):
                return  # the rest is dearer, or too little without those before
            search(taken | {spare}, price + costs[spare], rest[place + 1 :])

    search(frozenset(), 0.0, order)
    return Recruitment(tuple(sorted(best)), least[0], *outcome(best), proven)
