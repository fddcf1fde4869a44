"""The tuner's answer: choices, the best first, with the reason and the frontier of delay against work."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from deadheat.tuning.judge import Choice


@dataclass(frozen=True, eq=False)
class Ranking(Sequence[Choice]):
    """Choices by predicted delay.

    pruned: how many candidates a bound had ruled out. refused: how many that would have won cannot be trusted with
    double precision. unjudged: how many were left out because judging all on so large a cluster would take minutes.
    break_even: how many times the plain work a code may do before even workers that are never without a task take
    longer than the best uncoded choice; NaN where theory does not know or a code wins, infinite where it never does.
    """

    choices: tuple[Choice, ...]
    pruned: int
    refused: int
    break_even: float
    unjudged: int = 0

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
        return self.choices[0]

    def first(self, coded: bool) -> Choice | None:
        """The best code, or the best that is none."""
        return next((choice for choice in self if choice.coded == coded), None)

    @property
    def leaders(self) -> list[Choice]:
        leaders: dict[str, Choice] = {}
        for choice in self:
            leaders.setdefault(choice.family, choice)
        return list(leaders.values())

    @property
    def frontier(self) -> list[Choice]:
        """Those that no other beats in both delay and work: the fastest first, each further one does less work."""
        frontier: list[Choice] = []
        for choice in self:
            least = frontier[-1].work_factor if frontier else math.inf
            if choice.work_factor < least - 1e-9 and math.isfinite(choice.delay):
                frontier.append(choice)
        return frontier

    @property
    def why(self) -> str:
        """One sentence on why the winner wins, and what coding gains or would have to gain here."""
        best, plain, code = self.best, self.first(coded=False), self.first(coded=True)
        if not math.isfinite(best.delay):
            return "No candidate keeps the queue stable: add workers, or let jobs come more slowly."
        wins = f"{best} wins with {best.delay:.4g} s at {best.work_factor:.3g} times the plain work"
        if plain is None or code is None:
            return f"{wins}; nothing {'un' if plain is None else ''}coded was tried beside it."
        if not math.isfinite(plain.delay):
            return f"{wins}; no uncoded choice keeps the queue stable."
        if best.coded:
            saved = f"{1 - best.delay / plain.delay:.1%} less than the {plain.delay:.4g} s of the best uncoded choice"
            return f"{wins}: {saved}, {plain}{_in_doubt(best, plain)}."
        least = f"less than {self.break_even:.3f} times the plain work"
        need = f"even if no worker ever waited, a code would have to do {least}, and "
        if math.isnan(self.break_even):
            need = ""
        elif math.isinf(self.break_even):
            need = "though if no worker ever waited, its work would never be too much, "
        return (
            f"{wins}; coding does not pay here: {need}the best, {code}, does"
            f" {code.work_factor:.3g} times and takes {code.delay:.4g} s{_in_doubt(best, code)}."
        )


def _in_doubt(first: Choice, second: Choice) -> str:
    """Whether the intervals of two simulated choices leave open which is better."""
    high = first.delay if first.interval is None else first.interval.high
    low = second.delay if second.interval is None else second.interval.low
    return "; their intervals overlap, so that it may be the other way round" if high > low else ""
