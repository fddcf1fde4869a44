"""`deadheat codes`: what codes are on offer and what each really costs."""

from __future__ import annotations

from typing import Annotated

import typer

from deadheat import __version__
from deadheat.coding.shape import KINDS
from deadheat.errors import BadInput, nearest
from deadheat.reporting.catalogue import catalogue_json, print_catalogue
from deadheat.reporting.console import console
from deadheat.reporting.numbers import to_json


def codes(
    kind: Annotated[str | None, typer.Option(help="gradient, linear, product, function or transform.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """List the families of codes with their true cost."""
    if kind is not None and kind not in KINDS:
        raise BadInput("--kind", kind, "no such kind of work", nearest(kind, KINDS))
    if json:
        print(to_json(catalogue_json(kind, __version__)))
    else:
        print_catalogue(kind, console())
