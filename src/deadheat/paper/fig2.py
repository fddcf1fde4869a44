"""Figure 2: the workers, and the score of each under both splits."""

from typing import Any

import numpy as np

from deadheat.model import Claim, Finding, Picture, assignment_moments
from deadheat.paper.five_workers import NOTE, spec, stream, workers
from deadheat.planning import split, uniform
from deadheat.queueing import forecast


def reproduce(seed: int) -> Finding:
    """Scores under the optimal and the uniform split; nothing is random here."""
    cluster, code = workers(), spec()
    tasks = cluster.tasks(code)
    splits = {"optimal": split(cluster, code), "uniform": uniform(cluster, code)}
    scores = {}
    for name, chosen in splits.items():
        first, second = assignment_moments(tasks, chosen.loads)
        scores[name] = first + chosen.gamma * second
    spread = {name: float(np.ptp(values) / values.mean()) for name, values in scores.items()}
    stable = {name: forecast(cluster, chosen, stream()).stable for name, chosen in splits.items()}

    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        place = np.arange(1, len(cluster) + 1)
        left.bar(place, tasks.std, color="tab:blue", alpha=0.5, label="standard deviation of a task")
        left.plot(place, tasks.mean, "rs", label="mean of a task")
        left.set(title="(a) workers", xlabel="worker", ylabel="seconds per task")
        comm = left.twinx()
        comm.plot(place, tasks.comm, "o", color="goldenrod", label="communication")
        comm.set_ylabel("seconds per iteration")
        left.legend(loc="upper left")
        comm.legend(loc="lower right")
        for offset, (name, values) in zip((-0.2, 0.2), scores.items(), strict=True):
            right.bar(place + offset, values, 0.4, label=name)
        right.set(title="(b) score under both splits", xlabel="worker", ylabel="E[T] + gamma E[T^2]")
        right.legend()

    claims = (
        Claim("the score is the same for all workers under the optimal split", printed="the same",
              ours=f"within {spread['optimal']:.2%}", holds=spread["optimal"] < 0.05,
              why="whole loads leave the rounding"),
        Claim("it varies notably under the uniform split", printed="a notable variance",
              ours=f"by {spread['uniform']:.0%} of its mean", holds=spread["uniform"] > 0.5,
              why="equal loads on unequal workers"),
        Claim("the uniform system is not stable, the optimal one is", printed="unstable, stable",
              ours=", ".join("stable" if stable[name] else "unstable" for name in ("uniform", "optimal")),
              holds=stable["optimal"] and not stable["uniform"], built=True,
              why="a property the seeded workers were built to have"),
    )  # fmt: skip
    caption = "Workers, and their scores under both splits (K = 1000, Omega = 1)."
    return Finding("Figure 2: workers and scores", claims, (Picture("fig2", caption, draw),), (NOTE,))
