"""Arguments of public functions, checked by their annotations: a wrong type is refused at the door, by its name."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, wraps
from inspect import signature
from numbers import Real
from types import NoneType, UnionType
from typing import Any, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from deadheat.errors import BadInput

P = ParamSpec("P")
R = TypeVar("R")
Kind = tuple[str, Callable[[Any], bool]]  # what to say that it should be, and whether a value is


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which refuses arguments that are not of the types it declares.

    Only types are looked at: our nouns, numbers, texts, lists, functions. What a number must be, the function says.
    """
    names = list(signature(function).parameters)

    @lru_cache(maxsize=1)
    def kinds() -> dict[str, Kind]:
        """Read at the first call, when all names of the annotations are known."""
        hints = get_type_hints(function)
        return {name: _kind(hints[name]) for name in names if name in hints}

    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        table = kinds()
        for name, value in (*zip(names, args, strict=False), *kwargs.items()):
            if name in table and not table[name][1](value):
                words = table[name][0]
                raise BadInput(name, value, f"not {words}", f"give {words}")
        return function(*args, **kwargs)

    return guarded


def _kind(annotation: Any) -> Kind:
    origin = get_origin(annotation) or annotation
    if origin in (Union, UnionType):
        kinds = [_kind(part) for part in get_args(annotation) if part is not NoneType]
        optional = NoneType in get_args(annotation)
        words = " or ".join(dict.fromkeys(words for words, _ in kinds))
        return words, lambda value: (optional and value is None) or any(fits(value) for _, fits in kinds)
    if origin in KINDS:
        return KINDS[origin]
    if getattr(origin, "_is_protocol", False):
        needed = [name for name in vars(origin) if not name.startswith("_")]
        return f"a {origin.__name__}", lambda value: all(hasattr(value, name) for name in needed)
    if isinstance(origin, type):
        article = "an" if origin.__name__[0] in "AEIOU" else "a"
        return f"{article} {origin.__name__}", lambda value: isinstance(value, origin)
    return "anything", lambda value: True


def _is_number(value: Any) -> bool:
    return isinstance(value, Real | np.number) and not isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return hasattr(value, "__len__") and hasattr(value, "__getitem__") and not isinstance(value, str | bytes | Mapping)


KINDS: dict[Any, Kind] = {
    float: ("a number", _is_number),
    int: ("a whole number", _is_number),  # 5.0 counts as 5
    str: ("a text", lambda value: isinstance(value, str)),
    bool: ("True or False", lambda value: isinstance(value, bool | np.bool_)),
    Sequence: ("a list", _is_list),
    Iterable: ("a list", lambda value: hasattr(value, "__iter__") and not isinstance(value, str | bytes)),
    Callable: ("a function", callable),
    Any: ("anything", lambda value: True),
}
