"""Tables as data: a column is a heading and the text of a row's cell, drawn on a terminal, in HTML or in Markdown."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Generic, Literal, TypeVar

from rich.markup import escape as without_markup
from rich.table import Table

from deadheat.reporting.terminal import printable

Row = TypeVar("Row")


@dataclass(frozen=True)
class Column(Generic[Row]):
    """A column. left: it holds text, not numbers. wrap: long cells may be broken. html: the cell with HTML's markup."""

    heading: str
    cell: Callable[[Row], str]
    left: bool = False
    wrap: bool = True
    html: Callable[[Row], str] | None = None


def rich_table(columns: Sequence[Column[Row]], rows: Iterable[Row]) -> Table:
    """The rows as a table for a terminal."""
    table = Table(show_edge=False, pad_edge=False)
    for column in columns:
        justify: Literal["left", "right"] = "left" if column.left else "right"
        table.add_column(column.heading, justify=justify, no_wrap=not column.wrap, overflow="fold")
    for row in rows:
        table.add_row(*(without_markup(column.cell(row)) for column in columns))
    return table


def html_table(columns: Sequence[Column[Row]], rows: Iterable[Row]) -> str:
    """The rows as a <table>."""
    headings = "".join(f"<th>{escape(column.heading)}</th>" for column in columns)
    body = "".join(
        "<tr>"
        + "".join(f"<td>{c.html(row) if c.html else escape(printable(c.cell(row)))}</td>" for c in columns)
        + "</tr>"
        for row in rows
    )
    return f"<table><tr>{headings}</tr>{body}</table>"


def markdown_table(columns: Sequence[Column[Row]], rows: Iterable[Row]) -> str:
    """The rows as a table in Markdown."""
    lines = [[column.heading for column in columns], ["---"] * len(columns)]
    lines += [[column.cell(row) for column in columns] for row in rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
