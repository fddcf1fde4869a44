"""`deadheat replay EVENTS`: feed a run's events to a new master, and hold its commands against those of the run."""

from pathlib import Path
from typing import Annotated

import typer

from deadheat.cli.options import AsJson, print_json
from deadheat.runtime import replay as replay_events


def replay(
    events: Annotated[Path, typer.Argument(help="A file of `run --events` that you trust.", metavar="EVENTS")],
    json: AsJson = False,
) -> None:
    """Feed a run's events to a new master; exit code 1 where it does not do the same."""
    replayed = replay_events(events)
    same = replayed.difference is None
    counts = {"events": replayed.events, "commands": replayed.commands, "jobs": replayed.jobs}
    if json:
        print_json(counts | {"same": same, "difference": replayed.difference})
    elif same:
        print("{events} events, {commands} commands, {jobs} jobs delivered: the master does the same".format(**counts))
    else:
        print(replayed.difference)
    if not same:
        raise typer.Exit(1)
