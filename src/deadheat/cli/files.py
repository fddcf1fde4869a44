"""Opening what the user names."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

from deadheat.errors import BadInput
from deadheat.model import Scenario


def read_scenario(path: Path) -> Scenario:
    """The scenario in a TOML file. Raises BadInput, also for a file that cannot be read or is not TOML."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput("FILE", str(path), error.strerror or "cannot be read", "name a scenario file") from None
    except UnicodeDecodeError:
        raise BadInput("FILE", str(path), "not UTF-8 text", "save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise BadInput("FILE", str(path), f"not TOML: {error}", "see examples/ for a scenario") from None
    return Scenario.from_dict(content)


def with_workers(text: str, tables: str) -> str:
    """The text of a scenario with other [[workers]]; all else stays as it was written."""
    return "\n".join(_without_workers(text)).rstrip() + "\n\n" + tables


def _without_workers(text: str) -> Iterator[str]:
    inside = False
    for line in text.splitlines():
        if line.lstrip().startswith("["):
            inside = line.split("#")[0].replace(" ", "").startswith(("[[workers]]", "[workers."))
        if not inside:
            yield line
