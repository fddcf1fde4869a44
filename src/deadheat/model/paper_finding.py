"""The finding of an experiment: claims (printed, ours, verdict, why), figures and notes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Claim:
    """A printed number or sentence beside ours.

    ours: a text with its 95 % interval where there is chance in it. holds: whether the printed one is confirmed.
    built: the workers are not the paper's but were built to meet what it prints, so agreement confirms less.
    """

    what: str
    printed: str
    ours: str
    holds: bool
    why: str
    built: bool = False

    @property
    def verdict(self) -> str:
        """Confirmed, refuted, matched by workers that were built to it, or beyond what the paper has."""
        if self.printed.startswith("("):
            return "beyond"
        if not self.holds:
            return "refuted"
        return "matched" if self.built else "confirmed"


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure: `draw` puts it on a matplotlib Figure."""

    name: str
    caption: str
    draw: Callable[[Any], None]


@dataclass(frozen=True, eq=False)
class Finding:
    """The result of one experiment."""

    title: str
    claims: tuple[Claim, ...]
    pictures: tuple[Picture, ...] = ()
    notes: tuple[str, ...] = ()
