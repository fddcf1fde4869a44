"""`deadheat codes`: what codes are on offer and what each really costs."""

from typing import Annotated

import typer

from deadheat.cli.options import AsJson, must_be_one_of, print_json
from deadheat.coding import KINDS
from deadheat.reporting import codes_json, console, print_codes


def codes(
    kind: Annotated[str | None, typer.Option(help=", ".join(KINDS) + ".")] = None,
    json: AsJson = False,
) -> None:
    """List the families of codes with their true cost."""
    if kind is not None:
        must_be_one_of(KINDS, "--kind", kind, "kind of work")
    if json:
        print_json(codes_json(kind))
    else:
        print_codes(kind, console())
