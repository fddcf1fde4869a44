"""A progress bar on a terminal, nothing elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from deadheat.reporting.terminal import console

GUESS = 400.0  # runs that are expected while nothing is known of their spread


@contextmanager
def replication_bar(wanted: float, replications: int | None) -> Iterator[Callable[[str, int, float], None]]:
    """A function to call with a name, its runs done and their precision; they end at the wanted one, or at a number."""
    with _bars() as draw:

        def report(name: str, number: int, precision: float) -> None:
            # The half-width falls with the root of the number of runs, so that many more are needed.
            needed = number * min(precision / wanted, GUESS) ** 2 if precision < float("inf") else GUESS
            draw(name, number, replications or max(needed, number, 10), f"{number} runs, within {precision:.1%}")

        yield report


@contextmanager
def candidate_bar(what: str) -> Iterator[Callable[[int, int, float], None]]:
    """A function to call with how many of how many candidates are judged, and the best delay so far."""
    with _bars() as draw:
        yield lambda done, total, best: draw(what, done, total, f"{done} of {total}, best {best:.4g} s")


@contextmanager
def _bars() -> Iterator[Callable[[str, float, float, str], None]]:
    """A function that draws one bar per name: how much is done, of how much, and a note."""
    screen = console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}"), TimeRemainingColumn()
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as progress:
        bars: dict[str, TaskID] = {}

        def draw(name: str, done: float, total: float, note: str) -> None:
            if name not in bars:
                bars[name] = progress.add_task(name, note="")
            progress.update(bars[name], completed=done, total=total, note=note)

        yield draw
