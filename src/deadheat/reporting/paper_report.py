"""The reproduction of the paper: a table of claims, and an HTML page with its figures beside it as PNG and SVG."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from rich.console import Console

from deadheat.model import Claim, Picture
from deadheat.reporting.columns import Column, html_table, rich_table
from deadheat.reporting.figures import new_figure
from deadheat.reporting.html_page import html_page

HEADING = "Stream Iterative Distributed Coded Computing: the paper, reproduced"
MEANING = (
    "confirmed: we find the same; matched: with workers that were built to meet what is printed, as the paper's own are"
    " lost; refuted: an erratum; beyond: not in the paper."
)


@dataclass(frozen=True)
class Section:
    """One part of a report: claims, notes, and figures that lie in the report's folder."""

    name: str
    title: str
    claims: Sequence[Claim]
    figures: Sequence[tuple[str, str]]  # file name without ending, caption
    notes: Sequence[str]
    seconds: float


CLAIMS: list[Column[tuple[str, Claim]]] = [  # of a section's name and a claim
    Column("from", lambda row: row[0], left=True, html=lambda row: f'<a href="#{row[0]}">{row[0]}</a>'),
    Column("what", lambda row: row[1].what, left=True),
    Column("printed", lambda row: row[1].printed, left=True),
    Column("ours (95 % interval)", lambda row: row[1].ours, left=True),
    Column("verdict", lambda row: row[1].verdict, left=True,
           html=lambda row: f'<span class="{row[1].verdict}">{row[1].verdict}</span>'),
]  # fmt: skip
WHY: Column[tuple[str, Claim]] = Column("why", lambda row: row[1].why, left=True)


def save_pictures(pictures: Iterable[Picture], folder: Path) -> list[tuple[str, str]]:
    """Draw each picture to PNG and SVG; their names and captions."""
    saved = []
    for picture in pictures:
        figure = new_figure(9, 4.5)
        picture.draw(figure)
        for ending in ("png", "svg"):
            figure.savefig(folder / f"{picture.name}.{ending}", dpi=120)
        saved.append((picture.name, picture.caption))
    return saved


def write_paper_report(sections: Sequence[Section], folder: Path, errata: Sequence[str], about: str) -> Path:
    """Write index.html: what was printed, what we find with its interval, the verdict and why; then every section."""
    refuted = [claim for _, claim in _claims(sections) if claim.verdict == "refuted"]
    wrong = [f"{claim.what}: printed {claim.printed}. {claim.why}." for claim in refuted] + list(errata)
    body = [
        f"<h1>{HEADING}</h1><p>{escape(about)}</p>",
        f"<h2>Printed and found</h2><p>{MEANING}</p>",
        html_table([*CLAIMS, WHY], _claims(sections)),
        "<h2>Errata</h2><ul>" + "".join(f"<li>{escape(text)}</li>" for text in wrong) + "</ul>",
    ]
    for section in sections:
        body.append(f'<h2 id="{section.name}">{escape(section.title)}</h2>')
        body += [f'<p class="note">{escape(note)}</p>' for note in section.notes]
        for name, caption in section.figures:
            text = f'{escape(caption)} (<a href="{name}.svg">SVG</a>)'
            image = f'<img src="{name}.png" alt="{escape(caption)}">'
            body.append(f"<figure>{image}<figcaption>{text}</figcaption></figure>")
        body.append(f'<p class="note">{section.seconds:.1f} s; deadheat reproduce --only {section.name}</p>')
    path = folder / "index.html"
    path.write_text(html_page(HEADING, "".join(body)), encoding="utf-8")
    return path


def paper_json(sections: Sequence[Section]) -> list[dict[str, Any]]:
    """Every experiment with its claims and verdicts."""
    fields = ("what", "printed", "ours", "why", "verdict")
    return [
        {
            "name": section.name, "title": section.title, "notes": list(section.notes),
            "claims": [{field: getattr(claim, field) for field in fields} for claim in section.claims],
            "figures": [name for name, _ in section.figures],
        }
        for section in sections
    ]  # fmt: skip


def print_claims(sections: Sequence[Section], console: Console) -> None:
    """Print what was printed beside ours, with the verdict."""
    console.print(rich_table(CLAIMS, _claims(sections)))


def _claims(sections: Sequence[Section]) -> list[tuple[str, Claim]]:
    return [(section.name, claim) for section in sections for claim in section.claims]
