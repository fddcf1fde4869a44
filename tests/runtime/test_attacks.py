"""What an attack on streams, descriptors, schedules and checkpoints found: each would fail on the version before."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

import deadheat as dh
from deadheat.coding import Code
from deadheat.runtime import run
from deadheat.runtime.chunk_library import memory_key
from deadheat.scheduling import Abandon, Arrived, Assign, Estimates, Failed, Finished, Master, Progress, Tick, Ticket

PAIR = dh.Cluster([dh.Worker(1e-3, 1e-4), dh.Worker(1e-3, 1e-4)])
CODE: Code = dh.codes.cyclic(4, 1)


def chunk_sum(state: object, chunk: np.ndarray) -> np.ndarray:
    return chunk[:1]


def last(state: object, total: np.ndarray, iteration: int) -> np.ndarray:
    return total


def job(value: float) -> dh.Job:
    return dh.Job(list(np.full((2, 5000), value)), chunk_sum, np.zeros(1), last, iterations=1)


def test_workers_keep_no_descriptor_of_a_job_that_is_over() -> None:
    descriptors = []
    under_way = run((job(float(n)) for n in range(120)), PAIR)
    for delivery in under_way:
        assert delivery.error is None
        assert delivery.state[0] == 2 * delivery.job
        pid = under_way.driver.engine.pid(0)
        if delivery.job in (20, 119) and pid is not None:
            descriptors.append(len(os.listdir(f"/proc/{pid}/fd")))
    assert len(descriptors) == 2
    assert descriptors[1] <= descriptors[0] + 4


def test_a_buffer_that_is_filled_anew_is_not_shared() -> None:
    buffer = np.zeros((2, 5000))

    def jobs() -> Iterator[dh.Job]:
        for n in range(4):
            buffer[:] = n
            yield dh.Job(list(buffer.copy()), chunk_sum, np.zeros(1), last, iterations=1)

    assert [delivery.state[0] for delivery in run(jobs(), PAIR)] == [0.0, 2.0, 4.0, 6.0]
    before = memory_key(buffer)
    buffer[:] = 9.0
    assert memory_key(buffer) != before


def test_keys_of_chunks_are_small() -> None:
    assert isinstance(memory_key(b"x" * 10**6), int)
    assert isinstance(memory_key([0.5] * 10**5), int)
    endless: list[object] = []
    endless.append(endless)
    memory_key(endless)  # ends


def arrived(number: int) -> Arrived:
    return Arrived(number, 0.0, CODE, dh.CodeSpec.of(3, 4), 1)


def test_a_silent_worker_that_fails_is_there_again() -> None:
    master = Master(Estimates(PAIR), (0,))
    master.handle(arrived(0))
    assert master.deadline is not None
    master.handle(Tick(master.deadline))
    assert 0 not in master.alive
    master.handle(Failed(0, Ticket(0, 0), 0, 50.0, "it broke"))
    assert 0 in master.alive


class OpensWithNothing(dh.schedules.Schedule):
    def opening(self, workers: Sequence[int], loads: Sequence[int], critical: int) -> dict[int, tuple[int, ...]]:
        return {}


class FailsOnTheWay(dh.schedules.Static):
    def more(self, worker: int, progress: Progress) -> tuple[int, ...]:
        raise KeyError("more")


def test_a_schedule_that_opens_with_nothing_does_not_hang() -> None:
    commands = Master(Estimates(PAIR), (0, 1), schedule=OpensWithNothing()).handle(arrived(0))
    assert sum(len(command.tasks) for command in commands if isinstance(command, Assign)) >= 3


def test_a_schedule_that_fails_fails_its_job_alone() -> None:
    chunks = list(np.ones((4, 2)))
    jobs = [dh.Job(chunks, chunk_sum, np.zeros(1), last, iterations=1) for _ in range(2)]
    deliveries = list(run(jobs, PAIR, schedule=FailsOnTheWay()))
    assert [delivery.error for delivery in deliveries] == ["its schedule failed: KeyError: 'more'"] * 2


def test_a_checkpoint_that_cannot_be_written_ends_nothing_and_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoints"
    under_way = run([job(1.0), job(2.0)], PAIR, checkpoint=folder)
    folder.rmdir()
    assert [delivery.error for delivery in under_way] == [None, None]
    said = [f"the checkpoint of job {number} cannot be written: No such file or directory" for number in (0, 1)]
    assert list(under_way.outcome.remarks) == said


def test_a_job_is_given_up_where_its_schedule_fails() -> None:
    master = Master(Estimates(PAIR), (0, 1), schedule=FailsOnTheWay())
    master.handle(arrived(0))
    commands = master.handle(Finished(0, Ticket(0, 0), 0, 1.0, 1.0))
    assert isinstance(commands[0], Abandon)
