"""Errors: each one that deadheat raises is a DeadheatError; bad input is also a ValueError."""

import copyreg
import difflib
import pickle
from collections.abc import Callable, Iterable
from math import floor, inf, isfinite

import numpy as np


class DeadheatError(Exception):
    """The base of all errors that deadheat raises itself; its message is one line that any terminal can show."""

    def __init__(self, message: str = "") -> None:
        super().__init__(printable(message))

    def __reduce__(self) -> tuple[object, ...]:
        """Made again without its __init__, whose arguments are not the message; so it is sent to other processes."""
        attributes = {name: _portable(value) for name, value in vars(self).items()}
        return copyreg.__newobj__, (type(self), *self.args), attributes  # type: ignore[attr-defined]


class BadInput(DeadheatError, ValueError):
    """A value that cannot be meant: the field, the value, what is wrong with it and what to do instead."""

    def __init__(self, field: str, value: object, problem: str, remedy: str) -> None:
        super().__init__(f"{field} = {_short(value)}: {problem}; {remedy}")
        self.field, self.value, self.problem, self.remedy = field, value, problem, remedy

    def within(self, place: str) -> "BadInput":
        """The same error with a longer field: 'mean' becomes 'workers[2].mean'."""
        return BadInput(f"{place}.{self.field}", self.value, self.problem, self.remedy)


class NoConvergence(DeadheatError):
    """A solver that did not reach its tolerance and is given up; carries the numbers."""

    def __init__(self, what: str, steps: int, residual: float, remedy: str = "") -> None:
        advice = f"; {remedy}" if remedy else ""
        super().__init__(f"{what} did not converge in {steps} steps (residual {residual:.3g}){advice}")
        self.what, self.steps, self.residual, self.remedy = what, steps, residual, remedy


class NotConverged(UserWarning):
    """A job used up its iterations before it reached its tolerance; it is delivered as far as it came."""


def finite(
    field: str, value: object, remedy: str, *, above: float = -inf, least: float = -inf, most: float = inf
) -> float:
    """Return value as a float that is finite, > above, >= least and <= most, or raise BadInput."""
    if isinstance(value, (bool, str, bytes)) or not hasattr(value, "__float__"):
        raise BadInput(field, value, "not a number", remedy)
    try:
        number = float(value)
    except (TypeError, ValueError):  # an array, say
        raise BadInput(field, value, "not a single number", remedy) from None
    except OverflowError:
        raise BadInput(field, value, "beyond the range of floating point", remedy) from None
    if not isfinite(number):
        raise BadInput(field, value, "not a finite number", remedy)
    if not number > above:
        raise BadInput(field, value, f"must be above {above:g}", remedy)
    if number < least:
        raise BadInput(field, value, f"must be at least {least:g}", remedy)
    if number > most:
        raise BadInput(field, value, f"must be at most {most:g}", remedy)
    return number


def whole(field: str, value: object, remedy: str, *, least: int = 1) -> int:
    """Return value as an int >= least, or raise BadInput; 5.0 counts as 5."""
    number = finite(field, value, remedy)
    if number != floor(number):
        raise BadInput(field, value, "not a whole number", remedy)
    if number < least:
        raise BadInput(field, value, f"must be at least {least}", remedy)
    return int(number)


def check_field(noun: object, check: Callable[..., object], field: str, remedy: str, **limits: float) -> None:
    """Replace a field of a frozen dataclass by what `finite` or `whole` makes of it; for its __post_init__."""
    object.__setattr__(noun, field, check(field, getattr(noun, field), remedy, **limits))


def nearest(word: str, names: Iterable[str]) -> str:
    """Say what exists, the nearest first: "did you mean 'rate'?" or "known: a, b"."""
    ordered = sorted(names)
    close = difflib.get_close_matches(word, ordered, n=1, cutoff=0.6)
    return f"did you mean '{close[0]}'?" if close else "known: " + ", ".join(ordered)


def printable(text: str) -> str:
    """The text in one line, with every control character written as Python writes it in a string."""
    if text.isprintable():
        return text
    words = " ".join(text.split())
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in words)


def _short(value: object) -> str:
    try:
        text = repr(value.item() if isinstance(value, np.generic) else value).replace("\n", " ")
    except Exception:  # of a class of the user's: the error to be told is another one
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 60 else text[:57] + "..."


def _portable(value: object) -> object:
    """The value itself, or in words where it cannot be pickled."""
    try:
        pickle.dumps(value)
    except Exception:  # pickle raises nearly anything
        return _short(value)
    return value
