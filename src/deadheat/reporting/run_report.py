"""The report of a real run: one HTML page that stands alone, with its figures in it."""

import io
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.model import Timeline
from deadheat.reporting.columns import Column, html_table
from deadheat.reporting.figures import draw_timeline, new_figure
from deadheat.reporting.html_page import html_page
from deadheat.reporting.number_format import seconds, seconds_range
from deadheat.reporting.run_tables import COMPARED, WORKERS, remarks
from deadheat.reporting.write_files import write_text
from deadheat.runtime import Compared, Run, WorkerReport

SHOWN = 6  # iterations in the timeline
ABOUT: list[Column[tuple[str, Any]]] = [Column("", lambda pair: pair[0]), Column("", lambda pair: str(pair[1]))]
INTERVAL: Column[Compared] = Column("95 % interval", lambda row: seconds_range(row.measured.low, row.measured.high))
MEASURED: list[Column[WorkerReport]] = [
    Column("a unit of work", lambda worker: seconds(worker.mean)),
    Column("comm", lambda worker: seconds(worker.comm)),
]


def write_run_report(run: Run, path: Path, heading: str, about: Mapping[str, Any]) -> None:
    """Write the page; whole or not at all."""
    outcome, line, names = run.outcome, run.record.timeline(run.origin), run.cluster.names
    body = [
        f"<h1>{escape(heading)}</h1>",
        html_table(ABOUT, about.items()),
        "<h2>Forecast and measurement</h2>",
        html_table([*COMPARED, INTERVAL], outcome.compared),
        *(f'<p class="note">{escape(sentence)}</p>' for sentence in remarks(outcome)),
        _figure(_iterations(run), "Every iteration, the forecast's mean, and with the overhead that was measured."),
        "<h2>Workers</h2>",
        html_table([*WORKERS, *MEASURED], outcome.workers),
        _figure(_first(line, names), f"Who works when, in the first {SHOWN} iterations; pale is purged."),
    ]
    write_text(html_page(heading, "".join(body)), path)


def _figure(axes: Any, caption: str) -> str:
    file = io.StringIO()
    axes.figure.savefig(file, format="svg")
    drawing = file.getvalue()
    return f"<figure>{drawing[drawing.index('<svg') :]}<figcaption>{escape(caption)}</figcaption></figure>"


def _iterations(run: Run) -> Any:
    """The time of every iteration beside its forecast."""
    axes = new_figure(9, 3).add_subplot()
    took = np.array(run.record.iterations) + np.array(run.record.at_master)
    axes.plot(np.arange(took.size), took, ".", label="measured")
    if run.outcome.compared:
        row = run.outcome.compared[0]
        axes.axhline(row.forecast.mean, color="k", linestyle=":", label="forecast")
        axes.axhline(row.with_overhead.mean, color="k", label="forecast and overhead")
    axes.set(xlabel="iteration", ylabel="seconds", ylim=(0, None))
    axes.legend(fontsize="small")
    return axes


def _first(line: Timeline, names: Sequence[str]) -> Any:
    """The first iterations of the first job."""
    shown = (line.job == line.job.min(initial=0)) & (line.iteration < SHOWN) & (line.worker < len(names))
    return draw_timeline(Timeline(*(column[shown] for column in line.columns().values())), names)
