"""Jobs on the same data share it: chunks are numbered by their memory, sent once, and forgotten with the last job."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each_engine import PAIR

import deadheat as dh
from deadheat.runtime import Job, run
from deadheat.runtime.chunk_library import ChunkLibrary, memory_key
from deadheat.scheduling import Compute, Forget, Install, Message, Store
from deadheat.simulation import VirtualEngine

DATA = np.arange(60.0).reshape(6, 10)


# Numbers


def test_the_same_memory_has_the_same_number() -> None:
    library = ChunkLibrary()
    assert library.take(list(DATA)) == (0, 1, 2, 3, 4, 5)
    assert library.take([DATA[2], DATA[0], DATA[2]]) == (2, 0, 2)
    assert library[2] is not None
    assert np.shares_memory(library[2], DATA[2])


DIFFERENT: dict[str, tuple[Any, Any]] = {
    "equal arrays": (np.ones(3), np.ones(3)),
    "other rows": (DATA[0], DATA[1]),
    "longer": (DATA[0, :5], DATA[0, :6]),
    "every second": (DATA[0, :3], DATA[0, :6:2]),
    "other type": (DATA[0], DATA[0].view(np.int64)),
    "other shape": (DATA[:2], DATA.ravel()[:20]),
    "whole and half": (1, 1.0),
    "true and one": (True, 1),
    "lists and tuples": ([DATA[0]], (DATA[0],)),
    "other parts": ((DATA[0], 1), (DATA[0], 2)),
    "equal objects": ({"a": 1}, {"a": 1}),
    "signs of zero": (0.0, -0.0),
    "fields": (np.zeros(2, [("a", "f8")]), None),
}


@pytest.mark.parametrize(("first", "second"), list(DIFFERENT.values()), ids=list(DIFFERENT))
def test_what_is_not_the_same_memory_is_not_shared(first: Any, second: Any) -> None:
    if second is None:  # the same bytes under other names and types
        second = first.view([("b", "i8")])
    library = ChunkLibrary()
    assert library.take([first, second]) == (0, 1)


SAME: dict[str, tuple[Any, Any]] = {
    "two views": (DATA[1:3], DATA[1:3]),
    "tuples of views": ((DATA[1], DATA[2]), (DATA[1], DATA[2])),
    "lists of plain values": ([1, "a", None], [1, "a", None]),
    "one object": (DIFFERENT, DIFFERENT),
    "empty tuples": ((), ()),
}


@pytest.mark.parametrize(("first", "second"), list(SAME.values()), ids=list(SAME))
def test_the_same_memory_by_another_name_is_shared(first: Any, second: Any) -> None:
    assert ChunkLibrary().take([first, second]) == (0, 0)
    assert memory_key(first) == memory_key(second)


def test_a_chunk_is_given_up_with_its_last_job() -> None:
    library = ChunkLibrary()
    first, second = library.take([DATA[0], DATA[1], DATA[0]]), library.take([DATA[1], DATA[2]])
    assert (first, second) == ((0, 1, 0), (1, 2))
    assert library.release(first) == {0}
    with pytest.raises(KeyError):
        library[0]
    assert library.release(second) == {1, 2}
    assert library.take([DATA[0]]) == (3,)  # a number is never used again


def test_memory_that_was_given_back_is_not_mistaken_for_the_old() -> None:
    """A chunk that is in use is held: another array cannot come to lie there."""
    library = ChunkLibrary()
    numbers = library.take([np.full(1000, 1.0)])
    others = [library.take([np.full(1000, float(i))])[0] for i in range(20)]
    assert len({*numbers, *others}) == 21
    assert library[numbers[0]][0] == 1.0


# At the workers


class Noted(VirtualEngine):
    """Remembers every message."""

    def __init__(self) -> None:
        super().__init__(PAIR, dh.uniform(PAIR, dh.CodeSpec(6)), absence=0.01)
        self.sent: list[tuple[int, Message]] = []

    def send(self, worker: int, message: Message) -> None:
        self.sent.append((worker, message))
        super().send(worker, message)

    def stored(self) -> list[tuple[int, int, int]]:
        """Worker, job and chunk of everything that was stored, in order."""
        return [(w, m.job, number) for w, m in self.sent if isinstance(m, Store) for number in m.chunks]

    def forgotten(self) -> list[tuple[int, int, tuple[int, ...]]]:
        return [(w, m.job, m.chunks) for w, m in self.sent if isinstance(m, Forget)]


def sums(chunks: Any, name: str = "", iterations: int = 2) -> Job:
    """Adds up all numbers of the chunks, in every iteration."""
    return Job(chunks, lambda state, chunk: chunk.sum(), 0.0, lambda s, total, i: s + float(total), iterations, name)


def test_chunks_are_sent_to_a_worker_once() -> None:
    """Three jobs on the same arrays: the first brings them, the last takes them away."""
    engine = Noted()
    done = run([sums(list(DATA)) for _ in range(3)], PAIR, engine=engine, adapt=False, policy="uniform").wait()
    assert [d.state for d in done.deliveries] == [2 * DATA.sum()] * 3
    assert engine.stored() == [(0, 0, 0), (0, 0, 1), (0, 0, 2), (1, 0, 3), (1, 0, 4), (1, 0, 5)]
    assert engine.forgotten() == [
        (0, 0, ()),
        (1, 0, ()),
        (0, 1, ()),
        (1, 1, ()),
        (0, 2, (0, 1, 2)),
        (1, 2, (3, 4, 5)),
    ]


def test_data_of_its_own_goes_with_its_job() -> None:
    engine = Noted()
    run([sums(list(DATA.copy())) for _ in range(2)], PAIR, engine=engine, adapt=False, policy="uniform").wait()
    assert len(engine.stored()) == 12
    assert {number for _, _, number in engine.stored()} == set(range(12))
    assert [chunks for _, _, chunks in engine.forgotten()] == [(0, 1, 2), (3, 4, 5), (6, 7, 8), (9, 10, 11)]


def test_jobs_that_share_a_part_send_the_rest_only() -> None:
    engine = Noted()
    other = np.full(10, 7.0)
    jobs = [sums(list(DATA)), sums([*DATA[:5], other])]
    first, second = run(jobs, PAIR, engine=engine, adapt=False, policy="uniform").wait().deliveries
    assert (first.state, second.state) == (2 * DATA.sum(), 2 * (DATA[:5].sum() + 70.0))
    assert engine.stored()[6:] == [(1, 1, 6)]
    assert engine.forgotten()[1] == (1, 0, (5,))  # nobody needs it any more


def test_a_probe_brings_the_first_jobs_chunks() -> None:
    engine = Noted()
    done = run(sums(list(DATA)), engine=engine, policy="uniform", adapt=False).wait()
    assert done.state == 2 * DATA.sum()
    pairs = [(worker, number) for worker, _, number in engine.stored()]
    assert len(pairs) == len(set(pairs))
    assert {job for _, job, _ in engine.stored()} <= {-1, 0}
    assert [chunks for _, job, chunks in engine.forgotten() if job == -1] == [(), ()]


def test_a_worker_that_was_lost_is_sent_everything_again() -> None:
    """It is away for 10 ms of some 90: meanwhile the other one gets its chunks, too."""
    engine = Noted()
    engine.kill(1, at=0.012)
    done = run(sums(list(DATA), iterations=30), PAIR, engine=engine, adapt=False, policy="uniform").wait()
    assert done.state == pytest.approx(30 * DATA.sum())
    stored = engine.stored()
    assert [stored.count((1, 0, number)) for number in range(6)] == [0, 0, 0, 2, 2, 2]
    assert [stored.count((0, 0, number)) for number in range(6)] == [1] * 6
    assert len([message for worker, message in engine.sent if isinstance(message, Install) and worker == 1]) == 2


def test_the_program_is_installed_once_per_worker() -> None:
    engine = Noted()
    run([sums(list(DATA), iterations=5) for _ in range(2)], PAIR, engine=engine, adapt=False, policy="uniform").wait()
    installs = [(w, m.job, m.chunks) for w, m in engine.sent if isinstance(m, Install)]
    assert installs == [(w, job, (0, 1, 2, 3, 4, 5)) for job in (0, 1) for w in (0, 1)]
    computes = [m.ticket for w, m in engine.sent if isinstance(m, Compute) and w == 0]
    assert [(t.job, t.iteration) for t in computes] == [(job, i) for job in (0, 1) for i in range(5)]
