"""A run to look at while it goes on: a row per worker, how far it is, and when it will end. On a terminal only."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Group
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from deadheat.reporting.console import console
from deadheat.reporting.numbers import seconds
from deadheat.reporting.runs import worker_table
from deadheat.runtime import Run

EVERY = 0.15  # seconds between two drawings


@contextmanager
def watched(run: Run, title: str) -> Iterator[None]:
    """Draw the run on standard error while it is under way; nothing where that is no terminal."""
    screen = console(stderr=True)
    if not screen.is_terminal:
        yield
        return
    from rich.live import Live

    with Live(console=screen, transient=True, auto_refresh=False) as drawn:
        last = 0.0

        def look(news: object, at: float) -> None:
            nonlocal last
            if (now := time.monotonic()) - last >= EVERY:
                last = now
                drawn.update(live_view(run, title, run.driver.engine.now()), refresh=True)

        run.driver.listeners.append(look)
        try:
            yield
        finally:
            run.driver.listeners.remove(look)


def live_view(run: Run, title: str, now: float) -> Group:
    """Title, workers and progress."""
    horizon = run.horizon
    end = horizon.run_ends(now)
    told = "" if end is None else f"at most {seconds(end.low - now)} to {seconds(end.high - now)} to go"
    line = Table.grid(padding=(0, 1))
    line.add_row(
        f"job {horizon.done + 1} of {len(horizon.iterations)}",
        ProgressBar(total=1.0, completed=horizon.progress, width=40),
        f"{horizon.progress:.0%}",
        told,
    )
    return Group(Text(title), worker_table(run.reports), line)
