"""The demonstration on the screen: the workers and their shares, three ways side by side, and a death."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from deadheat.model import Cluster
from deadheat.reporting.live import watched
from deadheat.reporting.numbers import seconds
from deadheat.reporting.runs import run_json
from deadheat.runtime import Run
from deadheat.runtime.outcomes import Outcome


@dataclass(frozen=True)
class Stage:
    """One way, before it is run: its name, its code in words, its loads and when each worker is expected to finish."""

    name: str
    code: str
    loads: Sequence[int]
    finish: Sequence[float]


@dataclass(frozen=True)
class Shown:
    """One way, after it was run. difference: from a serial run, in the worst weight of the worst job."""

    stage: Stage
    outcome: Outcome
    difference: float


def demo_json(shown: Sequence[Shown], killed: dict[str, Any], version: str) -> dict[str, Any]:
    """Every way with its loads, forecast and measurement; and what the death cost."""
    ways = [
        run_json(one.outcome, {"name": one.stage.name, "code": one.stage.code, "loads": list(one.stage.loads)})
        | {"difference_from_serial": one.difference}
        for one in shown
    ]
    return {"version": version, "ways": ways, "killed": killed}


def print_workers(cluster: Cluster, stages: Sequence[Stage], units: float, console: Console) -> None:
    """Every worker: its speed, its even share and ours, and when it would finish each."""
    even, ours = stages[0], stages[1]
    table = Table(show_edge=False, pad_edge=False)
    for heading in ("worker", "a task takes", "on the way", "even split", "finishes", "our split", "finishes"):
        table.add_column(heading, justify="left" if heading == "worker" else "right")
    rows = zip(cluster.names, cluster.mean, cluster.comm, even.loads, even.finish, ours.loads, ours.finish, strict=True)
    for name, mean, comm, load, end, our_load, our_end in rows:
        cells = seconds(mean * units), seconds(comm), str(load), seconds(end), str(our_load), seconds(our_end)
        table.add_row(name, *cells)
    console.print(table)


def ways_table(shown: Sequence[Shown]) -> Table:
    """Forecast and measurement of each way, side by side."""
    table = Table(show_edge=False, pad_edge=False)
    heads = ("", "iteration: forecast", "+ overhead", "measured", "delay of a job: forecast", "measured", "serial run")
    for heading in heads:
        table.add_column(heading, justify="right" if heading else "left")
    for one in shown:
        iteration, _, delay = one.outcome.compared
        same = "the same" if one.difference == 0 else f"within 1e{math.ceil(math.log10(one.difference))}"
        table.add_row(
            one.stage.name, seconds(iteration.forecast.mean), seconds(iteration.with_overhead.mean),
            seconds(iteration.measured.mean), seconds(delay.with_overhead.mean), seconds(delay.measured.mean), same,
        )  # fmt: skip
    return table


@contextmanager
def step(run: Run, name: str, console: Console) -> Iterator[None]:
    """A way while it is run: drawn on a terminal, a line elsewhere."""
    console.print(f"{name} ...", highlight=False)
    with watched(run, name):
        yield
