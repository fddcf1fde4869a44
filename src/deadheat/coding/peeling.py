"""Codes decoded by peeling: an equation with one unknown gives it away, which may leave another with one, and so on.

The unknowns are symbols. A result is an equation (its row of `tasks` equals the result), and so is a parity check (its
row of `checks` equals zero). Peeling only adds and subtracts; it may stop although the results would, by elimination,
determine more: `decodable` means that peeling gets through.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.coding.code import Code
from deadheat.coding.costs import Cost
from deadheat.coding.recipes import Recipe

Array = NDArray[np.float64]
Matrix = NDArray[Any]
ORDERS = 31  # random orders of arrival from which the usual number of results is found
Equation = tuple[NDArray[np.int64], Array]  # symbols and their coefficients
Step = tuple[int, int, float, tuple[tuple[int, float], ...]]  # symbol, place in done or -1, its coefficient, the others


@dataclass(frozen=True, eq=False)
class PeelingCode(Code):
    """Equations between symbols; the first `wanted` of the symbols are the wish.

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
    encoders: tuple[Matrix, ...]
    assemble: Callable[[Matrix], Matrix] | None = None
    exact: bool = True
    _kept: dict[tuple[int, ...], Recipe | None] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not self.critical:
            ranks = np.random.default_rng(0).random((ORDERS, self.total)).argsort(axis=1).argsort(axis=1)
            object.__setattr__(self, "critical", int(np.median(self.finish(ranks.astype(float) + 1))))

    @property
    def total(self) -> int:
        """The number of tasks, n."""
        return len(self.tasks)

    def support(self, task: int) -> tuple[NDArray[np.int64], Matrix]:
        """The blocks of the first operand that a task needs, and their weights."""
        row = self.encoders[0][task]
        blocks = np.flatnonzero(row)
        return blocks, row[blocks, None]

    def mix(self, task: int, values: Any) -> Matrix:
        """The task's result from those of its blocks."""
        blocks, weights = self.support(task)
        return np.asarray(sum(w * values[j] for j, w in zip(blocks, weights[:, 0], strict=True)))

    def decodable(self, done: Collection[int]) -> bool:
        """Whether peeling gets through."""
        return len(set(done)) >= self.least and self.recipe(done) is not None

    def recipe(self, done: Collection[int]) -> Recipe | None:
        """The order in which the symbols come out; kept for the next time."""
        key = tuple(sorted(set(done)))
        if key not in self._kept:
            if len(self._kept) >= self.MOST_KEPT:
                self._kept.clear()
            steps = self._peel(key)
            self._kept[key] = None if steps is None else Peeling(key, steps, self.symbols, self.wanted)
        return self._kept[key]

    def finish(self, ends: Array) -> Array:
        """By bisection over the number of results: more of them never decode less."""
        order = np.argsort(ends, axis=1)
        found = np.full(len(ends), np.inf)
        for row, tasks in enumerate(order):
            low, high = self.least - 1, self.total
            there = int(np.count_nonzero(np.isfinite(ends[row])))
            if there < self.least or self._peel(tuple(tasks[:there])) is None:
                continue
            high = there
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if self._peel(tuple(tasks[:middle])) is not None else (middle, high)
            found[row] = ends[row, tasks[high - 1]]
        return found

    @cached_property
    def _where(self) -> list[list[int]]:
        """For each symbol the equations it is in; tasks first, checks after."""
        places: list[list[int]] = [[] for _ in range(self.symbols)]
        for number, (symbols, _) in enumerate((*self.tasks, *self.checks)):
            for symbol in symbols.tolist():
                places[symbol].append(number)
        return places

    def _peel(self, done: tuple[int, ...]) -> list[Step] | None:
        n = self.total
        equations = (*self.tasks, *self.checks)
        live = {number: len(equations[number][0]) for number in (*done, *range(n, len(equations)))}
        place = {task: i for i, task in enumerate(done)}
        known = np.zeros(self.symbols, bool)
        ready = [number for number, unknown in live.items() if unknown == 1]
        steps: list[Step] = []
        missing = self.wanted
        while ready and missing:
            number = ready.pop()
            symbols, weights = equations[number]
            fresh = np.flatnonzero(~known[symbols])
            if not fresh.size:
                continue
            target = int(symbols[fresh[0]])
            others = tuple((int(j), float(w)) for j, w in zip(symbols, weights, strict=True) if j != target)
            steps.append((target, place.get(number, -1), float(weights[fresh[0]]), others))
            known[target] = True
            missing -= target < self.wanted
            for touched in self._where[target]:
                if touched in live:
                    live[touched] -= 1
                    if live[touched] == 1:
                        ready.append(touched)
        return None if missing else steps


@dataclass(frozen=True, eq=False)
class Peeling:
    """Steps in order: each symbol from one equation and the symbols before it."""

    done: tuple[int, ...]
    steps: list[Step]
    symbols: int
    wanted: int
    residual: float = 0.0

    @cached_property
    def gain(self) -> float:
        """The largest norm of the weights with which results enter a symbol."""
        weights = self._run([np.eye(len(self.done))[i] for i in range(len(self.done))])
        return max(float(np.linalg.norm(np.array([weights[j] for j in range(self.wanted)]), axis=1).max()), 1.0)

    def apply(self, results: Sequence[Matrix]) -> Matrix:
        """The wanted symbols."""
        values = self._run(results)
        return np.stack([values[j] for j in range(self.wanted)])

    def _run(self, results: Sequence[Matrix]) -> dict[int, Matrix]:
        values: dict[int, Matrix] = {}
        for target, place, weight, others in self.steps:
            if not others:
                values[target] = results[place] if weight == 1 else results[place] / weight
                continue
            total = np.array(results[place], copy=True) if place >= 0 else np.zeros_like(results[0])
            for j, w in others:
                total = total - (values[j] if w == 1 else w * values[j])
            values[target] = total if weight == 1 else total / weight
        return values
