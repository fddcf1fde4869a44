"""The split of an iteration's tasks over the workers: Theorem 2, or the balance of another score."""

from collections.abc import Callable, Sequence

from deadheat.model import Cluster, CodeSpec, Split, checked
from deadheat.planning.equalise import equalise
from deadheat.planning.fixed_ratio import caps, in_ratio
from deadheat.planning.rounding import apportion
from deadheat.planning.score import Moments, Score

Policy = Callable[[Cluster, CodeSpec, float], Split]  # of cluster, spec and gamma


@checked
def split(
    cluster: Cluster, spec: CodeSpec, gamma: float = 1.0, *,
    score: Score | None = None, ratio: Sequence[float] | None = None,
) -> Split:  # fmt: skip
    """Give every active worker the same score, by default the paper's E[T] + gamma E[T^2] (Theorem 2).

    gamma: weight of the second moment in 1/second; 0 balances the mean alone.
    score: balance another score instead, such as `Quantile(0.9)`.
    ratio: do not balance at all but share the tasks in this proportion, one number per worker.
    Loads respect each worker's capacity. Raises BadInput for input that cannot be meant.
    """
    if ratio is not None:
        return in_ratio(cluster, spec, ratio, gamma)
    tasks = cluster.tasks(spec)
    chosen = Moments(gamma) if score is None else score
    shares, theta = equalise(tasks, spec.total, chosen, caps(tasks))
    weight = getattr(chosen, "gamma", 0.0)  # a score without it starts at c_p, as gamma = 0 does
    return Split(spec, apportion(shares, spec.total), shares, theta, weight, "optimal" if score is None else "balanced")
