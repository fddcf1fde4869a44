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
from deadheat.coding.decoding_recipe import Recipe
from deadheat.coding.precision import wide
from deadheat.model import AnyArray, Array, IntArray

PROBES = 8  # of random signs tell the size of an error to a quarter or so
ORDERS = 31  # random orders of arrival that tell the usual number of results
Equation = tuple[IntArray, Array]  # symbols and their coefficients
Step = tuple[int, int]  # a symbol, and the equation that determines it


@dataclass(frozen=True, eq=False)
class PeelingCode(Code):
    """Equations between symbols; the first `wanted` of the symbols are the target."""

    family: str
    kind: str
    symbols: int
    wanted: int
    tasks: tuple[Equation, ...]
    checks: tuple[Equation, ...]
    critical: int  # how many results suffice in every second case; 0: find out
    cost: Cost
    least: int = 0
    encoders: tuple[AnyArray, ...] = ()
    assemble: Callable[[AnyArray], AnyArray] | None = None

    def __post_init__(self) -> None:
        if not self.critical:
            ranks = np.random.default_rng(0).random((ORDERS, self.total)).argsort(axis=1).argsort(axis=1)
            object.__setattr__(self, "critical", int(np.median(self.finish(ranks.astype(float) + 1))))

    @property
    def total(self) -> int:
        return len(self.tasks)

    def decodable(self, done: Collection[int]) -> bool:
        return len(self._known(done)) >= self.least and self.recipe(done) is not None

    def _recipe(self, done: tuple[int, ...]) -> Recipe | None:
        peeled = self._peel(done)
        return None if peeled is None else Peeling(self, done, peeled[1])

    def finish(self, ends: Array) -> Array:
        times = np.full(len(ends), np.inf)
        for row, order in enumerate(np.argsort(ends, axis=1).tolist()):
            peeled = self._peel(order)
            if peeled is not None:
                times[row] = ends[row, order[peeled[0] - 1]]
        return times

    @cached_property
    def equations(self) -> tuple[Equation, ...]:
        return (*self.tasks, *self.checks)

    @cached_property
    def _graph(self) -> tuple[list[int], list[int], list[list[int]]]:
        """How many symbols each equation has, the sum of their numbers, and the equations of each symbol."""
        places: list[list[int]] = [[] for _ in range(self.symbols)]
        for number, (symbols, _) in enumerate(self.equations):
            for symbol in symbols.tolist():
                places[symbol].append(number)
        return [len(s) for s, _ in self.equations], [int(s.sum()) for s, _ in self.equations], places

    def _peel(self, order: Sequence[int]) -> tuple[int, list[Step]] | None:
        """How many results suffice when they come in that order, and the steps; None where all are too few."""
        sizes, totals, places = self._graph
        unknown, sums = sizes.copy(), totals.copy()  # of what is not solved: with one left, the sum is its number
        here = [False] * self.total + [True] * len(self.checks)
        solved, missing = [False] * self.symbols, self.wanted
        steps: list[Step] = []
        ready = [number for number in range(self.total, len(sizes)) if sizes[number] == 1]
        for count, task in enumerate(order, 1):
            here[task] = True
            ready.append(task)
            while ready:
                number = ready.pop()
                symbol = sums[number]
                if unknown[number] != 1 or solved[symbol]:
                    continue  # another equation has determined its symbol, or it has several left
                solved[symbol] = True
                missing -= symbol < self.wanted
                steps.append((symbol, number))
                for touched in places[symbol]:
                    unknown[touched] -= 1
                    sums[touched] -= symbol
                    if unknown[touched] == 1 and here[touched]:
                        ready.append(touched)
            if not missing:
                return count, steps
        return None


@dataclass(frozen=True, eq=False)
class Peeling:
    """Steps in order: each symbol from one equation and the symbols before it."""

    code: PeelingCode
    done: tuple[int, ...]
    steps: list[Step]
    residual: float = 0.0

    @property
    def places(self) -> IntArray:
        return np.arange(self.code.wanted)

    @cached_property
    def gain(self) -> float:
        """The largest norm of the weights with which results enter a symbol."""
        weights = self.apply(list(np.eye(len(self.done))))
        return max(float(np.linalg.norm(weights, axis=1).max()), 1.0)

    @property
    def growth(self) -> float:
        return self.gain

    def spread(self, errors: Array) -> Array:
        """By peeling errors of random signs, since the weights themselves are too many to be kept for each pattern."""
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (len(self.done), PROBES, 1))
        return np.asarray(np.sqrt(np.mean(self.apply(list(signs * errors[:, None])) ** 2, axis=1)))

    def apply(self, results: Sequence[AnyArray]) -> AnyArray:
        place = {task: i for i, task in enumerate(self.done)}
        native = np.result_type(*{result.dtype for result in results})
        kind = wide(native)
        values: dict[int, AnyArray] = {}
        for symbol, number in self.steps:
            symbols, weights = self.code.equations[number]
            if len(symbols) == 1 and weights[0] == 1:
                values[symbol] = results[place[number]]
                continue
            total = np.zeros(results[0].shape, kind)
            if number in place:
                total += results[place[number]]
            own = 1.0
            for j, w in zip(symbols.tolist(), weights.tolist(), strict=True):
                if j == symbol:
                    own = w
                else:
                    total -= values[j] if w == 1 else w * values[j]
            values[symbol] = total if own == 1 else total / own
        return np.stack([values[j] for j in range(self.code.wanted)]).astype(native, copy=False)
