"""Programs over chunks: a chunk is computed once per iteration, and any decodable results add up to the plain sum."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.coding import Code
from deadheat.runtime import Job, LoadedChunks, grouped
from deadheat.scheduling import Token

WANTED = Token(lambda: False)
DATA = [np.arange(6.0) * (k + 1) for k in range(6)]


def job(chunks: Any = DATA, compute: Any = lambda state, chunk: state * chunk) -> Job:
    return Job(chunks, compute, 1.0, lambda s, total, i: total, 3)


CODES: dict[str, Code | None] = {
    "uncoded": None,
    "cyclic": dh.codes.cyclic(6, 2),
    "cyclic, reuse": dh.codes.cyclic(6, 2, reuse=True),
    "repetition": dh.codes.fractional_repetition(6, 2),
    "in parts": dh.codes.communication_efficient(6, 3, 2),
}


@pytest.mark.parametrize("code", list(CODES.values()), ids=list(CODES))
def test_any_decodable_results_add_up_to_the_sum(code: Code | None) -> None:
    program = job().program(code, math.inf)
    program.begin(2.0, 0)
    results = {task: program.run(task, WANTED) for task in range(program.code.total)}
    assert program.rejected(results) == frozenset()
    sets = [set(tasks) for tasks in itertools.combinations(results, program.code.fewest)]
    decodable = [tasks for tasks in sets if program.code.decodable(tasks)]
    assert decodable
    for tasks in decodable:
        answer = program.decode({task: results[task] for task in tasks})
        np.testing.assert_allclose(answer, 2.0 * np.sum(DATA, axis=0), rtol=1e-9, atol=1e-9)


def test_a_chunk_that_several_tasks_need_is_computed_once() -> None:
    computed: list[float] = []

    def counted(state: float, chunk: Any) -> Any:
        computed.append(float(chunk[1]))
        return state * chunk

    program = job(compute=counted).program(dh.codes.cyclic(6, 2), math.inf)
    program.begin(1.0, 0)
    for task in range(6):
        program.run(task, WANTED)
    assert sorted(computed) == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    first = program.run(0, WANTED)
    assert len(computed) == 9  # asked for again, it is doubted: its chunks are computed anew
    program.begin(3.0, 1)  # what belongs to the last iteration is forgotten
    np.testing.assert_allclose(program.run(0, WANTED), 3.0 * first)
    assert len(computed) == 12


def test_what_a_task_needs() -> None:
    program = job().program(dh.codes.cyclic(6, 2), math.inf)
    assert [sorted(program.needs(task)) for task in (0, 5)] == [[0, 1, 2], [0, 1, 5]]
    plain = job().program(None, math.inf)
    assert [list(plain.needs(task)) for task in range(6)] == [[0], [1], [2], [3], [4], [5]]
    assert (plain.work, plain.spec.total) == (6.0, 6)


def test_small_chunks_are_put_together_where_the_code_wants_fewer() -> None:
    assert grouped(list(range(7)), 3) == [[0, 1, 2], [3, 4], [5, 6]]
    program = job().program(dh.codes.cyclic(3, 1), math.inf)
    program.begin(1.0, 0)
    answer = program.decode({task: program.run(task, WANTED) for task in (0, 2)})
    np.testing.assert_allclose(answer, np.sum(DATA, axis=0))


def test_an_error_says_in_which_chunk() -> None:
    def wrong(state: Any, chunk: Any) -> Any:
        if chunk[1] == 4.0:
            raise ValueError("torn")
        return chunk

    program = job(compute=wrong).program(dh.codes.uncoded(3), math.inf)
    program.begin(1.0, 0)
    program.run(0, WANTED)
    with pytest.raises(ValueError, match="torn") as caught:
        program.run(1, WANTED)
    assert caught.value.__notes__ == ["chunk 1, part 1"]


# Chunks that workers read themselves


class Rows:
    """A chunk of so many bytes that is read when it is needed."""

    def __init__(self, name: str, size: int = 80) -> None:
        self.name, self.size, self.reads = name, size, 0

    def load(self) -> Any:
        self.reads += 1
        return np.zeros(self.size // 8), [np.zeros(0)]


def test_chunks_are_read_once_where_there_is_room() -> None:
    chunks = LoadedChunks(math.inf)
    rows = [Rows(name) for name in "abc"]
    for _ in range(3):
        for number, row in enumerate(rows):
            assert chunks.get(number, row)[0].nbytes == 80
    assert [row.reads for row in rows] == [1, 1, 1]


def test_the_chunk_that_was_not_used_for_longest_goes_first() -> None:
    chunks, rows = LoadedChunks(160), {name: Rows(name) for name in "abc"}
    for name in "abacab":
        chunks.get(name, rows[name])
    assert {name: row.reads for name, row in rows.items()} == {"a": 1, "b": 2, "c": 1}


def test_one_chunk_is_kept_even_where_it_is_too_large() -> None:
    chunks, large = LoadedChunks(10), Rows("large")
    chunks.get("large", large)
    chunks.get("large", large)
    assert large.reads == 1


def test_plain_chunks_are_not_read() -> None:
    plain = np.ones(3)
    assert LoadedChunks(1.0).get("a", plain) is plain
