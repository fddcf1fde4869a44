"""What `--json` prints: one object with the version, and nothing else on standard output."""

from typing import Any

from deadheat import __version__
from deadheat.reporting import to_json


def print_json(content: dict[str, Any]) -> None:
    """Print the content behind the version."""
    print(to_json({"version": __version__} | content))
