"""Where text for people goes: colour and width follow the terminal, files get plain wide lines."""

from rich.console import Console

PLAIN_WIDTH = 120


def console(stderr: bool = False) -> Console:
    """A console on standard output (or error) that does not fold tables when it is not a terminal."""
    screen = Console(stderr=stderr, highlight=False)
    return screen if screen.is_terminal else Console(stderr=stderr, highlight=False, width=PLAIN_WIDTH)
