"""The paper again: one experiment per figure, table and printed number. Each takes a seed and returns a Finding."""

from __future__ import annotations

from collections.abc import Mapping

from deadheat.paper.experiment import Claim, Experiment, Finding, Picture
from deadheat.paper.fig2 import fig2
from deadheat.paper.fig3 import fig3
from deadheat.paper.fig4 import fig4
from deadheat.paper.fig5 import fig5
from deadheat.paper.fig6 import fig6
from deadheat.paper.fig7 import fig7
from deadheat.paper.fig8 import fig8
from deadheat.paper.table2 import table2
from deadheat.paper.traces import traces
from deadheat.paper.worked_example_runs import worked_example as _worked_example

EXPERIMENTS: Mapping[str, Experiment] = {
    "worked-example": _worked_example,
    "fig2": fig2,
    "fig3": fig3,
    "fig4": fig4,
    "fig5": fig5,
    "fig6": fig6,
    "fig7": fig7,
    "table2": table2,
    "fig8": fig8,
    "traces": traces,
}

__all__ = ["EXPERIMENTS", "Claim", "Experiment", "Finding", "Picture"]
