"""The paper again: one experiment per figure, table and printed number. Each takes a seed and returns a Finding."""

from collections.abc import Callable, Mapping

from deadheat.model import Finding
from deadheat.paper import fig2, fig3, fig4, fig5, fig6, fig7, fig8, table2, traces, worked_example
from deadheat.paper.errata import ERRATA

Experiment = Callable[[int], Finding]  # of a seed
EXPERIMENTS: Mapping[str, Experiment] = {
    "worked-example": worked_example.reproduce, "fig2": fig2.reproduce, "fig3": fig3.reproduce,
    "fig4": fig4.reproduce, "fig5": fig5.reproduce, "fig6": fig6.reproduce, "fig7": fig7.reproduce,
    "table2": table2.reproduce, "fig8": fig8.reproduce, "traces": traces.reproduce,
}  # fmt: skip
