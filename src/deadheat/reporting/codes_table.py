"""The families of codes as a table, as JSON and as Markdown for the documentation."""

from typing import Any

from rich.console import Console

from deadheat.coding import FAMILIES, WAITING, Family
from deadheat.reporting.columns import Column, markdown_table, rich_table

NEEDED, TOTAL = 50, 55  # K and n of the example in numbers
COLUMNS: list[Column[Family]] = [
    Column("family", lambda family: family.name, left=True, wrap=False),
    Column("for", lambda family: ", ".join(family.kinds), left=True),
    Column("C/W", lambda family: family.work, left=True),
    Column("K C/W", lambda family: family.factor, left=True),
    Column("which results suffice", lambda family: family.enough, left=True),
    Column("notes", lambda family: f"{family.title}; {family.notes}", left=True),
    Column("source", lambda family: family.source, left=True),
]


def codes_json(kind: str | None) -> dict[str, Any]:
    """Every family with its formulas, and what it costs at about K = 50 of n = 55."""
    rows = [
        {column.heading: column.cell(family) for column in COLUMNS} | {"example": _example(family)}
        for family in _families(kind)
    ]
    return {"codes": rows, "waiting": WAITING}


def print_codes(kind: str | None, console: Console) -> None:
    """Print one row per family."""
    examples = {family.name: _example(family) for family in _families(kind)}
    factors = {name: f"{example['work_factor']:.3g}" if example else "-" for name, example in examples.items()}
    factor: Column[Family] = Column("at 50 of 55", lambda family: factors[family.name], left=True)
    console.print(rich_table([*COLUMNS[:5], factor], _families(kind)))
    console.print("C/W is the work of one task, K C/W that of K results, in plain iterations (about K = 50, n = 55).")
    console.print("--json adds notes and sources; so does docs/reference/codes.md.")
    for name, what in WAITING.items():
        console.print(f"not yet: {name} ({what})")


def codes_markdown() -> str:
    """The table of docs/reference/codes.md."""
    waiting = "".join(f"| {name} |  |  |  |  | not yet | {what} |\n" for name, what in WAITING.items())
    return markdown_table(COLUMNS, FAMILIES.values()) + waiting


def _families(kind: str | None) -> list[Family]:
    return [family for family in FAMILIES.values() if kind is None or kind in family.kinds]


def _example(family: Family) -> dict[str, Any] | None:
    """The family's first shape near K = 50 of n = 55, or without redundancy, with its numbers."""
    for total in (TOTAL, NEEDED):
        for shape in family.shapes(family.kinds[0], NEEDED, total):
            return {
                "critical": shape.critical, "total": shape.total, "work": shape.cost.work,
                "work_factor": shape.cost.factor(shape.critical), "storage": shape.cost.storage,
                "result": shape.cost.result,
            }  # fmt: skip
    return None
