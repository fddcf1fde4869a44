"""`deadheat demo`, what `make run` runs: the paper's worked example, planned, forecast and explained."""

from __future__ import annotations

from typing import Annotated

import typer

from deadheat import __version__
from deadheat.paper import worked_example
from deadheat.reporting.console import console
from deadheat.reporting.demos import demo_json, print_demo
from deadheat.reporting.numbers import to_json


def demo(json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False) -> None:
    """Show what deadheat does on the paper's worked example."""
    plans = worked_example.plans()
    if json:
        print(to_json(demo_json(plans, __version__)))
    else:
        print_demo(plans, worked_example.PRINTED, console())
