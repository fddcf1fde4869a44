"""Numbers of every type: sums do not wrap, imaginary parts stay, single precision is added up in double."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from code_specimens import MIXED, SMALL, small

from deadheat.coding import Code, IllConditioned, Mixture, carries, codes, encode, mixture, most_gain
from deadheat.coding.conformance import trial
from deadheat.errors import BadInput
from deadheat.model import AnyArray

RNG = np.random.default_rng(0)
EXACT_SUMS = [name for name in MIXED if small(name).exact]


def mixed(code: Code, chunks: Any) -> dict[int, Any]:
    """What workers send: the last K results, so that parities are among them."""
    tasks = range(code.total - code.critical, code.total)
    return {t: mixture([chunks[j] for j in code.support(t)[0]], code.support(t)[1]) for t in tasks}


def decoded(code: Code, results: dict[int, Any], size: int) -> AnyArray:
    return code.decode(results).reshape(-1)[:size]


# Whole numbers


@pytest.mark.parametrize("name", EXACT_SUMS)
@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.int64, np.bool_])
def test_whole_numbers_add_up_exactly_under_every_code(name: str, kind: Any) -> None:
    code = small(name)
    most = 1 if kind is np.bool_ else int(np.iinfo(kind).max) if kind is not np.int64 else 2**40
    chunks = [np.array([most, most, 0, 1, most], kind)] * code.chunks
    answer = decoded(code, mixed(code, chunks), 5)
    assert answer.dtype == np.float64
    assert answer.tolist() == [most * code.chunks, most * code.chunks, 0.0, code.chunks, most * code.chunks]


def test_whole_numbers_are_refused_where_a_double_does_not_hold_them() -> None:
    for large in (np.array([2**53 + 1]), np.array([-(2**60)]), np.array([2**64 - 1], np.uint64)):
        with pytest.raises(BadInput, match=r"beyond 2\^53.*give floats"):
            codes.uncoded(2).decode({0: large, 1: large})
        with pytest.raises(BadInput, match=r"beyond 2\^53"):
            mixture([large, large], np.ones((2, 1)))
    with pytest.raises(BadInput, match=r"sum = .*beyond 2\^53"):
        codes.uncoded(2).decode({0: np.array([2**53]), 1: np.array([1])})
    with pytest.raises(BadInput, match="sum"):  # 2^53 + 1 is on the way
        codes.uncoded(3).decode({0: np.array([2**53]), 1: np.array([1]), 2: np.array([-2])})
    assert codes.uncoded(2).decode({0: np.array([2**52]), 1: np.array([-1])}).tolist() == [2.0**52 - 1]


def test_whole_numbers_that_a_code_could_round_to_others_are_refused() -> None:
    code = codes.cyclic(55, 5)
    chunks = [np.array([2**50 + j]) for j in range(55)]
    with pytest.raises(IllConditioned, match="whole numbers this large"):
        code.decode(mixed(code, chunks))


def test_numbers_of_python_and_other_precisions_decode() -> None:
    code = codes.cyclic(7, 2)
    assert codes.uncoded(3).decode({0: 1, 1: True, 2: 2}) == 4.0
    for kind, within in ((np.float16, 0.2), (np.longdouble, 1e-12)):
        chunks = [np.array([1.5, -2.0], kind)] * 7
        results = {task: code.mix(task, chunks) for task in range(5)}
        assert {result.dtype for result in results.values()} == {np.dtype(kind)}
        answer = code.decode(results)
        assert answer.dtype == kind
        assert np.allclose(answer.astype(float), [10.5, -14.0], rtol=within)
        total = codes.uncoded(7).decode(dict(enumerate(chunks)))
        assert total.dtype == kind
        assert total.tolist() == [10.5, -14.0]


def test_results_of_chunks_are_not_stretched_to_one_shape() -> None:
    chunks = [np.ones(3), np.ones(1), np.ones(3)]
    with pytest.raises(BadInput, match=r"shape = \(1,\).*chunk 1 is of another shape than that of chunk 0, \(3,\)"):
        codes.cyclic(3, 2).mix(0, chunks)


# Complex numbers


@pytest.mark.parametrize("name", MIXED)
@pytest.mark.parametrize("kind", [np.complex64, np.complex128])
def test_complex_chunks_keep_their_imaginary_part_under_every_code(name: str, kind: Any) -> None:
    code = small(name)
    chunks = (RNG.standard_normal((code.chunks, 8)) + 1j * RNG.standard_normal((code.chunks, 8))).astype(kind)
    by_hand = {task: code.mix(task, chunks) for task in range(code.total)}
    for results in (mixed(code, chunks), by_hand):
        answer = decoded(code, results, 8)
        assert answer.dtype == kind
        assert np.allclose(answer, chunks.sum(axis=0), rtol=0, atol=1e-3 if kind is np.complex64 else 1e-9)


@pytest.mark.parametrize("name", [name for name in MIXED if small(name).is_complex])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_real_chunks_give_real_answers_under_complex_weights(name: str, kind: Any) -> None:
    code = small(name)
    chunks = RNG.standard_normal((code.chunks, 8)).astype(kind)
    assert code.decode(mixed(code, chunks)).dtype == kind
    assert code.decode({task: code.mix(task, chunks) for task in range(code.total)}).dtype == kind


@pytest.mark.parametrize("name", [name for name in SMALL if small(name).kind == "linear"])
def test_complex_blocks_keep_their_imaginary_part_under_every_code(name: str) -> None:
    code = small(name)
    blocks = RNG.standard_normal((code.chunks, 3, 8)) + 1j * RNG.standard_normal((code.chunks, 3, 8))
    x = RNG.standard_normal(8) - 1j * RNG.standard_normal(8)
    results = {task: block @ x for task, block in enumerate(encode(code, list(blocks)))}
    assert np.allclose(code.decode(results), blocks @ x, rtol=0, atol=1e-9)


# Single precision


def cancelling(chunks: int, size: int) -> AnyArray:
    """Gradients in single precision whose mean is a millionth of their spread, as near convergence."""
    rng = np.random.default_rng(1)
    gradients = rng.standard_normal((chunks, size))
    return np.asarray(gradients - gradients.mean(axis=0) + 1e-6 * rng.standard_normal(size), np.float32)


def off(answer: AnyArray, chunks: AnyArray) -> float:
    """The median error of an element, as a part of it."""
    truth = chunks.astype(float).sum(axis=0)
    return float(np.median(np.abs(answer - truth) / np.abs(truth)))


@pytest.mark.parametrize(
    "code",
    [codes.cyclic(55, 5), codes.reed_solomon(55, 5), codes.cyclic(300, 30)],
    ids=["cyclic", "Reed-Solomon", "cyclic 300"],
)
def test_mixtures_of_terms_that_cancel_are_as_good_as_a_plain_sum(code: Code) -> None:
    chunks = cancelling(code.chunks, 200)
    answer = code.decode(mixed(code, chunks))
    assert answer.dtype == np.float32
    assert off(answer, chunks) < 1e-6
    assert off(np.sum(chunks, axis=0), chunks) > 1e-3  # one after another in single precision


def test_single_precision_is_added_up_in_double() -> None:
    chunks = cancelling(300, 50)
    for code in (codes.uncoded(300), codes.replication(300, 2), codes.fractional_repetition(300, 1)):
        parts = dict(enumerate(chunks[: code.chunks]))
        answer = code.decode({t: parts[int(code.support(t)[0][0])] for t in range(code.total)})
        assert answer.dtype == np.float32
        assert off(answer, chunks[: code.chunks]) < 1e-6


def test_results_rounded_to_single_precision_are_refused_where_their_terms_cancel() -> None:
    """The guard judged by the size of the terms, and let answers through that were 65 % off."""
    code, chunks = codes.cyclic(55, 5), cancelling(55, 400)
    results = {task: code.mix(task, chunks) for task in range(55)}
    assert results[0].dtype == np.float32
    rng = np.random.default_rng(0)
    for _ in range(10):
        done = rng.choice(55, 50, replace=False).tolist()
        with pytest.raises(IllConditioned, match="terms cancel: wait for one more result") as refused:
            code.decode({task: results[task] for task in done})
        assert refused.value.gain > refused.value.limit == 8.0
    plain = off(codes.uncoded(55).decode(dict(enumerate(chunks.astype(np.float16).astype(np.float32)))), chunks)
    assert plain > 0.1  # so much is lost where each chunk is rounded
    assert off(code.decode(results), chunks) < 0.1  # all 55: within 8 times of what rounding 55 chunks loses


def test_where_all_results_are_in_a_refusal_says_what_else_can_be_done() -> None:
    code, chunks = codes.cyclic(300, 30), cancelling(300, 50)
    with pytest.raises(IllConditioned, match="terms cancel: use double precision"):
        code.decode({task: code.mix(task, chunks) for task in range(300)})


def test_a_loss_beside_a_gradient_does_not_hide_that_the_gradient_is_lost() -> None:
    code, chunks = codes.cyclic(55, 5), cancelling(55, 12)
    chunks[:, -1] = 1e3
    with pytest.raises(IllConditioned, match="terms cancel"):
        code.decode({task: code.mix(task, chunks) for task in range(50)})


def test_double_precision_goes_on_where_a_sum_vanishes() -> None:
    """A serial run does: the gradients of a fit that has converged add up to rounding."""
    code = codes.cyclic(55, 5)
    chunks = RNG.standard_normal((55, 20))
    chunks -= chunks.mean(axis=0)
    assert np.abs(code.decode(mixed(code, chunks))).max() < 1e-10
    assert np.abs(code.decode(mixed(code, np.zeros((55, 20))))).max() == 0.0


@pytest.mark.parametrize("code", [codes.cyclic(300, 30), codes.cyclic(210, 10)], ids=["270 of 300", "200 of 210"])
def test_large_codes_decode_single_precision_at_k(code: Code) -> None:
    """The guard took what the weights miss in double precision for digits of single precision."""
    chunks = RNG.standard_normal((code.chunks, 30)).astype(np.float32)
    rng = np.random.default_rng(2)
    results = {t: mixture([chunks[j] for j in code.support(t)[0]], code.support(t)[1]) for t in range(code.total)}
    for _ in range(5):
        done = rng.choice(code.total, code.critical, replace=False).tolist()
        answer = code.decode({task: results[task] for task in done})
        assert np.allclose(answer, chunks.astype(float).sum(axis=0), rtol=0, atol=1e-5)


def test_what_the_weights_miss_is_not_counted_as_rounding_of_single_precision() -> None:
    code = codes.cyclic(300, 30)
    rng, accepted = np.random.default_rng(0), 0
    work = trial(code, precision="f")
    for _ in range(30):
        done = rng.choice(300, 270, replace=False).tolist()
        recipe = code.recipe(done)
        assert recipe is not None
        if recipe.growth <= most_gain(np.float32) < recipe.gain:
            assert work.error(code.decode(work.of(done))) < 1e-3
            accepted += 1
    assert accepted > 3


def test_which_codes_carry_single_precision() -> None:
    single = np.dtype(np.float32)
    for code in (codes.mds(50, 60), codes.uncoded(5, "linear"), codes.ldpc(50, 75), codes.cyclic(55, 5)):
        assert carries(code, single)
    for code in (codes.short_dot(97, 98, 48), codes.lt(300, 420), codes.cyclic(300, 30)):
        assert not carries(code, single)
        assert carries(code, np.dtype(float))


def test_mixtures_of_blocks_are_added_up_in_double_and_kept_in_single() -> None:
    code = codes.mds(50, 51)
    blocks = cancelling(50, 30).reshape(50, 5, 6)
    parity = encode(code, list(blocks))[-1]
    exact = np.tensordot(code.rows[-1], blocks.astype(float), axes=1)
    assert parity.dtype == np.float32
    assert np.array_equal(parity, exact.astype(np.float32))


# What workers send


def test_a_mixture_is_an_array_that_says_what_it_was_made_of() -> None:
    single = mixture([np.ones((2, 3), np.float32)] * 2, np.array([[0.1], [0.2]]))
    assert isinstance(single, Mixture)
    assert np.asarray(single).dtype == np.float64
    assert single.dtype == np.float32
    assert single.shape == (2, 3)
    there = pickle.loads(pickle.dumps(single))
    assert np.array_equal(there, single)
    assert there.dtype == np.float32


def test_doubles_with_real_weights_travel_as_plain_arrays() -> None:
    assert type(mixture([np.ones(3), np.ones(3)], np.array([[0.1], [0.2]]))) is np.ndarray
    assert isinstance(mixture([np.ones(3)], np.array([[1j]])), Mixture)
