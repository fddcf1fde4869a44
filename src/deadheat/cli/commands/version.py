"""`deadheat --version`."""

from __future__ import annotations

from typing import Annotated

import typer

from deadheat import __version__


def version(
    show: Annotated[bool, typer.Option("--version", help="Print the version and leave.", is_eager=True)] = False,
) -> None:
    """Split, code, purge and forecast iterative jobs over unequal workers, so that all finish together."""
    if show:
        print(__version__)
        raise typer.Exit
