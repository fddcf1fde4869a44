"""Draw docs/dead-heat.svg: two iterations of the worked example under an even split and under Theorem 2, simulated."""

from __future__ import annotations

from pathlib import Path

import deadheat as dh
from deadheat.paper import worked_example
from deadheat.reporting import draw_timeline, new_figure

SEED = 6


def main() -> None:
    """Write the figure."""
    cluster, spec = worked_example.cluster(), worked_example.spec()
    figure = new_figure(8, 3.6)
    axes = figure.subplots(2, 1, sharex=True)
    stream = dh.Stream(1e6, 0.0, 2)
    splits = {"the same for all": dh.uniform(cluster, spec), "all finish together": dh.split(cluster, spec)}
    for place, (title, split) in zip(axes, splits.items(), strict=True):
        trace = dh.simulate(cluster, split, stream, jobs=1, seed=SEED, timeline=True, arrivals=[0.0])
        draw_timeline(trace.timeline, cluster.names, place)
        place.set_title(f"{title}: two iterations take {trace.service[0]:.1f} s", fontsize="medium", loc="left")
    axes[0].set_xlabel("")
    axes[1].set_xlabel("seconds; pale: purged at the 50th of 55 results")
    figure.savefig(Path(__file__).parent / "dead-heat.svg")


if __name__ == "__main__":
    main()
