"""What every number, name and noun of a scenario must be, beyond what its own field asks of it."""

import unicodedata
from math import inf

from deadheat.errors import BadInput, finite, whole

LEAST, MOST = 1e-30, 1e30  # of seconds, work, rates and their like: products and squares of four stay in floating point
MOST_COUNT = 10**12  # of jobs and iterations: as of tasks, more would lose the digits of sums
UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # control and format characters, surrogates, line ends: they steer a terminal


def quantity(
    field: str, value: object, remedy: str, *, above: float = -inf, least: float = -inf, most: float = MOST
) -> float:
    """Return value as `finite` does, and refuse what is so large or so small that arithmetic with it would fail."""
    number = finite(field, value, remedy, above=above, least=least, most=most)
    if above >= 0 and number < LEAST:
        raise BadInput(field, value, f"too small: below {LEAST:g}", f"{remedy}, in another unit")
    return number


def count(field: str, value: object, remedy: str, *, least: int = 1) -> int:
    """Return value as `whole` does, and refuse more than anybody can count."""
    number = whole(field, value, remedy, least=least)
    if number > MOST_COUNT:
        raise BadInput(field, value, f"must be at most {MOST_COUNT:g}", remedy)
    return number


def name(field: str, value: object, remedy: str) -> str:
    """Return value as a text that can be shown: without characters that steer a terminal or break a table."""
    if not isinstance(value, str):
        raise BadInput(field, value, "not a text", remedy)
    if any(unicodedata.category(character) in UNSEEN for character in value):
        raise BadInput(field, value, "has characters that cannot be shown", "use letters, digits and signs")
    return value
