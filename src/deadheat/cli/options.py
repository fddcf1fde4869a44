"""Options that several commands share, read from text."""

from __future__ import annotations

from deadheat.errors import BadInput, finite, nearest
from deadheat.simulation import Purge

PURGING: dict[str, Purge] = {"at-once": True, "between-tasks": "between-tasks", "never": False}


def percentage(text: str) -> float:
    """1% or 0.01 as a number."""
    try:
        number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise BadInput("--precision", text, "not a part of the mean", "write 1% or 0.01") from None
    return finite("--precision", number, "write 1% or 0.01", above=0.0)


def purging(text: str) -> Purge:
    """The way to purge by its name."""
    if text not in PURGING:
        raise BadInput("--purge", text, "no such way to purge", nearest(text, PURGING))
    return PURGING[text]


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
