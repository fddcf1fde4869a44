"""The documents' examples run and say what they say."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GUIDES = ("chunks", "codes", "extend", "faults", "jobs", "plan", "run")


PAGES = ["README.md", "docs/tutorial.md", *(f"docs/guides/{name}.md" for name in GUIDES)]


@pytest.mark.parametrize("page", PAGES)
def test_examples_run(page: str) -> None:
    result = doctest.testfile(str(ROOT / page), module_relative=False)
    assert result.attempted >= 4
    assert result.failed == 0


def test_every_page_with_examples_is_run() -> None:
    with_examples = {
        str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md") if ">>> " in page.read_text()
    }
    assert with_examples <= set(PAGES)


def test_numbers_quoted_from_commands() -> None:
    """Lines of output quoted in the guides are what the commands print."""
    from typer.testing import CliRunner

    from deadheat.cli import app

    said = {
        "docs/guides/capacity.md": "".join(
            CliRunner().invoke(app, ["plan", str(ROOT / "examples" / "overloaded.toml"), *more]).stdout
            for more in ([], ["--target", "60"])
        ),
        "docs/guides/codes.md": CliRunner()
        .invoke(
            app,
            [
                *("tune", str(ROOT / "examples" / "tune-gradient.toml"), "--top", "3"),
                *("--families", "uncoded,cyclic,fractional repetition,paper"),
            ],
        )
        .stdout,
    }
    for page, output in said.items():
        lines = {" ".join(line.split()) for line in output.splitlines()}
        text = (ROOT / page).read_text()
        marks = (
            "utilisation ",
            "delay   ",
            "- Add ",
            "  1 │",
            "  2 │",
            "  3 │",
            "delay against",
        )
        quoted = [line for line in text.splitlines() if line.startswith(marks)]
        assert quoted, page
        for line in quoted:
            assert " ".join(line.split()) in lines, line
