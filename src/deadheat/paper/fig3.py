"""Figure 3: who is active when, over three jobs, under both splits and the same arrivals."""

from typing import Any

import numpy as np

from deadheat.model import Claim, Finding, Picture, Trace
from deadheat.paper.five_workers import NOTE, spec, stream, workers
from deadheat.planning import split, uniform
from deadheat.simulation import simulate


def reproduce(seed: int) -> Finding:
    """Three jobs, task by task, on the same arrivals and the same luck."""
    cluster, code = workers(), spec()
    splits = {"uniform": uniform(cluster, code), "optimal": split(cluster, code)}
    runs = {name: simulate(cluster, s, stream(), 3, seed=seed, timeline=True) for name, s in splits.items()}

    def draw(figure: Any) -> None:
        end = max(trace.end[-1] for trace in runs.values())
        for axes, (name, trace) in zip(figure.subplots(2, 1, sharex=True), runs.items(), strict=True):
            _states(axes, trace, cluster.names)
            axes.set(title=f"{name} split", xlim=(trace.arrival[0] - 5, end + 5))
        axes.set_xlabel("time (s)")

    service = {name: float(trace.service.mean()) for name, trace in runs.items()}
    wait = {name: float(trace.wait.max()) for name, trace in runs.items()}
    claims = (
        Claim("a job takes notably less time under the optimal split", printed="notably smaller",
              ours=f"{service['optimal']:.1f} s against {service['uniform']:.1f} s",
              holds=service["optimal"] < 0.7 * service["uniform"], why="mean service of the three jobs"),
        Claim("jobs wait notably in the queue under the uniform split", printed="a notable waiting time",
              ours=f"at most {wait['uniform']:.1f} s against {wait['optimal']:.1f} s",
              holds=wait["uniform"] > wait["optimal"], why="the uniform system is unstable"),
    )  # fmt: skip
    caption = "Active workers over three jobs, one colour a job, one block an iteration; same arrivals for both splits."
    return Finding("Figure 3: states of the workers", claims, (Picture("fig3", caption, draw),), (NOTE,))


def _states(axes: Any, trace: Trace, names: list[str]) -> None:
    """A block for each iteration of each worker, from its first task to its last."""
    line = trace.timeline
    assert line is not None
    for worker in range(len(names)):
        for job in range(len(trace)):
            mine = (line.worker == worker) & (line.job == job)
            iterations = line.iteration[mine]
            firsts = np.flatnonzero(np.diff(iterations, prepend=-1))
            lasts = np.append(firsts[1:], iterations.size) - 1
            begin, end = line.begin[mine][firsts], line.end[mine][lasts]
            blocks = list(zip(begin, end - begin, strict=True))
            axes.broken_barh(blocks, (worker - 0.35, 0.7), color=f"C{job}", edgecolor="white")
    axes.set_yticks(range(len(names)), names)
    for arrived in trace.arrival:
        axes.axvline(arrived, color="grey", linestyle=":", linewidth=1)
