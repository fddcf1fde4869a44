"""The suite that every engine passes, shipped for authors of others::

    @pytest.mark.parametrize("check", CHECKS)
    def test_my_engine(check):
        check(lambda workers: MyEngine(workers))

Each check takes a function that makes an engine with so many workers at real speed, and raises AssertionError.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from deadheat.coding import codes
from deadheat.scheduling import Engine, Program, Ticket, Token, messages

Make = Callable[[int], Engine]
NOTHING = np.zeros(1)  # a state that adds nothing
PATIENCE = 60.0  # seconds for anything to happen: a cluster may have to start


class Echo(Program):
    """Returns the state with the task's number and its chunks' sums added, in its own time."""

    def __init__(self, seconds: float = 0.0, numbers: tuple[int, ...] = ()) -> None:
        super().__init__(codes.uncoded(1))
        self._seconds, self.numbers = seconds, numbers
        self._state: Any = None

    def begin(self, state: Any, iteration: int) -> None:
        self._state = state

    def run(self, task: int, token: Token) -> Any:
        """Sleep in small steps, looking at the token; a negative task is an error."""
        if task < 0:
            raise ValueError(f"no task {task}")
        until = time.perf_counter() + self._seconds
        while time.perf_counter() < until:
            token.check()
            time.sleep(0.001)
        return self._state + task + sum(np.sum(self.chunk(place)) for place in range(len(self.numbers)))


@contextlib.contextmanager
def started(make: Make, workers: int) -> Iterator[Engine]:
    """An engine whose workers have all joined."""
    engine = make(workers)
    try:
        seen = {e.worker for e in until(engine, workers, messages.Joined)}
        assert seen == set(range(workers)), f"joined: {sorted(seen)}"
        yield engine
    finally:
        engine.close()


def until(engine: Engine, count: int, kind: type) -> list[Any]:
    """The first so many events of a kind; others are passed over."""
    events: list[Any] = []
    end = engine.now() + PATIENCE
    while len(events) < count:
        assert engine.now() < end, f"waited in vain for {count} {kind.__name__}, got {events}"
        events += [event for event in engine.wait(1.0) if isinstance(event, kind)]
    return events


def compute(engine: Engine, worker: int, program: Echo, *tasks: int, job: int = 0, state: Any = NOTHING) -> None:
    """Install a program for a job, and compute tasks of its first iteration."""
    engine.send(worker, messages.Install(job, program, program.numbers))
    engine.send(worker, messages.Compute(Ticket(job, 0), tasks, state))


def results_come_back(make: Make) -> None:
    """Every task once, from its worker, with its value and in order."""
    with started(make, 2) as engine:
        for worker in (0, 1):
            compute(engine, worker, Echo(), 3 * worker, 3 * worker + 1, 3 * worker + 2, state=np.arange(3.0))
        events = until(engine, 6, messages.Finished)
        for worker in (0, 1):
            assert [e.task for e in events if e.worker == worker] == [3 * worker, 3 * worker + 1, 3 * worker + 2]
        for event in events:
            assert event.ticket == Ticket(0, 0)
            assert np.array_equal(event.value, np.arange(3.0) + event.task)
            assert event.seconds >= 0


def large_arrays_are_whole(make: Make) -> None:
    """States and results of several megabytes, iteration after iteration."""
    with started(make, 2) as engine:
        for worker in (0, 1):
            engine.send(worker, messages.Install(0, Echo()))
        state = np.random.default_rng(0).normal(size=400_000)
        for iteration in range(4):
            for worker in (0, 1):
                engine.send(worker, messages.Compute(Ticket(0, iteration), (worker, worker + 2), state + iteration))
            for event in until(engine, 4, messages.Finished):
                assert event.ticket.iteration == iteration
                assert np.array_equal(event.value, state + iteration + event.task)


def a_newer_ticket_is_the_purge(make: Make) -> None:
    """Tasks of a newer ticket end the older ones, between tasks and inside a task that looks."""
    with started(make, 1) as engine:
        compute(engine, 0, Echo(seconds=5.0), *range(50))
        _pass(engine, 0.3)
        began = time.perf_counter()
        compute(engine, 0, Echo(), 7, job=1)
        (event,) = until(engine, 1, messages.Finished)
        assert event.ticket == Ticket(1, 0)
        assert time.perf_counter() - began < 4.0, "the old task was not stopped"


def a_cancelled_ticket_ends_work(make: Make) -> None:
    """Cancel stops work without new tasks, and later tasks are computed."""
    with started(make, 1) as engine:
        compute(engine, 0, Echo(seconds=5.0), 0, 1)
        _pass(engine, 0.3)
        engine.send(0, messages.Cancel(Ticket(0, 0)))
        (stopped,) = until(engine, 1, messages.Stopped)
        assert not stopped.complete
        engine.send(0, messages.Forget(0))
        compute(engine, 0, Echo(), 1, job=1, state=np.ones(1))
        (event,) = until(engine, 1, messages.Finished)
        assert event.value[0] == 2.0


def more_tasks_of_a_ticket_follow(make: Make) -> None:
    """Further tasks of the same ticket come behind the first."""
    with started(make, 1) as engine:
        compute(engine, 0, Echo(seconds=0.05), 0, 1)
        engine.send(0, messages.Compute(Ticket(0, 0), (2,), NOTHING))
        assert [e.task for e in until(engine, 3, messages.Finished)] == [0, 1, 2]


def chunks_serve_the_tasks_and_jobs_behind_them(make: Make) -> None:
    """Chunks, small and large, are there before the tasks that follow them, and until they are forgotten."""
    with started(make, 2) as engine:
        large = np.ones(300_000)
        for worker in (0, 1):
            engine.send(worker, messages.Store(0, {7: np.float64(0.5), 4: large}))
            compute(engine, worker, Echo(numbers=(7, 4)), worker)
        for event in until(engine, 2, messages.Finished):
            assert event.value[0] == event.task + 0.5 + large.size
        engine.send(0, messages.Forget(0, (7,)))
        compute(engine, 0, Echo(numbers=(4, 4)), 1, job=1)
        (event,) = until(engine, 1, messages.Finished)
        assert event.value[0] == 1 + 2 * large.size


def errors_are_events(make: Make) -> None:
    """A task that raises is reported, and those behind it are computed."""
    with started(make, 1) as engine:
        compute(engine, 0, Echo(), -1, 4)
        events = _first_of_each(engine, messages.Failed, messages.Finished)
        assert "no task -1" in events[messages.Failed].error
        assert events[messages.Finished].task == 4


def a_killed_worker_is_lost_and_comes_back(make: Make) -> None:
    """Killed in the middle of a task: Lost, then Joined; the new one takes tasks. Engines without `kill` pass."""
    with started(make, 2) as engine:
        if type(engine).kill is Engine.kill:
            return
        for worker in (0, 1):
            compute(engine, worker, Echo(seconds=0.5), worker)
        _pass(engine, 0.1)
        engine.kill(1)
        engine.send(1, messages.Compute(Ticket(0, 0), (1,), NOTHING))  # to one that is gone: nothing happens
        events = _first_of_each(engine, messages.Lost, messages.Joined)
        assert events[messages.Lost].worker == events[messages.Joined].worker == 1
        compute(engine, 1, Echo(), 5, job=1)
        event = next(e for _ in range(2) for e in until(engine, 1, messages.Finished) if e.worker == 1)
        assert (event.ticket, event.task) == (Ticket(1, 0), 5)


def waiting_ends_in_time(make: Make) -> None:
    """Without events, wait returns an empty list when its time is up."""
    with started(make, 1) as engine:
        before = engine.now()
        assert engine.wait(0.1) == []
        assert 0.05 <= engine.now() - before < 2.0


def closing_twice_is_fine(make: Make) -> None:
    """Also while work is under way."""
    with started(make, 1) as engine:
        compute(engine, 0, Echo(seconds=30.0), 0)
        began = time.perf_counter()
        engine.close()
        engine.close()
        assert time.perf_counter() - began < 15.0


def _pass(engine: Engine, seconds: float) -> None:
    end = engine.now() + seconds
    while (left := end - engine.now()) > 0:
        engine.wait(left)


def _first_of_each(engine: Engine, *kinds: type) -> dict[type, Any]:
    first: dict[type, Any] = {}
    end = engine.now() + PATIENCE
    while len(first) < len(kinds):
        assert engine.now() < end, f"waited in vain for {kinds}, got {first}"
        for event in engine.wait(1.0):
            if type(event) in kinds:
                first.setdefault(type(event), event)
    return first


CHECKS = (
    results_come_back, large_arrays_are_whole, a_newer_ticket_is_the_purge, a_cancelled_ticket_ends_work,
    more_tasks_of_a_ticket_follow, chunks_serve_the_tasks_and_jobs_behind_them, errors_are_events,
    a_killed_worker_is_lost_and_comes_back, waiting_ends_in_time, closing_twice_is_fine,
)  # fmt: skip
