"""A family of codes as the catalogue and the tuner see it: what it costs, and which sizes it can be built in."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from deadheat.coding.code import Code
from deadheat.coding.cost import Cost
from deadheat.errors import BadInput, whole

KINDS = ("gradient", "linear", "product", "function", "transform")


@dataclass(frozen=True, eq=False)
class Shape:
    """A code that could be built: its size and its cost are known, its matrix is not made yet."""

    family: str
    kind: str
    critical: int
    total: int
    cost: Cost
    build: Callable[[], Code]
    settings: Mapping[str, object] = field(default_factory=dict)  # tell it from others of its size, as {"reuse": True}
    any_critical: bool = True  # any K results suffice, so that the exact law of an iteration holds
    exact: bool = True
    least: int = 0  # the fewest results that can suffice, where these are fewer than K

    @property
    def fewest(self) -> int:
        return self.least or self.critical


Shapes = Iterator[Shape]


@dataclass(frozen=True)
class Family:
    """A family of codes: one line of the catalogue, and what the tuner may choose from it.

    shapes(kind, K, n): the codes of this family nearest to K critical results of n tasks, which jobs of that kind of
    work can run. None where no workload asks for the family.
    """

    name: str
    kinds: tuple[str, ...]
    title: str = ""
    source: str = ""
    work: str = ""  # C/W in the letters of docs/symbols.md
    factor: str = ""  # K C/W
    enough: str = ""  # which results suffice
    notes: str = ""
    shapes: Callable[[str, int, int], Shapes] = lambda kind, critical, total: iter(())


def sizes(
    critical: object, total: object, field: str = "critical", what: str = "results that suffice (K)"
) -> tuple[int, int]:
    """K and n, checked: both are whole, and K <= n. A message speaks of K as `field`, the number of `what`."""
    K, n = whole(field, critical, f"give the number of {what}"), whole("total", total, "give the number of tasks (n)")
    if n < K:
        raise BadInput(field, K, f"more than the {n} tasks there are", f"take at most {n}, or total = {K}")
    return K, n


def straggling(tasks: object, stragglers: object) -> tuple[int, int]:
    """Check n and s of a gradient code: s < n, so that a task needs d = s + 1 <= m = n chunks."""
    n = whole("tasks", tasks, "give the number of tasks (n)")
    s = whole("stragglers", stragglers, "give how many results may be missing (s)", least=0)
    if s >= n:
        problem = f"a task would need d = {s + 1} of the {n} chunks"
        raise BadInput("stragglers", s, problem, f"take at most {n - 1}, or tasks = {s + 1}")
    return n, s


def at_least(total: object, critical: int, because: str) -> int:
    """A number of tasks that holds K of them."""
    n = whole("total", total, "give the number of tasks (n)")
    if n < critical:
        raise BadInput("total", n, f"fewer than the K = {critical} results needed ({because})", f"take {critical}")
    return n
