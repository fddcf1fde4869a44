"""An iteration's progress, and what each schedule gives out: at its start, to a worker that asks, and when it wakes."""

from __future__ import annotations

import numpy as np
import pytest

import deadheat as dh
from deadheat.scheduling import SCHEDULES, Progress, Schedule, schedule_named
from deadheat.scheduling.schedules import Duplicates, Pull, Speculative, Static, TopUp, register
from deadheat.scheduling.schedules.schedule import copy_of_slowest

SPEEDS = {0: 1.0, 1: 2.0, 2: 5.0}


def progress(total: int, *queues: tuple[int, ...], at: float = 0.0) -> Progress:
    """Workers 0, 1, ... with these tasks, all begun at that time; seconds per task: 1, 2, 5."""
    iteration = Progress(total, range(len(queues)), SPEEDS.__getitem__)
    iteration.now = at
    for worker, tasks in enumerate(queues):
        if tasks:
            iteration.assign(worker, tasks)
    return iteration


# Progress


def test_progress_counts_what_is_given_and_done() -> None:
    iteration = progress(6, (0, 1), (2, 3), at=10.0)
    assert iteration.given == {0, 1, 2, 3}
    assert iteration.spare() == 4
    assert iteration.idle() == []
    iteration.now = 13.0
    iteration.finish(0, 0)
    assert (iteration.done, iteration.left[0], iteration.took, iteration.since[0]) == ({0}, [1], [3.0], 13.0)
    iteration.now = 14.5
    iteration.finish(0, 1)
    assert iteration.took == [3.0, 1.5]
    assert iteration.idle() == [0]
    iteration.now = 20.0
    iteration.assign(0, (4,))
    assert iteration.since[0] == 20.0  # an idle worker begins at once
    iteration.now = 21.0
    iteration.assign(0, (5,))
    assert iteration.since[0] == 20.0  # and goes on with what it has
    assert iteration.spare() is None


def test_a_result_out_of_turn_counts_and_leaves_the_rest_in_order() -> None:
    iteration = progress(4, (0, 1, 2))
    iteration.finish(0, 1)
    assert (iteration.done, iteration.left[0]) == ({1}, [0, 2])


def test_a_result_of_a_worker_that_nobody_asked_counts() -> None:
    iteration = progress(4, (0,))
    iteration.finish(7, 3)
    assert (iteration.done, iteration.took) == ({3}, [])


def test_spare_tasks_come_in_order_and_skip_what_is_given() -> None:
    iteration = progress(5, (1, 3))
    seen = []
    while (spare := iteration.spare()) is not None:
        assert iteration.spare() == spare  # asking does not take it
        seen.append(spare)
        iteration.assign(0, (spare,))
    assert seen == [0, 2, 4]


def test_running_tasks_are_those_in_one_hand_at_the_front() -> None:
    iteration = progress(6, (0, 1), (2, 3), (1,))
    assert iteration.running() == {0: 0.0, 2: 0.0}  # 1 is in two hands, 3 has not begun
    assert iteration.hands() == {0: 1, 1: 2, 2: 1, 3: 1}
    iteration.done.add(0)
    assert iteration.running() == {2: 0.0}


# Static


def test_static_deals_neighbours_together() -> None:
    assert Static().opening([0, 4, 9], [3, 0, 2], 5) == {0: (0, 1, 2), 9: (3, 4)}


def test_static_has_no_more_to_give() -> None:
    iteration = progress(4, (), (2, 3))
    assert Static().more(0, iteration) == ()
    assert Static().wake(iteration) is None


# Pull


@pytest.mark.parametrize(
    ("ahead", "opening"),
    [
        (0, {0: (0,), 1: (1,), 2: (2,)}),
        (1, {0: (0, 3), 1: (1, 4), 2: (2, 5)}),
        (2, {0: (0, 3, 6), 1: (1, 4), 2: (2, 5)}),
    ],
)
def test_pull_deals_in_turns(ahead: int, opening: dict[int, tuple[int, ...]]) -> None:
    """Of seven tasks; who has how many by the split plays no part."""
    for loads in ([7, 0, 0], [1, 2, 4]):
        assert Pull(ahead).opening([0, 1, 2], loads, 6) == opening


