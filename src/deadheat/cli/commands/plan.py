"""`deadheat plan FILE`: who should do how much, what to expect, who is useless."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deadheat import __version__
from deadheat.cli.files import read_scenario
from deadheat.cli.options import numbers
from deadheat.errors import finite
from deadheat.reporting.console import console
from deadheat.reporting.numbers import to_json
from deadheat.reporting.plans import plan_json, print_plan
from deadheat.tuning import plan as make_plan


def plan(
    file: Annotated[Path, typer.Argument(help="A scenario in TOML; see examples/.", metavar="FILE")],
    policy: Annotated[str | None, typer.Option(help="optimal (Theorem 2), fastest, uniform, ...")] = None,
    gamma: Annotated[float | None, typer.Option(help="Weight of the second moment, in 1/second.")] = None,
    split: Annotated[str | None, typer.Option(help="A ratio of your own, such as 3,2,1.")] = None,
    target: Annotated[
        float | None, typer.Option(help="A mean delay to meet, in seconds; spares are recruited.")
    ] = None,
    no_purge: Annotated[
        bool, typer.Option("--no-purge", help="Wait for all results, as the paper's analysis.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Plan a scenario: loads, forecast, bounds and advice."""
    scenario = read_scenario(file)
    if target is not None:
        finite("--target", target, "give a delay in seconds, above 0", above=0.0)
    if gamma is not None:
        finite("--gamma", gamma, "give a weight in 1/second, such as 1.0", least=0.0)
    ratio = None if split is None else tuple(numbers("--split", split))
    made = make_plan(scenario, policy_name=policy, gamma=gamma, ratio=ratio, purge=not no_purge, target=target)
    if json:
        print(to_json(plan_json(made, __version__)))
    else:
        print_plan(made, console())
