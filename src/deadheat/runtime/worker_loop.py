"""The worker's side: follows orders task by task, and looks before and after each whether it is still wanted.

Engines carry the letters: one thread notes their tickets as they come (a newer one voids the work in hand), another
follows the orders.
"""

from __future__ import annotations

import contextlib
import time
import traceback
from collections.abc import Iterator
from typing import Any

from deadheat.runtime.emulation import Emulation
from deadheat.runtime.messages import Letter, Open, Order, Shut, Supply, Ticket, Void
from deadheat.runtime.work import Purged, Token, Unread, Work

News = tuple[str, Ticket, tuple[Any, ...]]  # "finished", "stopped" or "failed", the ticket, and the rest


class WorkerLoop:
    """One worker's jobs, and the ticket from which on orders are valid."""

    def __init__(self, emulation: Emulation | None = None) -> None:
        self._stretch = None if emulation is None else emulation.start()
        self._valid = Ticket(-1, -1, -1)
        self._voided = 0.0  # when older ones became void
        self._works: dict[int, Open] = {}
        self._begun: Ticket | None = None

    def note(self, letter: Letter) -> None:
        """Take notice of a letter's ticket, from any thread at any time."""
        match letter:
            case Order(ticket=ticket) if ticket > self._valid:
                self._valid, self._voided = ticket, time.perf_counter()
            case Void(ticket=ticket) if ticket >= self._valid:
                self._valid, self._voided = ticket._replace(attempt=ticket.attempt + 1), time.perf_counter()

    def follow(self, letter: Letter) -> Iterator[News]:
        """Do what a letter asks for, and say what comes of it."""
        match letter:
            case Open(job=job):
                self._works[job] = letter
            case Supply(job=job, pieces=pieces) if job in self._works:
                for number, piece in pieces.items():
                    self._works[job].work.store(number, piece)
            case Shut(job=job):
                self._works.pop(job, None)
            case Order(ticket=ticket) if ticket >= self._valid and ticket.job in self._works:
                yield from self._work(letter)

    def _work(self, order: Order) -> Iterator[News]:
        opened, ticket = self._works[order.ticket.job], order.ticket
        work: Work = opened.work
        first = self._begun != ticket
        token = Token(lambda: ticket < self._valid)
        if isinstance(order.state, Unread):
            yield from self._unread(order, token)
            return
        if first:
            self._begun = ticket
            work.begin(order.state)
            if self._stretch is not None:
                with contextlib.suppress(Purged):
                    self._stretch.receive(token)
        for task in order.tasks:
            if token.purged:
                return
            began = time.perf_counter()
            try:
                value = work.run(task, token)
                if self._stretch is not None:
                    self._stretch.until(began, opened.units, 1 + opened.shared_chunks if first else 1, token)
            except Purged:
                yield self._stopped(ticket, began, complete=False, first=first)
                return
            except Exception as error:
                yield "failed", ticket, (task, told(error))
                continue
            if token.purged:
                yield self._stopped(ticket, began, complete=True, first=first)
                return
            first = False
            yield "finished", ticket, (task, time.perf_counter() - began, value)

    def _unread(self, order: Order, token: Token) -> Iterator[News]:
        """The state could not be read: no matter where the order is old, else each task says so."""
        for task in () if token.purged else order.tasks:
            yield "failed", order.ticket, (task, f"the worker cannot read the state ({order.state.error})")

    def _stopped(self, ticket: Ticket, began: float, complete: bool, first: bool) -> News:
        now = time.perf_counter()
        return "stopped", ticket, (now - began, complete, max(now - max(self._voided, began), 0.0), first)


def told(error: Exception) -> str:
    """The error in one line, with the place in the user's code and what was noted on the way."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    notes = "".join(f", {note}" for note in getattr(error, "__notes__", ()))
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text} ({last.filename.rpartition('/')[2]}:{last.lineno}{notes})"
