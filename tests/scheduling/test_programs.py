"""Programs as the master and a worker have them: tokens, chunks by place, results that cannot be used, errors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import deadheat as dh
from deadheat.scheduling import (
    ChunkView,
    NumericProgram,
    Program,
    Purged,
    Token,
    Unreadable,
    describe_error,
)

CODE = dh.codes.cyclic(6, 2)


def double(state: float, answer: float, iteration: int) -> float:
    return 2 * state


def test_the_spec_of_a_program() -> None:
    """The job's work, cut into the tasks of its code."""
    code = dh.codes.cyclic(6, 2, reuse=True)
    spec = Program(code, work=12.0).spec
    assert (spec.critical, spec.total, spec.shared_chunks) == (4, 6, code.cost.shared_chunks)
    assert spec.work == pytest.approx(12.0 * code.cost.work)


def test_what_workers_get_of_a_program() -> None:
    """A copy without code, chunks, step and share, which may hold anything; the spec is the same."""
    program = Program(CODE, work=3.0, iterations=7, name="it", chunks=[1, 2], step=double, share=lambda state: state)
    copy = pickle.loads(pickle.dumps(program))
    assert (copy.spec, copy.iterations, copy.name) == (program.spec, 7, "it")
    for name in ("code", "chunks", "step", "_share"):
        assert not hasattr(copy, name)


def test_a_program_by_itself_computes_nothing() -> None:
    program = Program(CODE)
    assert program.run(0, Token(lambda: False)) is None
    assert program.decode({}) is None
    assert program.step(5.0, None, 0) == 5.0
    assert program.share(5.0) == 5.0
    assert list(program.needs(0)) == []
    assert program.rejected({0: object()}) == frozenset()


def test_share_is_what_workers_see() -> None:
    assert Program(CODE, share=lambda state: state["weights"]).share({"weights": 3, "notes": 4}) == 3


def test_a_token_says_whether_its_iteration_is_over() -> None:
    over = False
    token = Token(lambda: over, 7)
    assert token.iteration == 7
    assert not token.purged
    token.check()
    over = True
    assert token.purged
    with pytest.raises(Purged):
        token.check()


def test_chunks_by_their_place_in_the_job() -> None:
    stored = {4: "d", 9: "i"}
    view = ChunkView((9, 4, 9), stored)
    assert [view[place] for place in range(3)] == ["i", "d", "i"]
    stored[4] = "new"
    assert view[1] == "new"  # what comes later is there
    del stored[9]
    with pytest.raises(KeyError):
        view[0]


def test_a_chunk_that_could_not_be_read_is_said_when_it_is_needed() -> None:
    program = Program(CODE, chunks=[1.0, Unreadable(ModuleNotFoundError("No module named 'x'"))])
    assert program.chunk(0) == 1.0
    with pytest.raises(RuntimeError, match=r"cannot read what it was sent \(ModuleNotFoundError: No module named 'x'"):
        program.chunk(1)


@pytest.mark.parametrize(
    ("odd", "results"),
    [
        ({2}, {0: np.zeros(3), 1: np.ones(3), 2: np.zeros(4)}),
        ({1}, {0: 1.0, 1: "word", 2: 2}),
        ({0, 3}, {0: None, 1: [1, 2], 2: (3, 4), 3: [[1], [2, 3]]}),
        ({1}, {0: np.zeros(2, complex), 1: np.array(["a", "b"]), 2: np.zeros(2)}),
        (set(), {0: np.zeros((2, 2)), 1: np.full((2, 2), np.nan)}),
        ({0, 1}, {0: "a", 1: "b"}),
    ],
    ids=["shape", "text", "ragged", "words", "not finite", "all"],
)
def test_results_that_no_code_can_put_together(odd: set[int], results: dict[int, object]) -> None:
    assert NumericProgram(CODE).rejected(results) == odd


def test_a_numeric_program_decodes_by_its_code() -> None:
    code = dh.codes.uncoded(3)
    assert NumericProgram(code).decode({0: np.ones(2), 1: np.ones(2), 2: 2 * np.ones(2)}).tolist() == [4.0, 4.0]


def test_an_error_in_one_line() -> None:
    try:
        try:
            raise ValueError("two\n   lines")
        except ValueError as error:
            error.add_note("chunk 3")
            raise
    except ValueError as error:
        described = describe_error(error)
    assert described.startswith("ValueError: two lines (test_programs.py:")
    assert described.endswith(", chunk 3)")