def test_pull_gives_nothing_to_whom_nothing_is_left() -> None:
    assert Pull().opening([0, 1, 2], [1, 1, 0], 2) == {0: (0,), 1: (1,)}


def test_a_worker_pulls_when_it_has_no_more_than_ahead() -> None:
    iteration = progress(9, (0, 2), (1,), ())
    assert Pull(ahead=1).more(0, iteration) == ()
    assert Pull(ahead=1).more(1, iteration) == (3,)
    assert Pull(ahead=2).more(0, iteration) == (3,)
    assert Pull(ahead=0).more(1, iteration) == ()
    assert Pull(ahead=0).more(2, iteration) == (3,)
    assert Pull().more(2, progress(3, (0,), (1, 2), ())) == ()


# Top-up


@pytest.mark.parametrize(
    ("loads", "critical", "opening"),
    [
        ([6, 3], 6, {0: (0, 1, 2, 3), 1: (4, 5)}),
        ([6, 3], 9, {0: (0, 1, 2, 3, 4, 5), 1: (6, 7, 8)}),
        ([8, 0], 5, {0: (0, 1, 2, 3, 4)}),
    ],
    ids=["in proportion", "without spares", "alone"],
)
def test_top_up_opens_with_k_tasks(loads: list[int], critical: int, opening: dict[int, tuple[int, ...]]) -> None:
    assert TopUp().opening([0, 1], loads, critical) == opening


def test_top_up_gives_spares_while_there_are_any() -> None:
    iteration = progress(6, (0, 1), (2, 3), ())
    assert TopUp().more(0, iteration) == ()  # two left: it has enough
    assert TopUp(ahead=2).more(0, iteration) == (4,)
    iteration.finish(0, 0)
    assert TopUp().more(0, iteration) == (4,)
    assert TopUp(ahead=0).more(0, iteration) == ()
    assert TopUp().more(2, iteration) == (4,)


def test_top_up_then_gives_copies_to_the_idle() -> None:
    iteration = progress(4, (0,), (1, 2, 3), ())
    assert TopUp().more(0, iteration) == ()
    assert TopUp().more(2, iteration) == (3,)


# Duplicates, and who is helped


def test_duplicates_are_for_the_idle() -> None:
    iteration = progress(5, (0, 1), (2, 3), ())
    assert Duplicates().opening([0, 1], [2, 3], 5) == {0: (0, 1), 1: (2, 3, 4)}
    assert Duplicates().more(0, iteration) == ()
    assert Duplicates().more(2, iteration) == (3,)  # the second needs four seconds, the first two
    assert Duplicates().wake(iteration) is None


def test_the_slowest_is_helped_with_what_it_would_do_last() -> None:
    assert copy_of_slowest(0, progress(9, (), (1, 2, 3), (4, 5))) == (5,)  # 6 s and 10 s
    assert copy_of_slowest(0, progress(9, (), (1, 2, 3), (4,))) == (3,)  # 6 s and 5 s


def test_a_task_in_two_hands_is_not_copied_again() -> None:
    iteration = progress(9, (5,), (1, 2), (4, 5))
    assert copy_of_slowest(0, iteration) == (4,)  # the third still has 4 alone: 5 s against 4 s
    iteration.assign(0, (4,))
    assert copy_of_slowest(0, iteration) == (2,)
    iteration.assign(0, (2, 1))
    assert copy_of_slowest(0, iteration) == ()


def test_a_task_that_is_done_is_not_copied() -> None:
    iteration = progress(3, (), (1, 2))
    iteration.done.add(2)  # by a copy; its owner does not know
    assert copy_of_slowest(0, iteration) == (1,)
    iteration.done.add(1)
    assert copy_of_slowest(0, iteration) == ()


