"""Where text for people goes: colour and width follow the terminal, files get plain wide lines."""

import unicodedata
from typing import Any

from rich.console import Console
from rich.text import Text

from deadheat.model import UNSEEN

PLAIN_WIDTH = 120


class Screen(Console):
    """A console on which no text of others can move the cursor or change colours: such characters are shown escaped."""

    def render_str(self, text: str, **how: Any) -> Text:
        return super().render_str(printable(text), **how)


def console(stderr: bool = False) -> Console:
    """A console on standard output (or error) that does not fold tables when it is not a terminal."""
    screen = Screen(stderr=stderr, highlight=False)
    return screen if screen.is_terminal else Screen(stderr=stderr, highlight=False, width=PLAIN_WIDTH)


def printable(text: str) -> str:
    """The text with control and format characters escaped, as Python writes them; line ends and tabs stay."""
    unseen = {c for c in set(text) - set("\n\t") if unicodedata.category(c) in UNSEEN}
    return text.translate({ord(c): c.encode("unicode_escape").decode() for c in unseen}) if unseen else text
