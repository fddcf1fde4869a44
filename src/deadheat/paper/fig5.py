"""Figure 5: the hundred workers."""

from typing import Any

import numpy as np

from deadheat.model import Claim, Finding, Picture
from deadheat.paper.hundred_workers import BEST, NOTE, spec, workers
from deadheat.planning import split


def reproduce(seed: int) -> Finding:
    """Their task times and comm, and who is used at K = 350; nothing is random here."""
    cluster = workers()
    tasks, used = cluster.tasks(spec(BEST)), split(cluster, spec(BEST)).loads > 0

    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        place = np.arange(1, len(cluster) + 1)
        for axes, values in ((left, tasks.mean), (right, tasks.comm)):
            axes.bar(place[used], values[used], color="tab:blue", label="used")
            axes.bar(place[~used], values[~used], color="lightgrey", label="not used")
        left.set(xlabel="worker", ylabel="seconds per task at K = 350")
        right.set(xlabel="worker", ylabel="seconds per iteration")
        left.legend()

    ratio = tasks.mean.max() / tasks.mean.min()
    claim = Claim(
        "the cluster is heterogeneous", printed="P = 100", holds=len(cluster) == 100, why="by construction", built=True,
        ours=f"P = {len(cluster)}, task times within a factor of {ratio:.1f}, {np.count_nonzero(used)} used at K = 350",
    )  # fmt: skip
    return Finding("Figure 5: a hundred workers", (claim,), (Picture("fig5", "The hundred workers.", draw),), (NOTE,))
