"""A progress bar on a terminal, nothing elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from deadheat.reporting.console import console


@contextmanager
def bar(wanted: float, replications: int | None) -> Iterator[Callable[[str, int, float], None]]:
    """A function to tell of runs done and precision reached; it draws a bar with an estimate of the end."""
    screen = console(stderr=True)
    if not screen.is_terminal:
        yield lambda name, number, precision: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}"), TimeRemainingColumn()
    with Progress(*columns, console=screen, transient=True) as drawn:
        tasks = {}

        def tell(name: str, number: int, precision: float) -> None:
            # The half-width falls with the root of the number of runs, so that many more are needed.
            needed = number * (precision / wanted) ** 2 if precision < float("inf") else 400.0
            total = replications or max(needed, number, 10)
            if name not in tasks:
                tasks[name] = drawn.add_task(name, note="")
            drawn.update(tasks[name], completed=number, total=total, note=f"{number} runs, within {precision:.1%}")

        yield tell


@contextmanager
def counter(what: str) -> Iterator[Callable[[int, int, float], None]]:
    """A function to tell how many of how many are judged, and the best delay so far."""
    screen = console(stderr=True)
    if not screen.is_terminal:
        yield lambda done, total, best: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}"), TimeRemainingColumn()
    with Progress(*columns, console=screen, transient=True) as drawn:
        task = drawn.add_task(what, note="")
        yield lambda done, total, best: drawn.update(
            task, completed=done, total=total, note=f"{done} of {total}, best {best:.4g} s"
        )


@contextmanager
def spinner(what: str) -> Iterator[None]:
    """Something that turns while it takes its time."""
    screen = console(stderr=True)
    if not screen.is_terminal:
        yield
        return
    with screen.status(what):
        yield
