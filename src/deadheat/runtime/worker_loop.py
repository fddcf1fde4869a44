"""The worker's side: one thread hears letters, the other works on them. Engines only carry the letters to and fro."""

from __future__ import annotations

import queue
import time
import traceback
from collections.abc import Callable
from typing import Any

from deadheat.runtime.emulation import Emulation
from deadheat.runtime.messages import Letter, Open, Order, Shut, Ticket, Void
from deadheat.runtime.work import Purged, Token, Work

Say = Callable[[str, Ticket, tuple[Any, ...]], None]  # kind of news, its ticket, the rest


class WorkerLoop:
    """Works on orders until it is told to end. `hear` may be called from any thread at any time."""

    def __init__(self, say: Say, emulation: Emulation | None = None) -> None:
        self._say = say
        self._stretch = None if emulation is None else emulation.start()
        self._letters: queue.SimpleQueue[Letter | None] = queue.SimpleQueue()
        self._valid = Ticket(-1, -1, -1)  # the first ticket that is not void
        self._voided = 0.0  # when that was heard
        self._works: dict[int, Open] = {}
        self._begun: Ticket | None = None

    def hear(self, letter: Letter | None) -> None:
        """Take a letter; a newer ticket voids the work in hand at once. None ends the loop."""
        match letter:
            case Order(ticket=ticket) if ticket > self._valid:
                self._valid, self._voided = ticket, time.perf_counter()
            case Void(ticket=ticket) if ticket >= self._valid:
                self._valid, self._voided = ticket._replace(attempt=ticket.attempt + 1), time.perf_counter()
        self._letters.put(letter)

    def run(self) -> None:
        """Work until told to end."""
        while (letter := self._letters.get()) is not None:
            match letter:
                case Open(job=job):
                    self._works[job] = letter
                case Shut(job=job):
                    self._works.pop(job, None)
                case Order(ticket=ticket) if ticket >= self._valid and ticket.job in self._works:
                    self._follow(letter)

    def _follow(self, order: Order) -> None:
        opened, ticket = self._works[order.ticket.job], order.ticket
        work: Work = opened.work
        first = self._begun != ticket
        token = Token(lambda: ticket < self._valid)
        if first:
            if self._stretch is not None:
                self._stretch.receive()
            self._begun = ticket
            work.begin(order.state)
        for task in order.tasks:
            if token.purged:
                return
            began = time.perf_counter()
            try:
                value = work.run(task, token)
                if self._stretch is not None:
                    self._stretch.until(began, opened.units, 1 + opened.lead if first else 1)
            except Purged:
                self._stopped(ticket, began, complete=False)
                return
            except Exception as error:
                self._say("failed", ticket, (task, _told(error)))
                continue
            if token.purged:
                self._stopped(ticket, began, complete=not first or not opened.lead)
                return
            first = False
            self._say("finished", ticket, (task, time.perf_counter() - began, value))

    def _stopped(self, ticket: Ticket, began: float, complete: bool) -> None:
        now = time.perf_counter()
        self._say("stopped", ticket, (now - began, complete, max(now - max(self._voided, began), 0.0)))


def _told(error: Exception) -> str:
    """The error in one line, with the place in the user's code."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({last.filename.rpartition('/')[2]}:{last.lineno})"