def test_nobody_helps_itself() -> None:
    assert copy_of_slowest(1, progress(3, (), (1, 2))) == ()


# Speculation


def late(count: int) -> Progress:
    """Of eight tasks one worker has done so many, one second each, and is idle; another is at task 0 since time 0."""
    iteration = progress(8, tuple(range(1, count + 1)), (0,))
    for task in range(1, count + 1):
        iteration.now += 1.0
        iteration.finish(0, task)
    return iteration


def test_speculation_pulls_first() -> None:
    assert Speculative().more(0, late(6)) == (7,)  # task 0 is late, but nobody has begun with task 7
    assert Speculative().opening([0, 1], [4, 4], 8) == {0: (0,), 1: (1,)}  # nothing in hand, as in Spark


def test_a_straggler_is_copied_once_most_are_done() -> None:
    iteration = late(7)
    assert Speculative().more(0, iteration) == (0,)
    assert Speculative(quantile=0.9).more(0, iteration) == ()  # seven of eight are not nine tenths
    assert Speculative(multiplier=7.0).more(0, iteration) == ()  # 7 s are not more than seven times the median
    assert Speculative(multiplier=6.9).more(0, iteration) == (0,)


def test_speculation_wakes_when_the_next_task_becomes_a_straggler() -> None:
    schedule = Speculative(multiplier=20.0)
    iteration = late(7)
    wake = float(np.nextafter(20.0, np.inf))
    assert schedule.wake(iteration) == wake
    iteration.now = 20.0
    assert schedule.more(0, iteration) == ()
    iteration.now = wake
    assert schedule.more(0, iteration) == (0,)
    iteration.assign(0, (0,))
    assert schedule.wake(iteration) is None  # it is in two hands now, and nobody is idle


def test_speculation_does_not_wake_in_vain() -> None:
    assert Speculative().wake(late(5)) is None  # too few are done
    busy = late(7)
    busy.assign(0, (0,))
    assert Speculative().wake(busy) is None
    finished = late(7)
    finished.finish(1, 0)
    assert Speculative().wake(finished) is None


def test_the_oldest_straggler_is_first() -> None:
    iteration = progress(4, (0,), (1,), (2, 3))
    iteration.since[1] = -5.0  # it began before the other
    for at, task in ((1.0, 2), (2.0, 3)):
        iteration.now = at
        iteration.finish(2, task)
    assert Speculative(quantile=0.5).more(2, iteration) == (1,)


# By name

BUILT_IN = {"static": Static, "pull": Pull, "top-up": TopUp, "duplicates": Duplicates, "speculative": Speculative}


def test_schedules_by_name() -> None:
    assert {name: type(SCHEDULES[name]) for name in BUILT_IN} == BUILT_IN
    assert schedule_named("pull") is SCHEDULES["pull"]
    mine = Pull(ahead=3)
    assert schedule_named(mine) is mine


@pytest.mark.parametrize(
    ("schedule", "words"), [("pul", "did you mean 'pull'"), (3, "not a schedule"), (Pull, "not a")]
)
def test_what_is_no_schedule(schedule: object, words: str) -> None:
    with pytest.raises(dh.BadInput, match=words):
        schedule_named(schedule)
    with pytest.raises(dh.BadInput, match="not a schedule"):
        register("mine", schedule)  # type: ignore[arg-type]


def test_a_schedule_of_ones_own_needs_an_opening_only() -> None:
    class Alone(Schedule):
        def opening(self, workers: object, loads: object, critical: int) -> dict[int, tuple[int, ...]]:
            return {0: tuple(range(critical))}

    iteration = progress(2, ())
    assert Alone().more(0, iteration) == ()
    assert Alone().wake(iteration) is None
    with pytest.raises(NotImplementedError):
        Schedule().opening([0], [1], 1)
