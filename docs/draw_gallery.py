"""Draw the gallery: a page and its figures for each experiment of the paper, into docs/gallery."""

from __future__ import annotations

from pathlib import Path

from deadheat.paper import EXPERIMENTS
from deadheat.reporting import save_pictures

FOLDER = Path(__file__).parent / "gallery"
SEED = 1


def main() -> None:
    """Write the pages."""
    FOLDER.mkdir(exist_ok=True)
    for name, experiment in EXPERIMENTS.items():
        found = experiment(SEED)
        lines = [f"# {found.title}", "", *(f"{note}\n" for note in found.notes)]
        for picture, caption in save_pictures(found.pictures, FOLDER):
            lines += [f"![{caption}]({picture}.png)", "", f"*{caption}*", ""]
        if found.claims:
            lines += ["| what | printed | ours (95 % interval) | verdict | why |", "|---|---|---|---|---|"]
            lines += [f"| {c.what} | {c.printed} | {c.ours} | {c.verdict} | {c.why} |" for c in found.claims]
        lines += ["", f"Made by `deadheat reproduce --only {name} --seed {SEED}`.", ""]
        (FOLDER / f"{name}.md").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
