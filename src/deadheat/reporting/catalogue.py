"""The catalogue of codes as a table, as JSON and as Markdown for the documentation."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from deadheat.coding import FAMILIES, WAITING, Family, Shape

HEADINGS = ("family", "for", "C/W", "K C/W", "which results suffice", "notes", "source")
EXAMPLE = (50, 55)  # K and n of the example in numbers


def catalogue_json(kind: str | None, version: str) -> dict[str, Any]:
    """Every family with its formulas, and what it costs at about K = 50 of n = 55."""
    return {
        "version": version,
        "codes": [
            dict(zip(HEADINGS, _cells(family), strict=True)) | {"example": _example(family)} for family in _of(kind)
        ],
        "waiting": WAITING,
    }


def print_catalogue(kind: str | None, console: Console) -> None:
    """Print one row per family."""
    table = Table(show_edge=False, pad_edge=False)
    for heading in (*HEADINGS[:5], "at 50 of 55"):
        table.add_column(heading, no_wrap=heading == "family", overflow="fold")
    for family in _of(kind):
        example = _example(family)
        number = "-" if example is None else f"{example['work_factor']:.3g}"
        table.add_row(*(escape(cell) for cell in _cells(family)[:5]), number)
    console.print(table)
    console.print(
        "C/W is the work of one task, K C/W what K results cost, in plain iterations (at about K = 50, n = 55)."
    )
    console.print("--json adds notes and sources; so does docs/reference/codes.md.")
    for name, what in WAITING.items():
        console.print(f"not yet: {name} ({what})")


def catalogue_markdown() -> str:
    """The table of docs/reference/codes.md."""
    rows = [HEADINGS, ("---",) * len(HEADINGS), *(_cells(family) for family in FAMILIES.values())]
    rows += [(name, "", "", "", "", "not yet", what) for name, what in WAITING.items()]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def _of(kind: str | None) -> list[Family]:
    return [family for family in FAMILIES.values() if kind is None or kind in family.kinds]


def _cells(family: Family) -> tuple[str, ...]:
    notes = f"{family.title}; {family.notes}"
    return (family.name, ", ".join(family.kinds), family.work, family.factor, family.enough, notes, family.source)


def _example(family: Family) -> dict[str, Any] | None:
    """The family's first shape near K = 50 of n = 55, with its numbers."""
    shape: Shape | None = next(family.shapes(family.kinds[0], *EXAMPLE), None)
    if shape is None:
        shape = next(family.shapes(family.kinds[0], EXAMPLE[0], EXAMPLE[0]), None)
    if shape is None:
        return None
    return {
        "critical": shape.critical,
        "total": shape.total,
        "work": shape.cost.work,
        "work_factor": shape.cost.factor(shape.critical),
        "storage": shape.cost.storage,
        "result": shape.cost.result,
    }
