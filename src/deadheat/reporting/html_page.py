"""A page in HTML with deadheat's style."""

from html import escape

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; } th, td { text-align: left; vertical-align: top;
padding: .4rem .6rem; border-bottom: 1px solid #ddd; } th { background: #f5f5f5; } img { max-width: 100%; }
.confirmed, .matched { color: #06662a; } .refuted { color: #a3170b; font-weight: 600; } .beyond { color: #555; }
figcaption, .note { color: #555; } figure { margin: 1rem 0; }
"""


def html_page(heading: str, body: str) -> str:
    """The whole page; `body` is HTML already."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{escape(heading)}</title><style>{STYLE}</style></head><body>{body}</body></html>"
    )
