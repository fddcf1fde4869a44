"""The tuner's answer: choices, the best first, with the reason and the frontier of delay against work."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from deadheat.tuning.judging import Choice


@dataclass(frozen=True, eq=False)
class Ranking(Sequence[Choice]):
    """Choices by predicted delay.

    pruned: how many candidates a bound had ruled out. refused: how many that would have won cannot be trusted with
    double precision. ideal: the mean iteration if the plain work went through workers that are never without a task.
    """

    choices: tuple[Choice, ...]
    pruned: int
    refused: int
    ideal: float

    def __len__(self) -> int:
        return len(self.choices)

    @overload
    def __getitem__(self, place: int) -> Choice: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Choice, ...]: ...
    def __getitem__(self, place: int | slice) -> Choice | tuple[Choice, ...]:
        return self.choices[place]

    @property
    def best(self) -> Choice:
        """The choice with the least delay."""
        return self.choices[0]

    def first(self, coded: bool) -> Choice | None:
        """The best code, or the best that is none."""
        return next((choice for choice in self if choice.coded == coded), None)

    @property
    def leaders(self) -> list[Choice]:
        """The best of every family."""
        found: dict[str, Choice] = {}
        for choice in self:
            found.setdefault(choice.family, choice)
        return list(found.values())

    @property
    def frontier(self) -> list[Choice]:
        """Those that no other beats in both delay and work: the fastest first, each further one does less work."""
        found: list[Choice] = []
        least = math.inf
        for choice in self:
            if choice.work_factor < least - 1e-9 and math.isfinite(choice.delay):
                found.append(choice)
                least = choice.work_factor
        return found

    @property
    def why(self) -> str:
        """One sentence on why the winner wins, and what coding gains or would have to gain here."""
        best, plain, code = self.best, self.first(coded=False), self.first(coded=True)
        if not math.isfinite(best.delay):
            return "No candidate keeps the queue stable: add workers, or let jobs come more slowly."
        wins = f"{best} wins with {best.delay:.4g} s at {best.work_factor:.3g} times the plain work"
        if plain is None or code is None:
            return f"{wins}; nothing {'un' if plain is None else ''}coded was tried beside it."
        room = 1 - self.ideal / plain.iteration_mean  # what waiting for the last result costs
        if best.coded:
            return (
                f"{wins}: it saves {1 - best.delay / plain.delay:.1%} of the {plain.delay:.4g} s of the best uncoded"
                f" choice, {plain}{_at_most(room)}."
            )
        need = (
            "" if math.isnan(room) else f"a code would have to do less than {1 / (1 - room):.3f} times the plain work"
        )
        return (
            f"{wins}; coding does not pay here: {need}{_at_most(room)}{', and ' if need else ''}the best, {code}, does"
            f" {code.work_factor:.3g} times and takes {code.delay:.4g} s."
        )


def _at_most(room: float) -> str:
    """What the best of codes could save of an uncoded iteration, where it is known."""
    return "" if math.isnan(room) else f" (workers that never wait would save {max(room, 0.0):.1%} of an iteration)"
