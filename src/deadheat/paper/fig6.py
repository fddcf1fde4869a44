"""Figure 6: mismatch against K (Algorithm 1)."""

from itertools import pairwise
from typing import Any

from deadheat.model import Claim, Finding, Picture
from deadheat.paper.hundred_workers import BEST, NOTE, TASKS, spec, workers
from deadheat.planning import choose, mismatch, split


def reproduce(seed: int) -> Finding:
    """Over all workers as printed, and over the active ones; nothing is random here."""
    cluster = workers()
    splits = {K: split(cluster, spec(K)) for K in TASKS}
    everyone = {K: mismatch(cluster, s) for K, s in splits.items()}
    active = {K: mismatch(cluster, s, active_only=True) for K, s in splits.items()}
    chosen = choose(cluster, (spec(K) for K in TASKS)).spec.critical
    worst = max(everyone, key=everyone.__getitem__)
    values = list(everyone.values())
    rises = sum(b > a for a, b in pairwise(values))

    def draw(figure: Any) -> None:
        upper, lower = figure.subplots(2, 1, sharex=True)
        upper.plot(TASKS, values, "o-")
        upper.axvline(BEST, color="tab:red", linestyle=":", label=f"K = {BEST}")
        upper.set(ylabel="mismatch, all workers")
        upper.legend()
        lower.plot(TASKS, list(active.values()), "o-", color="tab:green")
        lower.set(ylabel="active workers only", xlabel="critical tasks K", yscale="log")

    claims = (
        Claim("K of the least mismatch", printed="350", ours=str(chosen), holds=chosen == BEST,
              why="Algorithm 1; built to it", built=True),
        Claim("K of the greatest mismatch", printed="110", ours=str(worst), holds=worst == 110,
              why="built to it", built=True),
        Claim("mismatch does not fall strictly with K", printed="not strictly decreasing",
              ours=f"it rises at {rises} of {len(values) - 1} steps", holds=rises > 0, why="whole loads jump"),
        Claim("counting active workers only", printed="(not in the paper)",
              ours=f"K = {min(active, key=active.__getitem__)} would win", holds=True,
              why="as printed idle workers score 0, so the number of active ones rules; it changes the winner"),
    )  # fmt: skip
    return Finding("Figure 6: mismatch against K", claims, (Picture("fig6", "Mismatch against K.", draw),), (NOTE,))
