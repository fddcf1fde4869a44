"""The worker's loop without any engine: messages in, events out, compared as values."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

import pytest

import deadheat as dh
from deadheat.runtime import Emulation
from deadheat.runtime.emulation import LOOK
from deadheat.runtime.worker_loop import TaskEvent, WorkerLoop
from deadheat.scheduling import (
    Cancel,
    Compute,
    Failed,
    Finished,
    Forget,
    Install,
    Message,
    Program,
    Stopped,
    Store,
    Ticket,
    Token,
    Unreadable,
)

FIRST, SECOND = Ticket(0, 0), Ticket(0, 1)
NEWER = Compute(SECOND, (), None)


def nothing(task: int, token: Token) -> None:
    """What happens during a task, where the test does not say."""


class Adding(Program):
    """State plus task plus the chunks that stand for the task; `during` is called inside each task."""

    def __init__(self, during: Callable[[int, Token], None] = nothing, code: Any = None) -> None:
        super().__init__(code or dh.codes.uncoded(1))
        self.during = during
        self.begun: list[tuple[Any, int]] = []

    def begin(self, state: Any, iteration: int) -> None:
        if state == "torn":
            raise ValueError("a torn state")
        self.begun.append((state, iteration))

    def run(self, task: int, token: Token) -> Any:
        self.during(task, token)
        state, iteration = self.begun[-1]
        assert token.iteration == iteration
        return state + task + (self.chunk(task) if task < len(self.chunks) else 0)


class Bench:
    """A loop that notes every message as it comes, as engines do, and follows it."""

    def __init__(self, program: Program | None = None, emulation: Emulation | None = None) -> None:
        self.loop = WorkerLoop(3, emulation)
        if program is not None:
            self.hear(Install(0, program))

    def hear(self, *messages: Message) -> list[TaskEvent]:
        """What comes of these messages, all there before the first is followed."""
        for message in messages:
            self.loop.note(message)
        return [event for message in messages for event in self.loop.follow(message)]

    def begin(self, message: Message) -> Iterator[TaskEvent]:
        """The events of a message one by one."""
        self.loop.note(message)
        return iter(self.loop.follow(message))


def timeless(events: Iterable[TaskEvent]) -> list[TaskEvent]:
    """The events without the times that were measured."""
    return [
        replace(event, seconds=0.0, late=0.0)
        if isinstance(event, Stopped)
        else replace(event, seconds=0.0)
        if isinstance(event, Finished)
        else event
        for event in events
    ]


def finished(*tasks: int, ticket: Ticket = FIRST) -> list[Finished]:
    return [Finished(3, ticket, task, 0.0, 0.0) for task in tasks]


def stopped(complete: bool, first: bool, ticket: Ticket = FIRST) -> Stopped:
    return Stopped(3, ticket, 0.0, 0.0, complete=complete, first=first)


def values(events: Iterable[TaskEvent]) -> list[Any]:
    return [event.value for event in events if isinstance(event, Finished)]


# Tasks


def test_tasks_are_computed_in_order() -> None:
    events = Bench(Adding()).hear(Compute(FIRST, (2, 0, 1), 10))
    assert timeless(events) == finished(2, 0, 1)
    assert values(events) == [12, 10, 11]


def test_seconds_are_those_of_the_task() -> None:
    def during(task: int, token: Token) -> None:
        time.sleep(0.2 * task)

    short, long = Bench(Adding(during)).hear(Compute(FIRST, (0, 1), 0))
    assert isinstance(short, Finished)
    assert isinstance(long, Finished)
    assert short.seconds < 0.2 <= long.seconds


def test_an_iteration_is_begun_once() -> None:
    program = Adding()
    bench = Bench(program)
    assert values(bench.hear(Compute(FIRST, (0,), 1))) == [1]
    assert values(bench.hear(Compute(FIRST, (5,), 1))) == [6]  # more tasks of the same ticket
    assert values(bench.hear(Compute(SECOND, (0,), 7))) == [7]
    assert program.begun == [(1, 0), (7, 1)]


def test_a_probe_is_iteration_0() -> None:
    program = Adding()
    Bench(program).hear(Install(-1, program), Compute(Ticket(-1, -1, 2), (0,), 1))
    assert program.begun == [(1, 0)]


def test_a_job_that_was_never_installed_is_none_of_its_business() -> None:
    assert Bench(Adding()).hear(Compute(Ticket(4, 0), (0, 1), 0)) == []


def test_chunks_are_known_by_their_place_in_the_job() -> None:
    bench = Bench()
    bench.hear(Install(0, Adding(), chunks=(8, 5)), Store(0, {5: 500, 8: 800}))
    assert values(bench.hear(Compute(FIRST, (0, 1, 2), 0))) == [800, 501, 2]


def test_two_jobs_may_use_one_chunk() -> None:
    bench = Bench()
    bench.hear(Install(0, Adding(), (8,)), Install(1, Adding(), (8,)), Store(0, {8: 800}))
    assert values(bench.hear(Compute(FIRST, (0,), 0))) == [800]
    bench.hear(Forget(0))
    assert values(bench.hear(Compute(Ticket(1, 0), (0,), 1))) == [801]


# Purges


def test_a_newer_ticket_ends_work_between_tasks() -> None:
    bench = Bench(Adding())
    events = bench.begin(Compute(FIRST, (0, 1, 2), 0))
    assert timeless([next(events)]) == finished(0)
    bench.loop.note(NEWER)
    assert list(events) == []  # nothing was in hand: nothing is reported


def test_a_newer_ticket_that_came_before_the_first_task() -> None:
    events = Bench(Adding()).hear(Compute(FIRST, (0, 1), 0), Compute(SECOND, (5,), 0))
    assert timeless(events) == finished(5, ticket=SECOND)


@pytest.mark.parametrize("task", [0, 1])
def test_a_task_that_does_not_look_is_finished_and_reported_as_purged(task: int) -> None:
    def during(now: int, token: Token) -> None:
        if now == task:
            assert not token.purged
            bench.loop.note(NEWER)
            assert token.purged

    bench = Bench(Adding(during))
    events = bench.hear(Compute(FIRST, (0, 1, 2), 0))
    assert timeless(events) == [*finished(*range(task)), stopped(complete=True, first=task == 0)]


@pytest.mark.parametrize("task", [0, 1])
def test_a_task_that_looks_is_put_down(task: int) -> None:
    def during(now: int, token: Token) -> None:
        if now == task:
            bench.loop.note(NEWER)
        token.check()

    bench = Bench(Adding(during))
    events = bench.hear(Compute(FIRST, (0, 1, 2), 0))
    assert timeless(events) == [*finished(*range(task)), stopped(complete=False, first=task == 0)]


def test_how_late_a_worker_was_counts_from_the_purge() -> None:
    def during(task: int, token: Token) -> None:
        time.sleep(0.03)
        bench.loop.note(NEWER)
        time.sleep(0.03)

    bench = Bench(Adding(during))
    (event,) = bench.hear(Compute(FIRST, (0,), 0))
    assert isinstance(event, Stopped)
    assert 0.03 <= event.late < event.seconds
    assert event.seconds >= 0.06


def test_a_cancelled_ticket_is_void() -> None:
    bench = Bench(Adding())
    events = bench.begin(Compute(FIRST, (0, 1, 2), 0))
    next(events)
    bench.hear(Cancel(FIRST))
    assert list(events) == []
    assert bench.hear(Compute(FIRST, (1,), 0)) == []
    assert timeless(bench.hear(Compute(FIRST._replace(attempt=1), (1,), 0))) == finished(1, ticket=Ticket(0, 0, 1))


def test_cancelling_an_older_ticket_changes_nothing() -> None:
    bench = Bench(Adding())
    assert timeless(bench.hear(Compute(SECOND, (0,), 0), Cancel(FIRST))) == finished(0, ticket=SECOND)
    assert timeless(bench.hear(Compute(SECOND, (1,), 0))) == finished(1, ticket=SECOND)


def test_an_older_ticket_that_comes_late_is_dropped() -> None:
    bench = Bench(Adding())
    bench.hear(Compute(SECOND, (0,), 0))
    assert bench.hear(Compute(FIRST, (0,), 0)) == []


# Forgetting


def test_a_forgotten_job_computes_nothing_and_holds_nothing() -> None:
    bench = Bench()
    bench.hear(Install(0, Adding(), (8, 9)), Install(1, Adding(), (9,)), Store(0, {8: 800, 9: 900}))
    bench.hear(Forget(0, chunks=(8,)))
    assert bench.hear(Compute(FIRST, (0,), 0)) == []
    assert set(bench.loop._chunks) == {9}
    assert set(bench.loop._programs) == {1}
    assert values(bench.hear(Compute(Ticket(1, 0), (0,), 0))) == [900]
    bench.hear(Forget(1, chunks=(9,)), Forget(7, chunks=(70,)))  # also of what was never there
    assert bench.loop._chunks == {}


# What cannot be read, and errors

LOST = Unreadable(ModuleNotFoundError("No module named 'x'"))


def failed(task: int, error: str, ticket: Ticket = FIRST) -> Failed:
    return Failed(3, ticket, task, 0.0, error)


def test_a_state_that_cannot_be_read_fails_every_task() -> None:
    why = "the worker cannot read the state (ModuleNotFoundError: No module named 'x')"
    assert Bench(Adding()).hear(Compute(FIRST, (0, 2), LOST)) == [failed(0, why), failed(2, why)]


def test_a_state_that_cannot_be_read_does_not_matter_where_it_is_old() -> None:
    """The memory that it lay in holds a newer one by now: that is how it came to be unreadable."""
    bench = Bench(Adding())
    assert timeless(bench.hear(Compute(FIRST, (0, 2), LOST), Compute(SECOND, (0,), 0))) == finished(0, ticket=SECOND)


def test_a_program_that_cannot_be_read_fails_every_task() -> None:
    events = Bench().hear(Install(0, LOST), Compute(FIRST, (0, 2), 1))
    assert [(event.task, event.ticket) for event in events if isinstance(event, Failed)] == [(0, FIRST), (2, FIRST)]
    for event in events:
        assert isinstance(event, Failed)
        assert "cannot read the job (ModuleNotFoundError: No module named 'x')" in event.error


def test_a_chunk_that_cannot_be_read_fails_the_tasks_that_need_it() -> None:
    bench = Bench()
    bench.hear(Install(0, Adding(), (8, 5)), Store(0, {8: 800, 5: LOST}))
    events = bench.hear(Compute(FIRST, (0, 1, 2), 0))
    assert timeless(events)[0::2] == finished(0, 2)
    assert isinstance(events[1], Failed)
    assert "cannot read what it was sent (ModuleNotFoundError: No module named 'x')" in events[1].error


def test_an_error_in_begin_fails_every_task_and_is_tried_again() -> None:
    bench = Bench(Adding())
    events = bench.hear(Compute(FIRST, (0, 2), "torn"))
    assert [event.task for event in events if isinstance(event, Failed)] == [0, 2]
    assert all("ValueError: a torn state (test_worker_loop.py:" in e.error for e in events if isinstance(e, Failed))
    assert values(bench.hear(Compute(FIRST, (0,), 5))) == [5]


def test_an_error_in_a_task_fails_that_task_only() -> None:
    def during(task: int, token: Token) -> None:
        if task == 1:
            raise ZeroDivisionError("no rate")

    events = Bench(Adding(during)).hear(Compute(FIRST, (0, 1, 2), 0))
    assert timeless(events)[0::2] == finished(0, 2)
    assert isinstance(events[1], Failed)
    assert (events[1].worker, events[1].ticket, events[1].task) == (3, FIRST, 1)
    assert events[1].error.startswith("ZeroDivisionError: no rate (test_worker_loop.py:")


@pytest.mark.parametrize(
    "error",
    [SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError(), GeneratorExit(), MemoryError("no room")],
    ids=lambda error: type(error).__name__,
)
def test_whatever_a_task_raises_fails_that_task_only(error: BaseException) -> None:
    def during(task: int, token: Token) -> None:
        if task == 1:
            raise error

    events = Bench(Adding(during)).hear(Compute(FIRST, (0, 1, 2), 0))
    assert timeless(events)[0::2] == finished(0, 2)
    assert isinstance(events[1], Failed)
    assert events[1].error.startswith(f"{type(error).__name__}: ")


def test_whatever_begin_raises_fails_every_task() -> None:
    class Exits(Adding):
        def begin(self, state: Any, iteration: int) -> None:
            raise SystemExit("no such state")

    events = Bench(Exits()).hear(Compute(FIRST, (0, 2), 0))
    assert [event.task for event in events if isinstance(event, Failed)] == [0, 2]


def test_an_error_that_cannot_be_printed_is_told_by_its_name() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError("no words")

    def during(task: int, token: Token) -> None:
        raise Mute

    (event,) = Bench(Adding(during)).hear(Compute(FIRST, (0,), 0))
    assert isinstance(event, Failed)
    assert event.error.startswith("Mute")


# Emulated speed

UNIT = 0.02


class Counting(dh.laws.Deterministic):
    """A law that notes how many units of work are drawn at a time."""

    drawn: ClassVar[list[int]] = []

    def rvs(self, size: Any = None, random_state: Any = None) -> Any:
        self.drawn.append(size)
        return super().rvs(size, random_state)


def test_the_first_emulated_task_takes_the_shared_chunks_as_well() -> None:
    code = dh.codes.cyclic(6, 2, reuse=True)
    shared, work = code.cost.shared_chunks, 6 * code.cost.work
    program = Adding(code=code)
    program.work = 6.0
    bench = Bench(program, Emulation(Counting(UNIT), 0.0, seed=1))
    for iteration in range(2):
        Counting.drawn.clear()
        ticket = Ticket(0, iteration)
        events = bench.hear(Compute(ticket, (0, 1), 0), Compute(ticket, (2,), 0))
        assert timeless(events) == finished(0, 1, 2, ticket=ticket)
        assert Counting.drawn == [1 + shared, 1, 1]
        first, second, _ = (event.seconds for event in events if isinstance(event, Finished))
        assert first >= (1 + shared) * work * UNIT - LOOK
        assert second >= work * UNIT - LOOK


def test_emulated_comm_comes_once_per_iteration() -> None:
    bench = Bench(Adding(), Emulation(dh.laws.Deterministic(0.001), 0.4, seed=1))
    began = time.perf_counter()
    assert len(bench.hear(Compute(FIRST, (0,), 0))) == 1
    between = time.perf_counter()
    assert between - began >= 0.4
    assert len(bench.hear(Compute(FIRST, (1,), 0))) == 1
    assert time.perf_counter() - between < 0.4


def test_an_emulated_task_is_put_down_in_the_middle() -> None:
    def during(task: int, token: Token) -> None:
        bench.loop.note(NEWER)

    bench = Bench(Adding(during), Emulation(dh.laws.Deterministic(30.0), 0.0, seed=1))
    began = time.perf_counter()
    assert timeless(bench.hear(Compute(FIRST, (0, 1), 0))) == [stopped(complete=False, first=True)]
    assert time.perf_counter() - began < 5.0


def test_a_purge_during_emulated_comm_leaves_nothing_to_report() -> None:
    class Late(Adding):
        def begin(self, state: Any, iteration: int) -> None:
            super().begin(state, iteration)
            if iteration == 0:
                bench.loop.note(NEWER)

    bench = Bench(Late(), Emulation(dh.laws.Deterministic(0.0), 30.0, seed=1))
    began = time.perf_counter()
    assert bench.hear(Compute(FIRST, (0,), 0)) == []
    assert time.perf_counter() - began < 5.0


def test_a_program_that_cannot_be_read_fails_on_an_emulated_worker_too() -> None:
    events = Bench(emulation=Emulation(dh.laws.Deterministic(UNIT), 0.0, seed=1)).hear(
        Install(0, LOST), Compute(FIRST, (0,), 1)
    )
    assert [type(event) for event in events] == [Failed]
