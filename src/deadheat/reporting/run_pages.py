"""The report of a real run: one HTML page that stands alone, with its figures in it."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.model import Timeline, Trace
from deadheat.reporting.figures import draw_timeline, new_figure
from deadheat.reporting.files import write_text
from deadheat.reporting.numbers import seconds
from deadheat.reporting.report import page
from deadheat.reporting.runs import remarks
from deadheat.runtime import Run

SHOWN = 6  # iterations in the timeline


def write_run_page(run: Run, path: Path, heading: str, about: Mapping[str, Any]) -> None:
    """Write the page; whole or not at all."""
    outcome, trace = run.outcome, run.trace
    workers = [
        (
            one.name, one.load, one.done, one.purged, seconds(one.late), f"{one.relative:.2f}",
            f"{one.individual:.2f}", one.state, seconds(one.mean), seconds(one.comm),
        )
        for one in outcome.workers
    ]  # fmt: skip
    compared = [
        (
            row.what, seconds(row.forecast.mean), seconds(row.with_overhead.mean),
            f"{seconds(row.with_overhead.low)} to {seconds(row.with_overhead.high)}", seconds(row.measured.mean),
            f"{seconds(row.measured.low)} to {seconds(row.measured.high)}", f"{row.ratio:.3f}",
        )
        for row in outcome.compared
    ]  # fmt: skip
    heads = (
        "worker", "share", "done", "purged", "busy with purged work", "score", "of its best", "state",
        "a unit of work", "on the way",
    )  # fmt: skip
    body = [
        f"<h1>{escape(heading)}</h1>",
        _table(("", ""), [(key, str(value)) for key, value in about.items()]),
        "<h2>Forecast and measurement</h2>",
        _table(
            ("mean", "forecast", "with overhead", "range of one run", "measured", "95 % interval", "ratio"), compared
        ),
        *(f'<p class="note">{escape(said)}</p>' for said in remarks(outcome)),
        _figure(_iterations(run), "Every iteration, the forecast's mean, and with the overhead that was measured."),
        "<h2>Workers</h2>",
        _table(heads, workers),
        _figure(_first(trace, run.cluster.names), f"Who works when, in the first {SHOWN} iterations; pale is purged."),
    ]
    write_text(page(heading, "".join(body)), path)


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{top}</tr>{body}</table>"


def _figure(axes: Any, caption: str) -> str:
    file = io.StringIO()
    axes.figure.savefig(file, format="svg")
    drawing = file.getvalue()
    return f"<figure>{drawing[drawing.index('<svg') :]}<figcaption>{escape(caption)}</figcaption></figure>"


def _iterations(run: Run) -> Any:
    """The time of every iteration beside its forecast."""
    axes = new_figure(9, 3).add_subplot()
    took = np.add(run.record.iterations, run.record.overhead)
    axes.plot(np.arange(took.size), took, ".", label="measured")
    if run.outcome.compared:
        row = run.outcome.compared[0]
        axes.axhline(row.forecast.mean, color="k", linestyle=":", label="forecast")
        axes.axhline(row.with_overhead.mean, color="k", label="forecast and overhead")
    axes.set_xlabel("iteration")
    axes.set_ylabel("seconds")
    axes.set_ylim(bottom=0)
    axes.legend(fontsize="small")
    return axes


def _first(trace: Trace, names: Sequence[str]) -> Any:
    """The first iterations of the first job."""
    line = trace.timeline
    assert line is not None
    shown = (line.job == line.job.min(initial=0)) & (line.iteration < SHOWN) & (line.worker < len(names))
    part = Timeline(*(column[shown] for column in line.columns().values()))
    return draw_timeline(Trace(trace.arrival, trace.start, trace.end, part), names)
