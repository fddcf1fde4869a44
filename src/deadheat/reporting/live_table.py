"""A run to look at while it goes on: a row per worker, how far it is, and when it will end. On a terminal only."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from deadheat.reporting.columns import rich_table
from deadheat.reporting.number_format import seconds_range
from deadheat.reporting.run_report import WORKERS
from deadheat.reporting.terminal import console, printable
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

    with Live(console=screen, transient=True, auto_refresh=False) as drawing:
        last = 0.0

        def redraw(message: object, at: float) -> None:
            nonlocal last
            if (now := time.monotonic()) - last >= EVERY:
                last = now
                drawing.update(live_view(run, title, run.driver.engine.now()), refresh=True)

        run.driver.listeners.append(redraw)
        try:
            yield
        finally:
            run.driver.listeners.remove(redraw)


def live_view(run: Run, title: str, now: float) -> Group:
    """Title, workers and progress; where the number of jobs is unknown, only how many are done."""
    eta = run.eta
    cells: list[RenderableType] = [f"{eta.over} " + ("" if eta.count is None else f"of {eta.count} ") + "jobs done"]
    if eta.progress is not None:
        cells += [ProgressBar(total=1.0, completed=eta.progress, width=30), f"{eta.progress:.0%}"]
    end = eta.run_ends(now)
    if end is not None:  # "at most", since jobs may converge before their last iteration
        cells.append(f"at most {seconds_range(end.low - now, end.high - now)} to go")
    line = Table.grid(padding=(0, 1))
    line.add_row(*cells)
    return Group(Text(printable(title)), rich_table(WORKERS, run.reports), line)
