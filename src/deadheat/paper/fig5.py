"""Figure 5: the hundred workers."""

from __future__ import annotations

from typing import Any

import numpy as np

from deadheat.model.finding import Claim, Finding, Picture
from deadheat.paper.hundred_workers import BEST, NOTE, point, spec, workers


def reproduce(seed: int) -> Finding:
    """Their task times and shifts, and who is used at K = 350; nothing is random here."""
    cluster, best = workers(), point(BEST)
    tasks = cluster.scaled(spec(BEST).work)
    used = best.split.loads > 0

    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        place = np.arange(1, len(cluster) + 1)
        for axes, values, label in (
            (left, tasks.mean, "seconds per task at K = 350"),
            (right, tasks.comm, "seconds per iteration"),
        ):
            axes.bar(place[used], values[used], color="tab:blue", label="used")
            axes.bar(place[~used], values[~used], color="lightgrey", label="not used")
            axes.set(xlabel="worker", ylabel=label)
        left.legend()

    claim = Claim(
        "the cluster is heterogeneous",
        "P = 100",
        f"P = {len(cluster)}, task times within a factor of {tasks.mean.max() / tasks.mean.min():.1f},"
        f" {np.count_nonzero(used)} used at K = 350",
        len(cluster) == 100,
        "by construction",
        built=True,
    )
    return Finding("Figure 5: a hundred workers", (claim,), (Picture("fig5", "The hundred workers.", draw),), (NOTE,))
