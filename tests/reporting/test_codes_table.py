"""The catalogue: every constructor has its family and every family a constructor; the documentation says the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from deadheat import codes
from deadheat.coding import FAMILIES, KINDS, WAITING, Code
from deadheat.reporting.codes_table import COLUMNS, codes_json, codes_markdown

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "codes.md"
SMALL: dict[str, Callable[[], Code]] = {
    "bernoulli": lambda: codes.bernoulli(4, 6),
    "communication_efficient": lambda: codes.communication_efficient(6, 2),
    "cyclic": lambda: codes.cyclic(6, 2),
    "cyclic_mds": lambda: codes.cyclic_mds(6, 2),
    "entangled": lambda: codes.entangled(2, 1, 2, 7),
    "fft": lambda: codes.fft(3, 4),
    "fractional_repetition": lambda: codes.fractional_repetition(6, 2),
    "lagrange": lambda: codes.lagrange(3, 2, 6),
    "ldpc": lambda: codes.ldpc(6, 10),
    "lt": lambda: codes.lt(6, 12),
    "matdot": lambda: codes.matdot(2, 4),
    "mds": lambda: codes.mds(4, 6),
    "paper_example": codes.paper_example,
    "paper_preset": codes.paper_preset,
    "polydot": lambda: codes.polydot(2, 2, 13),
    "polynomial": lambda: codes.polynomial(2, 2, 6),
    "product": lambda: codes.product(2),
    "reed_solomon": lambda: codes.reed_solomon(6, 2),
    "replication": lambda: codes.replication(3, 2),
    "short_dot": lambda: codes.short_dot(4, 6, 2),
    "uncoded": lambda: codes.uncoded(4),
}


def test_every_constructor_is_in_the_catalogue_and_no_other() -> None:
    assert {*SMALL, "register"} == set(codes.__all__)
    made = {name: make() for name, make in SMALL.items()}
    assert {code.family for code in made.values()} == set(FAMILIES)
    for name, code in made.items():
        assert code.kind in FAMILIES[code.family].kinds, name
        assert name.replace("_", " ").split()[0] in code.family.lower().replace("-", " "), name


def test_families_tell_what_they_are() -> None:
    for name, family in FAMILIES.items():
        assert family.name == name
        assert family.kinds
        assert set(family.kinds) <= set(KINDS)
        for text in (family.title, family.work, family.factor, family.enough, family.notes):
            assert text, name
    unsigned = {name for name, family in FAMILIES.items() if not family.source}
    assert unsigned == {"uncoded", "replication"}  # nobody's invention
    assert not set(WAITING) & set(FAMILIES)


@pytest.mark.parametrize("kind", ["gradient", "linear", "product"])
def test_a_shape_costs_what_its_code_costs(kind: str) -> None:
    """The tuner ranks shapes and one runs codes: both must be the same thing."""
    for name, family in FAMILIES.items():
        if kind not in family.kinds:
            continue
        for shape in family.shapes(kind, 6, 9):
            code = shape.build()
            assert (shape.family, code.family, code.kind) == (name, name, kind)
            assert code.total == shape.total
            assert code.exact == shape.exact
            for part in ("work", "storage", "result", "shared_chunks"):
                assert getattr(code.cost, part) == pytest.approx(getattr(shape.cost, part)), (name, part)
            if shape.any_critical:
                assert code.critical == shape.critical


def test_json_of_a_kind() -> None:
    for kind in (None, *KINDS):
        made = codes_json(kind)
        assert made["waiting"] == WAITING
        names = [row["family"] for row in made["codes"]]
        assert names == [name for name, family in FAMILIES.items() if kind is None or kind in family.kinds]
    examples = {row["family"]: row["example"] for row in codes_json(None)["codes"]}
    assert examples["paper"]["work_factor"] == pytest.approx(25.5)
    assert examples["cyclic"]["work_factor"] == pytest.approx(50 * 6 / 55)
    assert examples["uncoded"]["work_factor"] == examples["mds"]["work_factor"] == pytest.approx(1.0)
    assert (examples["matdot"]["critical"], examples["matdot"]["work_factor"]) == (49, pytest.approx(2 - 1 / 25))


def test_markdown_is_one_table() -> None:
    lines = codes_markdown().splitlines()
    assert len(lines) == 2 + len(FAMILIES) + len(WAITING)
    assert [cell.strip() for cell in lines[0].split("|")[1:-1]] == [column.heading for column in COLUMNS]
    for line in lines:
        assert line.startswith("| ")
        assert line.endswith(" |")
        assert line.count("|") == len(COLUMNS) + 1, line
    for name in (*FAMILIES, *WAITING):
        assert any(line.startswith(f"| {name} |") for line in lines), name


def test_the_documentation_shows_this_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.count("<!-- codes -->\n") == text.count("<!-- /codes -->\n") == 1
    shown = text.split("<!-- codes -->\n")[1].split("<!-- /codes -->\n")[0]
    assert shown == codes_markdown()
