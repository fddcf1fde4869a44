"""A real run as tables, as JSON and as an HTML page with its figures in it; measured workers as JSON."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape as without_markup

from deadheat.model import Timeline
from deadheat.reporting.columns import Column, html_table, rich_table
from deadheat.reporting.figures import draw_timeline, new_figure
from deadheat.reporting.html_page import html_page
from deadheat.reporting.number_format import seconds, seconds_range
from deadheat.reporting.write_files import write_text
from deadheat.runtime import Compared, Measured, Outcome, Run, WorkerReport

SHOWN = 6  # iterations in the timeline
WORKERS: list[Column[WorkerReport]] = [
    Column("worker", lambda worker: worker.name, left=True),
    Column("share", lambda worker: str(worker.load)),
    Column("done", lambda worker: str(worker.done)),
    Column("purged", lambda worker: str(worker.purged)),
    Column("purged work", lambda worker: seconds(worker.late)),
    Column("score", lambda worker: f"{worker.relative:.2f}"),
    Column("of its best", lambda worker: f"{worker.individual:.2f}"),
    Column("state", lambda worker: worker.state + (", slower than it was" if worker.slower else ""), left=True),
]
COMPARED: list[Column[Compared]] = [
    Column("mean", lambda row: row.what, left=True),
    Column("forecast", lambda row: seconds(row.forecast.mean)),
    Column("with overhead", lambda row: seconds(row.with_overhead.mean)),
    Column("range of one run", lambda row: seconds_range(row.with_overhead.low, row.with_overhead.high)),
    Column("measured", lambda row: seconds(row.measured.mean)),
    Column("measured / forecast", lambda row: f"{row.ratio:.3f}" + ("" if row.held else " (outside)")),
]
ABOUT: list[Column[tuple[str, Any]]] = [Column("", lambda pair: pair[0]), Column("", lambda pair: str(pair[1]))]
INTERVAL: Column[Compared] = Column("95 % interval", lambda row: seconds_range(row.measured.low, row.measured.high))
MEASURED: list[Column[WorkerReport]] = [
    Column("a unit of work", lambda worker: seconds(worker.mean)),
    Column("comm", lambda worker: seconds(worker.comm)),
]


def run_json(outcome: Outcome, about: dict[str, Any]) -> dict[str, Any]:
    """The outcome, with what it is about."""
    compared = {
        row.what: {
            "forecast": row.forecast.mean, "forecast_range": [row.forecast.low, row.forecast.high],
            "with_overhead": row.with_overhead.mean,
            "with_overhead_range": [row.with_overhead.low, row.with_overhead.high],
            "measured": row.measured.mean, "measured_ci95": [row.measured.low, row.measured.high], "ratio": row.ratio,
        }
        for row in outcome.compared
    }  # fmt: skip
    return about | {
        **{name: getattr(outcome, name) for name in ("jobs", "failed", "iterations", "seconds")},
        "emulated": bool(outcome.emulation),
        "compared": compared,
        "forecast_exact": outcome.exact,
        "overhead": {"per_iteration": outcome.overhead, "at_master": outcome.at_master},
        "intervals": {"stated": outcome.intervals, "held": outcome.held},
        "checks": {"work": outcome.checked[0], "at_master": outcome.checked[1]},
        "not_converged": outcome.not_converged,
        "remarks": list(outcome.remarks),
        "workers": [asdict(worker) for worker in outcome.workers],
    }


def measured_json(measured: Measured) -> dict[str, Any]:
    """Every worker with its moments and their 95 % intervals; a round begins with a message to the worker."""
    workers = [
        {
            "name": name, "mean": sample.mean.mean, "mean_ci95": [sample.mean.low, sample.mean.high],
            "std": sample.std, "comm": sample.latency.mean,
            "comm_ci95": [max(sample.latency.low, 0.0), sample.latency.high],
            "tasks": len(sample.work), "rounds": len(sample.comm),
        }
        for name, sample in measured.samples.items()
    ]  # fmt: skip
    return {"workers": workers, "silent": list(measured.silent)}


def remarks(outcome: Outcome) -> list[str]:
    """What should be said beside the tables."""
    sentences = []
    if outcome.emulation:
        sentences.append(f"The workers are emulated: real processes, but {outcome.emulation}.")
    if outcome.compared:
        law = "from the exact law" if outcome.exact else "from the same master on sampled time"
        overhead = f"overhead of {seconds(outcome.overhead)} an iteration measured in this run"
        sentences.append(f"Forecast {law}; {overhead}, of which {seconds(outcome.at_master)} at the master.")
    if outcome.intervals:
        held = f"{outcome.held} of {outcome.intervals} held ({outcome.held / outcome.intervals:.0%})"
        sentences.append(f"Intervals for the end of a job (95 %): {held}.")
    checks = sum(worker.checks for worker in outcome.workers)
    if checks:
        at_master = f"{seconds(outcome.checked[1])} an iteration at the master"
        sentences.append(f"Checks of {checks} results took {outcome.checked[0]:.1%} of the work and {at_master}.")
    sentences += [
        f"{worker.name}: {worker.failed_checks} of {worker.checks} checks failed; its results were replaced; "
        "it gets no more work."
        for worker in outcome.workers
        if worker.failed_checks
    ]
    if outcome.not_converged:
        sentences.append(f"{outcome.not_converged} of {outcome.jobs} jobs did not converge: they used all iterations.")
    sentences += [f"{remark[:1].upper()}{remark[1:]}." for remark in outcome.remarks]
    sentences += [
        f"{worker.name} is slower than it was: {1 / max(worker.individual, 1e-9):.1f} times its best."
        for worker in outcome.workers
        if worker.slower
    ]
    return sentences


def print_run(outcome: Outcome, console: Console) -> None:
    """Print how it went."""
    failed = f", {outcome.failed} given up" if outcome.failed else ""
    console.print(f"{outcome.jobs} jobs done{failed}, {outcome.iterations} iterations in {seconds(outcome.seconds)}.\n")
    console.print(rich_table(WORKERS, outcome.workers))
    if outcome.compared:
        console.print("", rich_table(COMPARED, outcome.compared), sep="\n")
    console.print("", *map(without_markup, remarks(outcome)), sep="\n")


def write_run_report(run: Run, path: Path, heading: str, about: Mapping[str, Any]) -> None:
    """Write a page that stands alone; whole or not at all."""
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
