"""Figure 7: theta and the number of active workers against K."""

from typing import Any

from deadheat.model import Claim, Finding, Picture
from deadheat.paper.hundred_workers import BEST, NOTE, TASKS, THETA, spec, workers
from deadheat.planning import split


def reproduce(seed: int) -> Finding:
    """Nothing is random here."""
    cluster = workers()
    splits = {K: split(cluster, spec(K)) for K in TASKS}
    best = splits[BEST]

    def draw(figure: Any) -> None:
        upper, lower = figure.subplots(2, 1, sharex=True)
        upper.plot(TASKS, [s.theta for s in splits.values()], "o-")
        upper.set(ylabel="theta")
        lower.step(TASKS, [s.active for s in splits.values()], where="mid")
        lower.set(ylabel="active workers", xlabel="critical tasks K")

    claims = (
        Claim("theta at K = 350", printed=f"{THETA}", ours=f"{best.theta:.2f}",
              holds=abs(best.theta - THETA) < 0.005, why="built to it", built=True),
        Claim("active workers at K = 350", printed="33 of 100", ours=f"{best.active} of {len(cluster)}",
              holds=best.active == 33, why="built to it", built=True),
    )  # fmt: skip
    picture = Picture("fig7", "Theta and active workers against K.", draw)
    return Finding("Figure 7: theta and active workers", claims, (picture,), (NOTE,))
