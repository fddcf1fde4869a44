"""A report of findings as one HTML page, with its figures beside it as PNG and SVG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from rich.console import Console
from rich.markup import escape as plain_text
from rich.table import Table

from deadheat.model.finding import Claim, Picture
from deadheat.reporting.figures import new_figure

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; } th, td { text-align: left; vertical-align: top;
padding: .4rem .6rem; border-bottom: 1px solid #ddd; } th { background: #f5f5f5; } img { max-width: 100%; }
.confirmed, .matched { color: #06662a; } .refuted { color: #a3170b; font-weight: 600; } .beyond { color: #555; }
figcaption, .note { color: #555; } figure { margin: 1rem 0; }
"""


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


def write_report(sections: Sequence[Section], errata: Sequence[str], folder: Path, heading: str, about: str) -> Path:
    """Write index.html: what was printed, what we find with its interval, the verdict and why; then every section."""
    refuted = [c for s in sections for c in s.claims if c.verdict == "refuted"]
    wrong = [f"{c.what}: printed {c.printed}. {c.why}." for c in refuted] + list(errata)
    body = [
        f"<h1>{escape(heading)}</h1><p>{escape(about)}</p>",
        f"<h2>Printed and found</h2><p>{MEANING}</p>",
        _table(sections),
        "<h2>Errata</h2><ul>" + "".join(f"<li>{escape(text)}</li>" for text in wrong) + "</ul>",
    ]
    for section in sections:
        body.append(f'<h2 id="{section.name}">{escape(section.title)}</h2>')
        body += [f'<p class="note">{escape(note)}</p>' for note in section.notes]
        for name, caption in section.figures:
            body.append(
                f'<figure><img src="{name}.png" alt="{escape(caption)}"><figcaption>{escape(caption)}'
                f' (<a href="{name}.svg">SVG</a>)</figcaption></figure>'
            )
        body.append(f'<p class="note">{section.seconds:.1f} s; deadheat reproduce --only {section.name}</p>')
    path = folder / "index.html"
    path.write_text(page(heading, "".join(body)), encoding="utf-8")
    return path


def page(heading: str, body: str) -> str:
    """A page in the house's style."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{escape(heading)}</title><style>{STYLE}</style></head><body>{body}</body></html>"
    )


def _table(sections: Sequence[Section]) -> str:
    rows = []
    for section in sections:
        for claim in section.claims:
            word = claim.verdict
            cells = (claim.what, claim.printed, claim.ours)
            rows.append(
                f'<tr><td><a href="#{section.name}">{section.name}</a></td>'
                + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
                + f'<td class="{word}">{word}</td><td>{escape(claim.why)}</td></tr>'
            )
    heads = "".join(
        f"<th>{head}</th>" for head in ("from", "what", "printed", "ours (95 % interval)", "verdict", "why")
    )
    return f"<table><tr>{heads}</tr>{''.join(rows)}</table>"


def print_report(sections: Sequence[Section], console: Console) -> None:
    """Print the claims."""
    table = Table("from", "what", "printed", "ours (95 % interval)", "verdict", show_edge=False, pad_edge=False)
    for section in sections:
        for claim in section.claims:
            table.add_row(section.name, *map(plain_text, (claim.what, claim.printed, claim.ours)), claim.verdict)
    console.print(table)
