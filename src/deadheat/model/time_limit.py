"""How long an answer may take before the question is refused: seconds at the command line, minutes in a program."""

from contextvars import ContextVar

AT_THE_COMMAND_LINE, IN_A_PROGRAM = 1.0, 10.0
_leniency = ContextVar("leniency", default=IN_A_PROGRAM)


def allowed(seconds: float) -> float:
    """The limit that stands for so many seconds at the command line."""
    return seconds * _leniency.get()


def answer_in_seconds() -> None:
    """Refuse, from now on, what would keep somebody at a terminal waiting."""
    _leniency.set(AT_THE_COMMAND_LINE)
