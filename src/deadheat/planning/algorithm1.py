"""Algorithm 1: among several codes' parameters, those whose optimal split costs least."""

from collections.abc import Callable, Iterable

from deadheat.errors import BadInput
from deadheat.model import Cluster, CodeSpec, Split, checked
from deadheat.planning.mismatch import mismatch
from deadheat.planning.split import split


@checked
def choose(
    cluster: Cluster, specs: Iterable[CodeSpec], gamma: float = 1.0, cost: Callable[[Cluster, Split], float] = mismatch
) -> Split:
    """The optimal split of the cheapest spec (the first of equals); its .spec tells which won.

    cost: any function of cluster and split; the paper's is the mismatch. A forecast's delay is a better judge where
    it can be afforded: `lambda c, s: forecast(c, s, stream).delay`.
    """
    candidates = [split(cluster, spec, gamma) for spec in specs]
    if not candidates:
        raise BadInput("specs", [], "no code to choose from", "give at least one CodeSpec")
    return min(candidates, key=lambda candidate: cost(cluster, candidate))
