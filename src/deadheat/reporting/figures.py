"""Figures: each draws on axes that it is given, or on new ones, and returns them. Needs the extra `plot`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from deadheat.model import Timeline
from deadheat.reporting.write_files import Missing
from deadheat.simulation import Comparison
from deadheat.tuning import Ranking


def new_figure(width: float = 8, height: float = 4) -> Any:
    """A new figure, drawn without a screen."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise Missing("matplotlib", "plot") from None
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def draw_comparison(compared: Sequence[Comparison], axes: Any = None) -> Any:
    """Mean delays with intervals, one bar per scheme; a mark where the forecast lies."""
    axes = new_figure(8, 1 + 0.4 * len(compared)).add_subplot() if axes is None else axes
    places = np.arange(len(compared))[::-1]
    delays = [row.sample.delay for row in compared]
    means, half_widths = [d.mean for d in delays], [d.high - d.mean for d in delays]
    axes.barh(places, means, xerr=half_widths, color="tab:blue", alpha=0.7, label="simulated, 95 % interval")
    forecasts = [np.nan if row.forecast is None else row.forecast for row in compared]
    shown = [(x, y) for x, y in zip(forecasts, places, strict=True) if np.isfinite(x)]
    if shown:
        axes.plot(*zip(*shown, strict=True), "k|", markersize=14, label="forecast")
    axes.set_yticks(places, [row.scheme.name for row in compared])
    axes.set_xlabel("mean delay of a job (s)")
    axes.legend()
    return axes


def draw_timeline(line: Timeline, names: Sequence[str], axes: Any = None) -> Any:
    """Who works when: a row per worker, a colour per job; purged work is pale."""
    axes = new_figure(9, 1 + 0.5 * len(names)).add_subplot() if axes is None else axes
    for worker in range(len(names)):
        for job in np.unique(line.job):
            for done, alpha in ((True, 0.9), (False, 0.3)):
                mine = (line.worker == worker) & (line.job == job) & (line.done == done)
                spans = np.column_stack([line.begin[mine], line.end[mine] - line.begin[mine]])
                axes.broken_barh(spans, (worker - 0.4, 0.8), color=f"C{job % 10}", alpha=alpha, linewidth=0)
    axes.set_yticks(range(len(names)), names)
    axes.set(xlabel="time (s)", ylim=(len(names) - 0.5, -0.5))
    return axes


def draw_frontier(ranking: Ranking, axes: Any = None) -> Any:
    """Delay against work, a mark per choice and a colour per family; a line along what no other choice beats."""
    axes = new_figure(8, 5).add_subplot() if axes is None else axes
    for number, family in enumerate(choice.family for choice in ranking.leaders):
        mine = [choice for choice in ranking if choice.family == family and np.isfinite(choice.delay)]
        work, delays = [choice.work_factor for choice in mine], [choice.delay for choice in mine]
        axes.plot(work, delays, "o", color=f"C{number % 10}", alpha=0.6, markersize=4, label=family)
    best = ranking.frontier
    axes.plot([c.work_factor for c in best], [c.delay for c in best], "k.-", label="not beaten in both")
    labels = {"xlabel": "work done, in plain iterations (K C/W)", "ylabel": "predicted mean delay of a job (s)"}
    axes.set(xscale="log", yscale="log", **labels)
    axes.legend(fontsize="small")
    return axes
