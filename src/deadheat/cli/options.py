"""Arguments and options that several commands share: how they are read from text, and what `--json` prints."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from deadheat import __version__
from deadheat.errors import BadInput, DeadheatError, finite, nearest
from deadheat.planning import POLICIES
from deadheat.reporting import to_json
from deadheat.scheduling import SCHEDULES
from deadheat.simulation import Purge

PURGING: dict[str, Purge] = {"at-once": True, "between-tasks": "between-tasks", "never": False}

ScenarioFile = Annotated[Path, typer.Argument(help="A scenario in TOML; see examples/.", metavar="FILE")]
PolicyName = Annotated[str | None, typer.Option(help=f"{', '.join(POLICIES)}; the scenario's own by default.")]
PolicyNames = Annotated[str, typer.Option(help=f"Between commas: {', '.join(POLICIES)}; the first is the baseline.")]
ScheduleName = Annotated[str | None, typer.Option(help=", ".join(SCHEDULES) + ".")]
ScheduleNames = Annotated[str | None, typer.Option(help=f"Between commas: {', '.join(SCHEDULES)}.")]
PurgeName = Annotated[str, typer.Option(help=", ".join(PURGING) + ".")]
JobCount = Annotated[int | None, typer.Option(help="Jobs in a run; the scenario's own by default.")]
RunCount = Annotated[int | None, typer.Option(help="Independent runs; by default as many as needed.")]
Precision = Annotated[str, typer.Option(help="Run until each mean delay is known within this.")]
Seed = Annotated[int | None, typer.Option(help="The same seed, the same numbers.")]
EngineName = Annotated[str | None, typer.Option(help="local (processes on this machine) or ray.")]
Address = Annotated[str | None, typer.Option(help="Of a Ray cluster; by default one is started here.")]
JobPlace = Annotated[str | None, typer.Option(help="A job of your own: FILE.py:NAME.")]
Emulate = Annotated[bool, typer.Option("--emulate", help="Stretch task times to the scenario's laws.")]
TableFile = Annotated[Path | None, typer.Option(help="Write the table to .csv, .parquet or .json.")]
JobsFile = Annotated[Path | None, typer.Option(help="Write a run's jobs to .csv, .parquet or .json.")]
TasksFile = Annotated[Path | None, typer.Option(help="Write every task of a run; .json is a Chrome trace.")]
FigureFile = Annotated[Path | None, typer.Option(help="Draw it to .png, .svg or .pdf.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]


def print_json(content: dict[str, Any]) -> None:
    """Print one object with the version first, and nothing else on standard output."""
    print(to_json({"version": __version__} | content))


def wrote(write: Callable[..., None], *content: Any, **where: Any) -> bool:
    """Write a file; where that fails, say so and return False: what was computed is not lost with it."""
    try:
        write(*content, **where)
    except DeadheatError as error:
        print(f"deadheat: {error}", file=sys.stderr)
        return False
    return True


def percentage(option: str, text: str, least: float | None = None) -> float:
    """1% or 0.01 as a number, above 0 or at least so much."""
    try:
        number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise BadInput(option, text, "not a part", "write 1% or 0.01") from None
    limits = {"above": 0.0} if least is None else {"least": least}
    return finite(option, number, "write 1% or 0.01", **limits)


def must_be_one_of(names: Iterable[str], option: str, name: str, what: str) -> None:
    """Refuse a name that is not among those, with the nearest one."""
    if name not in names:
        raise BadInput(option, name, f"no such {what}", nearest(name, names))


def numbers(option: str, text: str) -> list[float]:
    """Numbers between commas."""
    try:
        return [float(part) for part in listed(option, text)]
    except ValueError:
        raise BadInput(option, text, "not numbers between commas", "write them like 3,2,1") from None


def listed(option: str, text: str) -> list[str]:
    """Names between commas."""
    names = [part.strip() for part in text.split(",") if part.strip()]
    if not names:
        raise BadInput(option, text, "empty", "write names between commas")
    return names
