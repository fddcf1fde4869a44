"""Recipes: made once per pattern, nothing done for what arrives plain, the precision of the results kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from code_specimens import CODED, MIXED, SMALL, small
from scipy import sparse

from deadheat.coding import Code, LinearCode, ShortBlock, codes, encode, in_parts
from deadheat.coding.conformance import patterns, trial
from deadheat.coding.decoding_recipe import AT_ONCE, Weights
from deadheat.errors import BadInput
from deadheat.model import AnyArray

SYSTEMATIC: dict[str, Callable[[], LinearCode]] = {
    "mds": lambda: codes.mds(5, 9),
    "polynomial": lambda: codes.polynomial(2, 3, 9),
    "lagrange": lambda: codes.lagrange(3, 2, 9),
    "fft": lambda: codes.fft(4, 8),
}


def solved_again(*_: object) -> None:
    raise AssertionError("solved again")


def test_the_second_recipe_of_a_pattern_is_the_first() -> None:
    code = codes.cyclic(7, 2)
    first = code.recipe([4, 0, 2, 1, 6])
    assert first is not None
    assert code.recipe((0, 1, 2, 4, 6)) is first
    assert code.recipe({6: "x", 4: "x", 2: "x", 1: "x", 0: "x"}) is first
    assert code.recipe(np.array([0, 1, 2, 4, 6]).tolist()) is first
    assert code.recipe([0, 1, 2, 3, 4]) is not first


def test_decoding_takes_the_recipe_that_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    code = codes.cyclic(7, 2)
    work = trial(code)
    answer = code.decode(work.of([0, 2, 3, 4, 6]))

    monkeypatch.setattr(LinearCode, "_solve", solved_again)
    assert np.array_equal(code.decode(work.of([6, 4, 3, 2, 0])), answer)
    with pytest.raises(AssertionError, match="solved again"):
        code.decode(work.of([1, 2, 3, 4, 5]))


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    for code in (codes.cyclic(12, 6), codes.lt(6, 12)):
        monkeypatch.setattr(type(code), "MOST_KEPT", 10)
        for done in patterns(code):
            code.recipe(done)
            assert len(code._kept) <= 10
        first = code.recipe(range(12))
        assert code.recipe(range(12)) is first


@pytest.mark.parametrize("build", SYSTEMATIC.values(), ids=SYSTEMATIC)
def test_nothing_is_solved_or_mixed_where_all_plain_results_are_in(
    build: Callable[[], LinearCode], monkeypatch: pytest.MonkeyPatch
) -> None:
    code = build()
    monkeypatch.setattr(LinearCode, "_solve", solved_again)
    plain = len(code.target)
    for done in (range(plain), range(code.total), [*range(plain), code.total - 1]):
        recipe = code.recipe(done)
        assert isinstance(recipe, Weights)
        assert recipe.mixed.size == 0
        assert recipe.plain.tolist() == list(range(plain))
        assert (recipe.gain, recipe.residual) == (1.0, 0.0)


def test_plain_blocks_arrive_bit_for_bit() -> None:
    code, rng = codes.mds(5, 9), np.random.default_rng(0)
    blocks = [rng.standard_normal((3, 4)) for _ in range(5)]
    coded = encode(code, blocks)
    assert np.array_equal(code.decode(dict(enumerate(coded[:5]))), np.stack(blocks))
    answer = code.decode({task: coded[task] for task in (0, 2, 3, 6, 8)})
    for block in (0, 2, 3):
        assert np.array_equal(answer[block], blocks[block])
    assert np.allclose(answer, np.stack(blocks), rtol=1e-12, atol=1e-12)


def test_only_missing_blocks_are_mixed() -> None:
    recipe = codes.mds(50, 60).recipe([*range(3, 50), 51, 54, 58])
    assert isinstance(recipe, Weights)
    assert recipe.mixed.shape == (3, 50)
    assert np.flatnonzero(recipe.plain < 0).tolist() == [0, 1, 2]


def test_an_answer_is_the_users_own() -> None:
    """Writing to it changes neither the results nor the next answer."""
    for code in (codes.mds(2, 3), codes.uncoded(2), codes.uncoded(2, "linear"), codes.product(2), codes.uncoded(1)):
        work = trial(code)
        before = [r.copy() for r in work.results]
        answer = code.decode(work.of(range(code.total)))
        kept = answer.copy()
        answer[...] = 0
        assert all(np.array_equal(a, b) for a, b in zip(work.results, before, strict=True))
        assert np.array_equal(code.decode(work.of(range(code.total))), kept)


@pytest.mark.parametrize("name", SMALL)
def test_single_precision_stays_single(name: str) -> None:
    code = small(name)
    work = trial(code, precision="f")
    answer = code.decode(work.of(range(code.total)))
    assert answer.dtype == (np.complex64 if code.kind == "transform" else np.float32)


@pytest.mark.parametrize("name", SMALL)
def test_double_precision_stays_double(name: str) -> None:
    code = small(name)
    work = trial(code)
    answer = code.decode(work.of(range(code.total)))
    assert answer.dtype == (np.complex128 if code.kind == "transform" else np.float64)


@pytest.mark.parametrize("name", MIXED)
def test_chunk_results_in_single_precision_make_a_result_in_single_precision(name: str) -> None:
    code = small(name)
    values = np.ones((code.chunks, 12), np.float32)
    found = {code.mix(task, values).dtype for task in range(code.total)}
    assert found == {np.dtype(np.complex64 if code.is_complex else np.float32)}


@pytest.mark.parametrize("name", CODED)
def test_blocks_in_single_precision_are_coded_in_single_precision(name: str) -> None:
    """Coded data of twice the size would be no use to a worker whose memory is full."""
    code = small(name)
    for operand, weights in enumerate(code.encoders):
        blocks = [np.ones((2, 2), np.float32)] * weights.shape[1]
        kinds = {np.complex64, np.float32} if code.is_complex else {np.float32}
        coded = [c.block if isinstance(c, ShortBlock) else c for c in encode(code, blocks, operand)]
        assert {block.dtype.type for block in coded} <= kinds


@pytest.mark.parametrize("name", ["uncoded", "replication", "cyclic", "mds", "lt", "ldpc", "product linear"])
def test_whole_numbers_decode_as_floating_point(name: str) -> None:
    code, rng = small(name), np.random.default_rng(0)
    results = {task: rng.integers(-9, 9, 8) for task in range(code.total)}
    answer = code.decode({task: value.astype(float) for task, value in results.items()})
    assert np.allclose(code.decode(results), answer, rtol=1e-12, atol=1e-12)


def test_python_numbers_and_lists_are_results_too() -> None:
    code = codes.paper_example()
    assert float(code.decode({0: 1.5, 1: 0.0, 2: 1.5})) == pytest.approx(3.0)
    assert code.decode({0: [1.5, 3], 2: [1.5, 3]}) == pytest.approx([3.0, 6.0])


@pytest.mark.parametrize("shape", [(9,), (7, 3), (1,), (2, 2, 2), (8,)])
def test_results_are_filled_up_with_zeros_to_be_cut_in_parts(shape: tuple[int, ...]) -> None:
    code, rng = codes.communication_efficient(7, 2, 4), np.random.default_rng(0)
    chunks = rng.standard_normal((7, *shape))
    results = {task: code.mix(task, list(chunks)) for task in (0, 1, 3, 4, 6)}
    size = int(np.prod(shape))
    assert {result.shape for result in results.values()} == {(-(-size // 4),)}
    answer = code.decode(results)
    assert answer.shape == (-(-size // 4) * 4,)
    assert np.allclose(answer[:size].reshape(shape), chunks.sum(axis=0), rtol=0, atol=1e-10)
    assert np.allclose(answer[size:], 0.0, rtol=0, atol=1e-10)


def test_parts_of_one_length_are_not_copied() -> None:
    value = np.arange(12.0)
    assert in_parts(value, 3).tolist() == value.reshape(3, 4).tolist()
    assert np.shares_memory(in_parts(value, 3), value)
    assert in_parts(np.arange(5), 3).tolist() == [[0, 1], [2, 3], [4, 0]]


@pytest.mark.parametrize("size", [0, 1, 63, AT_ONCE // 5 - 1, AT_ONCE // 5 + 1, 2 * (AT_ONCE // 5) + 7])
def test_results_of_any_length_are_mixed_in_one_pass(size: int) -> None:
    """Also where the blocks in which they are fetched do not come out even."""
    code, rng = codes.cyclic(7, 2), np.random.default_rng(0)
    chunks = rng.standard_normal((7, size))
    done = [0, 1, 3, 4, 6]
    answer = code.decode({task: code.mix(task, list(chunks)) for task in done})
    assert answer.shape == (size,)
    assert np.allclose(answer, chunks.sum(axis=0), rtol=0, atol=1e-10)
    partly, blocks = codes.mds(5, 9), rng.standard_normal((5, size))
    coded = encode(partly, list(blocks))
    assert np.allclose(partly.decode({task: coded[task] for task in (0, 2, 6, 7, 8)}), blocks, rtol=0, atol=1e-10)


def test_results_may_lie_in_memory_as_they_like() -> None:
    code, rng = codes.cyclic(7, 2), np.random.default_rng(0)
    chunks = rng.standard_normal((7, 4, 6))
    results = {task: np.asfortranarray(code.mix(task, list(chunks))) for task in (0, 1, 3, 4, 6)}
    assert np.allclose(code.decode(results), chunks.sum(axis=0))
    strided = {task: np.repeat(value, 2, axis=1)[:, ::2] for task, value in results.items()}
    assert np.allclose(code.decode(strided), chunks.sum(axis=0))


# Encoding


@pytest.mark.parametrize("name", ["mds", "polynomial", "product", "lagrange", "fft", "ldpc", "uncoded linear"])
def test_a_block_that_goes_out_plain_is_the_same_object(name: str) -> None:
    code = small(name)
    for operand, weights in enumerate(code.encoders):
        blocks = [np.full((2, 2), float(j)) for j in range(weights.shape[1])]
        coded = encode(code, blocks, operand)
        for task, row in enumerate(weights):
            if np.count_nonzero(row) == 1 and row.max() == 1:
                assert coded[task] is blocks[int(np.argmax(row))]


def widened(coded: object, width: int) -> AnyArray:
    """A coded block with the columns that it leaves out."""
    if not isinstance(coded, ShortBlock):
        return np.asarray(coded)
    full = np.zeros((coded.block.shape[0], width))
    full[:, coded.columns] = coded.block
    return full


@pytest.mark.parametrize("name", CODED)
def test_coded_blocks_are_the_encoders_mixtures(name: str) -> None:
    code, rng = small(name), np.random.default_rng(0)
    for operand, weights in enumerate(code.encoders):
        blocks = rng.standard_normal((weights.shape[1], 2, 56))
        coded = encode(code, list(blocks), operand)
        assert len(coded) == code.total
        by_column = np.repeat(weights.reshape(*weights.shape[:2], -1), 56 // weights[0, 0].size, axis=2)
        expected = np.einsum("ijc,jrc->irc", np.broadcast_to(by_column, (*weights.shape[:2], 56)), blocks)
        assert np.allclose(np.stack([widened(block, 56) for block in coded]), expected)


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_array])
def test_sparse_blocks_stay_sparse(make: type) -> None:
    code, rng = codes.mds(3, 5), np.random.default_rng(0)
    dense = rng.standard_normal((3, 4, 6)) * (rng.random((3, 4, 6)) < 0.3)
    blocks, x = [make(block) for block in dense], rng.standard_normal(6)
    coded = encode(code, blocks)
    assert coded[0] is blocks[0]
    assert all(sparse.issparse(block) for block in coded)
    assert np.allclose(code.decode({task: coded[task] @ x for task in (1, 3, 4)}), dense @ x)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("columns", [16, 13, 3])
def test_short_dot_multiplies_a_matrix_by_short_blocks(make: Callable[[Any], Any], columns: int) -> None:
    """Also where the columns do not come out even, or are fewer than the strips; by a vector or by several."""
    code, rng = codes.short_dot(5, 8, 2), np.random.default_rng(0)
    dense = rng.standard_normal((2, 3, columns))
    coded = encode(code, [make(block) for block in dense])
    assert all(sparse.issparse(c.block) == (make is not np.asarray) for c in coded)
    entries = [c.block.nnz if sparse.issparse(c.block) else c.block.size for c in coded]
    assert all(c.nbytes >= 8 * (count + c.columns.size) for c, count in zip(coded, entries, strict=True))
    assert max(c.block.shape[1] for c in coded) <= -(-columns // 8) * 5  # d = n - K + M strips of 8
    for x in (rng.standard_normal(columns), rng.standard_normal((columns, 2))):
        answer = code.decode({task: coded[task] @ x for task in (0, 2, 3, 5, 7)})
        assert np.allclose(answer, dense @ x, rtol=0, atol=1e-9)


def test_short_dot_needs_columns() -> None:
    with pytest.raises(BadInput, match="blocks that are matrices"):
        encode(codes.short_dot(5, 8, 2), [np.ones(3), np.ones(3)])


def test_a_systematic_code_leaves_the_first_tasks_plain_and_counts_them() -> None:
    for code in (codes.mds(5, 9), codes.fft(4, 8), codes.lagrange(3, 2, 9), codes.ldpc(5, 10)):
        assert np.array_equal(code.encoders[0][: code.cost.plain], np.eye(code.cost.plain))


@pytest.mark.parametrize(
    ("code", "count", "operand", "words"),
    [
        (codes.mds(4, 6), 3, 0, ("blocks = 3", "mixes 4 blocks", "cut the operand into 4")),
        (codes.mds(4, 6), 4, 1, ("operand = 1", "1 coded operand")),
        (codes.mds(4, 6), 4, -1, ("operand = -1",)),
        (codes.cyclic(4, 1), 4, 0, ("code = 'cyclic'", "mixes results", "code.mix")),
        (codes.cyclic(4, 1), 4, -1, ("mixes results",)),
        (codes.polynomial(2, 3, 7), 2, 1, ("blocks = 2", "mixes 3 blocks")),
    ],
)
def test_blocks_that_do_not_fit_are_refused(code: Code, count: int, operand: int, words: tuple[str, ...]) -> None:
    with pytest.raises(BadInput) as refused:
        encode(code, [np.ones(2)] * count, operand)
    for word in words:
        assert word in str(refused.value)


def test_blocks_of_different_shapes_are_refused() -> None:
    with pytest.raises(BadInput, match="shape"):
        encode(codes.mds(2, 4), [np.ones((2, 3)), np.ones((1, 3))])
