"""The scenario file that a command is given: read, changed by options, and written with other workers."""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

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


def with_options(
    scenario: Scenario, *, engine: str | None, address: str | None, job: str | None, **more: float | None
) -> Scenario:
    """The scenario with what the command line says of its engine and its job; None leaves what the file says.

    A job's file is looked for from here, and not from the scenario's folder.
    """
    typed: dict[str, Any] = {"kind": engine, "address": address, **more}
    settings = replace(scenario.engine, **{key: value for key, value in typed.items() if value is not None})
    if job is None:
        return replace(scenario, engine=settings)
    return replace(scenario, engine=settings, job={"python": str(Path(job).absolute()) if ":" in job else job})


def with_workers(text: str, tables: str) -> str:
    """The text of a scenario with other [[workers]]; all else stays as it was written."""
    kept, inside = [], False
    for line in text.splitlines():
        if line.lstrip().startswith("["):
            inside = line.split("#")[0].replace(" ", "").startswith(("[[workers]]", "[workers."))
        kept += [] if inside else [line]
    return "\n".join(kept).rstrip() + "\n\n" + tables
