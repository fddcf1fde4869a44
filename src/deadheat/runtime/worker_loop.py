"""The worker's side: computes task by task, and looks before and after each whether it is still wanted.

Engines carry the messages: one thread notes their tickets as they come (a newer one makes the work in hand void),
another follows them. Whatever a user's code raises fails its task, and never ends the thread.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from deadheat.runtime.emulation import Emulation

from deadheat.scheduling import (  # isort: skip
    ChunkView, Message, Program, Purged, Ticket, Token, Unreadable, describe_error, messages,
)  # fmt: skip

TaskEvent = messages.Finished | messages.Stopped | messages.Failed  # the master's side puts its own clock into `at`


class WorkerLoop:
    """One worker's programs and chunks, and the ticket from which on its tasks are valid."""

    def __init__(self, worker: int, emulation: Emulation | None = None) -> None:
        self._worker = worker
        self._stretch = None if emulation is None else emulation.start()
        self._valid = Ticket(-2, 0)
        self._voided = 0.0  # when older tickets became void
        self._programs: dict[int, Program | Unreadable] = {}
        self._chunks: dict[int, Any] = {}
        self._begun: Ticket | None = None
        self._pid = os.getpid()

    def note(self, message: Message) -> None:
        """Take notice of a message's ticket, from any thread at any time."""
        match message:
            case messages.Compute(ticket=ticket) if ticket > self._valid:
                self._valid, self._voided = ticket, time.perf_counter()
            case messages.Cancel(ticket=ticket) if ticket >= self._valid:
                self._valid, self._voided = ticket.next, time.perf_counter()

    def follow(self, message: Message) -> Iterator[TaskEvent]:
        """Do what a message asks for, and yield what comes of it."""
        match message:
            case messages.Install(job=job, program=program, chunks=numbers):
                if isinstance(program, Program):
                    program.chunks = ChunkView(numbers, self._chunks)
                self._programs[job] = program
            case messages.Store(chunks=chunks):
                self._chunks |= chunks
            case messages.Forget(job=job, chunks=numbers):
                self._programs.pop(job, None)
                for number in numbers:
                    self._chunks.pop(number, None)
            case messages.Compute(ticket=ticket) if ticket >= self._valid and ticket.job in self._programs:
                yield from self._compute(message)

    def _compute(self, message: messages.Compute) -> Iterator[TaskEvent]:
        program, ticket = self._programs[message.ticket.job], message.ticket
        token = Token(lambda: ticket < self._valid, max(ticket.iteration, 0))
        for what, content in (("job", program), ("state", message.state)):
            if isinstance(content, Unreadable):
                for task in () if token.purged else message.tasks:  # no matter where the message is old
                    yield self._failed(ticket, task, f"the worker cannot read the {what} ({content.error})")
                return
        assert isinstance(program, Program)
        first = self._begun != ticket
        if first:
            self._begun = ticket
            try:
                self._call(program.begin, message.state, token.iteration)
            except BaseException as error:
                for task in message.tasks:
                    yield self._failed(ticket, task, reason(error))
                self._begun = None
                return
            if self._stretch is not None:
                with contextlib.suppress(Purged):
                    self._stretch.receive(token)
        for task in message.tasks:
            if token.purged:
                return
            began = time.perf_counter()
            try:
                value = self._call(program.run, task, token)
                if self._stretch is not None:
                    spec = program.spec
                    self._stretch.until(began, spec.work, 1 + spec.shared_chunks if first else 1, token)
            except Purged:
                yield self._stopped(ticket, began, complete=False, first=first)
                return
            except BaseException as error:  # SystemExit and KeyboardInterrupt too: they are the task's
                yield self._failed(ticket, task, reason(error))
                continue
            if token.purged:
                yield self._stopped(ticket, began, complete=True, first=first)
                return
            first = False
            yield messages.Finished(self._worker, ticket, task, 0.0, time.perf_counter() - began, value)

    def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a user's code. A child process that it has forked ends here: it is no second worker."""
        try:
            return function(*arguments)
        finally:
            if os.getpid() != self._pid:
                os._exit(0)

    def _failed(self, ticket: Ticket, task: int, error: str) -> messages.Failed:
        return messages.Failed(self._worker, ticket, task, 0.0, error)

    def _stopped(self, ticket: Ticket, began: float, complete: bool, first: bool) -> messages.Stopped:
        now = time.perf_counter()
        late = max(now - max(self._voided, began), 0.0)
        return messages.Stopped(self._worker, ticket, 0.0, now - began, complete=complete, late=late, first=first)


def reason(error: BaseException) -> str:
    """The error in one line, also where the error itself cannot be printed."""
    try:
        return describe_error(error)
    except BaseException:  # of a user's __str__, say
        return type(error).__name__
