"""Tables as data: the same columns on a terminal, in HTML and in Markdown; numbers as people and JSON read them."""

from __future__ import annotations

import io
import json
import math

import numpy as np
import pytest
from rich.console import Console

from deadheat.reporting.columns import Column, html_table, markdown_table, rich_table
from deadheat.reporting.number_format import plain, seconds, seconds_range, to_json

Pair = tuple[str, float]
COLUMNS: list[Column[Pair]] = [
    Column("who", lambda pair: pair[0], left=True),
    Column("took", lambda pair: seconds(pair[1])),
    Column("marked", lambda pair: pair[0], html=lambda pair: f"<b>{len(pair[0])}</b>"),
]
ROWS: list[Pair] = [("[red]w1", 0.5), ("<w2>", 2e-3)]


def test_a_terminal_shows_names_as_they_are() -> None:
    screen = Console(file=io.StringIO(), width=80)
    screen.print(rich_table(COLUMNS, ROWS))
    assert isinstance(screen.file, io.StringIO)
    lines = [[cell.strip() for cell in line.split("│")] for line in screen.file.getvalue().splitlines() if "│" in line]
    assert lines == [["[red]w1", "0.5 s", "[red]w1"], ["<w2>", "2 ms", "<w2>"]]


def test_html_is_escaped_but_for_markup_of_ones_own() -> None:
    text = html_table(COLUMNS, ROWS)
    assert text.startswith("<table><tr><th>who</th><th>took</th><th>marked</th></tr>")
    assert "<tr><td>&lt;w2&gt;</td><td>2 ms</td><td><b>4</b></td></tr>" in text


def test_markdown() -> None:
    assert markdown_table(COLUMNS[:2], ROWS[:1]) == "| who | took |\n| --- | --- |\n| [red]w1 | 0.5 s |\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [(49.531, "49.53 s"), (0.0, "0 s"), (0.1, "0.1 s"), (0.0481, "48.1 ms"), (1e-4, "0.1 ms"), (2.5e-6, "2.5 us"),
     (math.inf, "infinite"), (math.nan, "-")],
)  # fmt: skip
def test_seconds_have_four_digits_and_a_unit(value: float, text: str) -> None:
    assert seconds(value) == text


def test_a_range_has_the_units_of_both_ends() -> None:
    assert seconds_range(0.05, 1.25) == "50 ms to 1.25 s"


def test_json_has_words_for_what_it_cannot_write() -> None:
    value = {"a": np.array([1.0, np.inf, -np.inf, np.nan]), "b": (np.int64(3), np.bool_(True)), "c": None}
    assert plain(value) == {"a": [1.0, "inf", "-inf", None], "b": [3, True], "c": None}
    assert json.loads(to_json(value)) == plain(value)
