"""Codes decoded by peeling: an equation with one unknown determines it, which may leave another with one, and so on.

The unknowns are symbols. A result is an equation (its row of `tasks` equals the result), and so is a parity check (its
row of `checks` equals zero). Peeling only adds and subtracts; it may stop although the results would, by elimination,
determine more: `decodable` means that peeling gets through.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deadheat.coding.code import Code
from deadheat.coding.cost import Cost
from deadheat.coding.recipe import Recipe
from deadheat.model import AnyArray, Array, IntArray

ORDERS = 31  # random orders of arrival that tell the usual number of results
Equation = tuple[IntArray, Array]  # symbols and their coefficients
Step = tuple[int, int]  # a symbol, and the equation that determines it


@dataclass(frozen=True, eq=False)
class PeelingCode(Code):
    """Equations between symbols; the first `wanted` of the symbols are the target.

    critical: how many results suffice in every second case (0: find out). least: fewer never do.
    """

    family: str
    kind: str
    symbols: int
    wanted: int
    tasks: tuple[Equation, ...]
    checks: tuple[Equation, ...]
    critical: int
    least: int
    cost: Cost
    encoders: tuple[AnyArray, ...]
    assemble: Callable[[AnyArray], AnyArray] | None = None
    exact: bool = True

    def __post_init__(self) -> None:
        if not self.critical:
            ranks = np.random.default_rng(0).random((ORDERS, self.total)).argsort(axis=1).argsort(axis=1)
            object.__setattr__(self, "critical", int(np.median(self.finish(ranks.astype(float) + 1))))

    @property
    def total(self) -> int:
        return len(self.tasks)

    def decodable(self, done: Collection[int]) -> bool:
        return len(self._known(done)) >= self.least and self.recipe(done) is not None

    @property
    def fewest(self) -> int:
        return self.least

    def _recipe(self, done: tuple[int, ...]) -> Recipe | None:
        peeler = _Peeler(self)
        through = [peeler.add(task) for task in done]
        return Peeling(self, done, peeler.steps) if any(through) else None

    def finish(self, ends: Array) -> Array:
        """Arrival by arrival: each result is peeled as far as it goes when it comes."""
        times = np.full(len(ends), np.inf)
        for row, order in enumerate(np.argsort(ends, axis=1).tolist()):
            peeler = _Peeler(self)
            for task in order:
                if peeler.add(task):
                    times[row] = ends[row, task]
                    break
        return times

    @cached_property
    def equations(self) -> tuple[Equation, ...]:
        return (*self.tasks, *self.checks)

    @cached_property
    def graph(self) -> tuple[list[int], list[int], list[list[int]]]:
        """How many symbols each equation has, the sum of their numbers, and the equations of each symbol."""
        places: list[list[int]] = [[] for _ in range(self.symbols)]
        for number, (symbols, _) in enumerate(self.equations):
            for symbol in symbols.tolist():
                places[symbol].append(number)
        sizes = [len(symbols) for symbols, _ in self.equations]
        return sizes, [int(symbols.sum()) for symbols, _ in self.equations], places


class _Peeler:
    """Peeling as results come in. An equation with one unknown has its number as what is left of their sum."""

    def __init__(self, code: PeelingCode) -> None:
        sizes, sums, self._places = code.graph
        self._unknown, self._sums = sizes.copy(), sums.copy()
        self._here = [False] * code.total + [True] * len(code.checks)
        self._known = [False] * code.symbols
        self._wanted = self._missing = code.wanted
        self.steps: list[Step] = []
        self._peel([number for number in range(code.total, len(sizes)) if sizes[number] == 1])

    def add(self, task: int) -> bool:
        """One more result; whether all wanted symbols are known now."""
        self._here[task] = True
        if self._unknown[task] == 1:
            self._peel([task])
        return not self._missing

    def _peel(self, ready: list[int]) -> None:
        unknown, sums, here = self._unknown, self._sums, self._here
        while ready:
            number = ready.pop()
            symbol = sums[number]
            if unknown[number] != 1 or self._known[symbol]:
                continue  # another equation has determined it
            self._known[symbol] = True
            self._missing -= symbol < self._wanted
            self.steps.append((symbol, number))
            for touched in self._places[symbol]:
                unknown[touched] -= 1
                sums[touched] -= symbol
                if unknown[touched] == 1 and here[touched]:
                    ready.append(touched)


@dataclass(frozen=True, eq=False)
class Peeling:
    """Steps in order: each symbol from one equation and the symbols before it."""

    code: PeelingCode
    done: tuple[int, ...]
    steps: list[Step]
    residual: float = 0.0

    @cached_property
    def gain(self) -> float:
        """The largest norm of the weights with which results enter a symbol."""
        weights = self.apply(list(np.eye(len(self.done))))
        return max(float(np.linalg.norm(weights, axis=1).max()), 1.0)

    def apply(self, results: Sequence[AnyArray]) -> AnyArray:
        place = {task: i for i, task in enumerate(self.done)}
        values: dict[int, AnyArray] = {}
        for symbol, number in self.steps:
            symbols, weights = self.code.equations[number]
            if len(symbols) == 1 and weights[0] == 1:
                values[symbol] = results[place[number]]
                continue
            total = np.array(results[place[number]]) if number in place else np.zeros_like(results[0])
            own = 1.0
            for j, w in zip(symbols.tolist(), weights.tolist(), strict=True):
                if j == symbol:
                    own = w
                else:
                    total -= values[j] if w == 1 else w * values[j]
            values[symbol] = total if own == 1 else total / own
        return np.stack([values[j] for j in range(self.code.wanted)])
