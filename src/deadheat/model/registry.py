"""Things that are known by name, to which users add their own: by a call of `register`, or by an entry point."""

import warnings
from collections.abc import Iterator, Mapping
from typing import TypeVar

from deadheat.errors import BadInput, nearest
from deadheat.model.quantity import name as shown_name

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """A mapping from names to things: the built-in ones, the registered ones and those of installed packages.

    what: the noun of messages ("policy"). field: the setting that names such a thing ("split.policy").
    group: of entry points in a package's pyproject.toml, imported when a name is missing or all names are listed.
    """

    def __init__(self, what: str, field: str, group: str, builtin: Mapping[str, T]) -> None:
        self.what, self.field, self.group = what, field, group
        self._things = dict(builtin)
        self._complete = False  # whether the entry points have been read

    def register(self, name: str, thing: T) -> None:
        if not shown_name("name", name, 'give a text, such as "mine"'):
            raise BadInput("name", name, f"not a name for a {self.what}", 'give a text, such as "mine"')
        if name in self._things:
            raise BadInput("name", name, f"there is a {self.what} of this name", "choose another name")
        self._things[name] = thing

    def find(self, name: object, field: str | None = None) -> T:
        """The thing of that name, or BadInput about `field` with the nearest known name."""
        if not isinstance(name, str) or name not in self:
            raise BadInput(field or self.field, name, f"no such {self.what}", nearest(str(name), self))
        return self[name]

    def __getitem__(self, name: str) -> T:
        if name not in self._things:
            self._read_entry_points()
        return self._things[name]

    def __iter__(self) -> Iterator[str]:
        self._read_entry_points()
        return iter(self._things)

    def __len__(self) -> int:
        self._read_entry_points()
        return len(self._things)

    def _read_entry_points(self) -> None:
        if self._complete:
            return
        from importlib.metadata import entry_points  # here, since its import takes 40 ms

        self._complete = True  # first, since a module that is imported here may ask for a name itself
        for entry in entry_points(group=self.group):
            try:
                thing = entry.load()
            except Exception as error:  # a broken package must not break deadheat
                problem = f"cannot be loaded: {error!r}"
            else:
                if self._things.setdefault(entry.name, thing) is thing:
                    continue
                problem = "is ignored: the name is taken"
            warnings.warn(f"the {self.what} {entry.name!r} ({entry.value}) {problem}", RuntimeWarning, stacklevel=3)
