"""Figures: each draws on axes that it is given, or on new ones, and returns them. Needs the extra `plot`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.errors import BadInput
from deadheat.model import Trace
from deadheat.reporting.files import Missing
from deadheat.simulation import Outcome
from deadheat.tuning import Ranking

FORMATS = (".png", ".svg", ".pdf")


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


def draw_comparison(outcomes: Sequence[Outcome], axes: Any = None) -> Any:
    """Mean delays with intervals, one bar per scheme; a mark where the forecast lies."""
    axes = new_figure(8, 1 + 0.4 * len(outcomes)).add_subplot() if axes is None else axes
    places = np.arange(len(outcomes))[::-1]
    means = [o.sample.delay.mean for o in outcomes]
    reach = [o.sample.delay.high - o.sample.delay.mean for o in outcomes]
    axes.barh(places, means, xerr=reach, color="tab:blue", alpha=0.7, label="simulated, 95 % interval")
    known = [(o.forecast, y) for o, y in zip(outcomes, places, strict=True) if o.forecast is not None]
    shown = [(x, y) for x, y in known if np.isfinite(x)]
    if shown:
        axes.plot(*zip(*shown, strict=True), "k|", markersize=14, label="forecast")
    axes.set_yticks(places, [o.scheme.name for o in outcomes])
    axes.set_xlabel("mean delay of a job (s)")
    axes.legend()
    return axes


def draw_timeline(trace: Trace, names: Sequence[str], axes: Any = None) -> Any:
    """Who works when: a row per worker, a colour per job; purged work is pale."""
    if trace.timeline is None:
        raise BadInput("trace", trace, "has no timeline", "simulate with timeline=True")
    line = trace.timeline
    axes = new_figure(9, 1 + 0.5 * len(names)).add_subplot() if axes is None else axes
    for worker in range(len(names)):
        for job in np.unique(line.job):
            for done, alpha in ((True, 0.9), (False, 0.3)):
                mine = (line.worker == worker) & (line.job == job) & (line.done == done)
                spans = np.column_stack([line.begin[mine], line.end[mine] - line.begin[mine]])
                axes.broken_barh(spans, (worker - 0.4, 0.8), color=f"C{job % 10}", alpha=alpha, linewidth=0)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("time (s)")
    return axes


def draw_frontier(ranking: Ranking, axes: Any = None) -> Any:
    """Delay against work, a mark per choice and a colour per family; a line along what no other choice beats."""
    axes = new_figure(8, 5).add_subplot() if axes is None else axes
    for number, family in enumerate(choice.family for choice in ranking.leaders):
        mine = [c for c in ranking if c.family == family and np.isfinite(c.delay)]
        places = [c.work_factor for c in mine], [c.delay for c in mine]
        axes.plot(*places, "o", color=f"C{number % 10}", alpha=0.6, markersize=4, label=family)
    best = ranking.frontier
    axes.plot([c.work_factor for c in best], [c.delay for c in best], "k.-", label="not beaten in both")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("work done, in plain iterations (K C/W)")
    axes.set_ylabel("predicted mean delay of a job (s)")
    axes.legend(fontsize="small")
    return axes


def save_comparison(outcomes: Sequence[Outcome], path: Path) -> None:
    """Draw a comparison into a file."""
    _save(draw_comparison(outcomes), path)


def save_frontier(ranking: Ranking, path: Path) -> None:
    """Draw delay against work into a file."""
    _save(draw_frontier(ranking), path)


def _save(axes: Any, path: Path) -> None:
    if path.suffix not in FORMATS:
        raise BadInput("--figure", str(path), "unknown ending", "use " + ", ".join(FORMATS))
    try:
        axes.figure.savefig(path)
    except OSError as error:
        raise BadInput("--figure", str(path), error.strerror or "cannot be written", "name another file") from None
