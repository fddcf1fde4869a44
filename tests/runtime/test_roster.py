"""The roster: who is replaced, how often and how soon."""

from __future__ import annotations

from deadheat.runtime.engines.roster import LONGEST_PAUSE, MOST_STARTS, SHORT_LIFE, RosterEngine
from deadheat.scheduling import Event, Message


class Roster(RosterEngine[str]):
    """Workers that only have names, on a clock that a test sets."""

    def __init__(self, workers: int, replace_dead: bool = True) -> None:
        super().__init__(workers, replace_dead)
        self.clock, self.started, self.refuses = 0.0, [0] * workers, False
        for worker in range(workers):
            self._start(worker)

    def now(self) -> float:
        return self.clock

    def send(self, worker: int, message: Message) -> None:
        return

    def wait(self, timeout: float | None) -> list[Event]:
        return []

    def close(self) -> None:
        return

    def _start(self, worker: int) -> None:
        if self.refuses:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        self.started[worker] += 1
        self.handles[worker] = f"{worker}, number {self.started[worker]}"

    def _end(self, worker: int) -> None:
        self._lose(worker, "ended")

    def pass_until_started(self) -> float:
        """Seconds until the planned replacement starts."""
        pause = max(self._until_due(), 0.0)
        self.clock += pause
        self._start_due()
        return pause


def test_a_worker_that_has_joined_is_replaced_however_often_it_dies() -> None:
    roster = Roster(1)
    for _ in range(50):
        roster._join(0)
        roster._lose(0, "killed")
        roster.pass_until_started()
    assert roster.started == [51]
    assert not roster.exhausted


def test_one_that_cannot_be_started_is_given_up() -> None:
    roster = Roster(2)
    for trial in range(MOST_STARTS):
        assert roster.started == [trial + 1, 1]
        roster._lose(0, "exit code 1")
        roster.pass_until_started() if roster._due else None
    assert roster.started == [MOST_STARTS, 1]
    assert 0 not in roster.handles
    assert not roster.exhausted
    assert roster.reasons == {0: "exit code 1"}
    roster.leave(1)
    assert roster.exhausted


def test_a_start_that_succeeds_clears_those_that_failed() -> None:
    roster = Roster(1)
    for _ in range(3):
        for _ in range(MOST_STARTS - 1):
            roster._lose(0, "exit code 1")
            roster.pass_until_started()
        roster._join(0)
    assert roster.handles


def test_short_lives_are_followed_by_longer_pauses() -> None:
    """The first replacement comes at once; a job that kills every worker does not become a busy loop."""
    roster, pauses = Roster(1), []
    for _ in range(9):
        roster._join(0)
        roster._lose(0, "killed")
        pauses.append(roster.pass_until_started())
    assert pauses[0] == 0.0
    assert pauses == sorted(pauses)
    assert pauses[1] > 0.0
    assert pauses[-1] == LONGEST_PAUSE
    roster._join(0)
    roster.clock += SHORT_LIFE
    roster._lose(0, "killed")
    assert roster.pass_until_started() == 0.0


def test_a_start_that_the_system_refuses_is_tried_again() -> None:
    roster = Roster(1)
    roster._join(0)
    roster.refuses = True
    roster._lose(0, "killed")
    roster.pass_until_started()
    assert not roster.handles
    assert not roster.exhausted
    assert "could not be started" in roster.reasons[0]
    roster.refuses = False
    roster.pass_until_started()
    assert roster.handles


def test_who_is_expelled_or_leaves_is_not_replaced() -> None:
    roster = Roster(3)
    for worker in range(3):
        roster._join(worker)
    roster.expel(0)
    roster.leave(1)
    roster._lose(2, "killed")
    roster.leave(2)  # while it waits to be replaced
    roster.expel(2)  # and nobody minds
    assert roster.exhausted
    assert roster.reasons == {0: "it gave wrong results", 1: "it has left", 2: "killed"}
    alone = Roster(1, replace_dead=False)
    alone._join(0)
    alone._lose(0, "killed")
    assert alone.exhausted
