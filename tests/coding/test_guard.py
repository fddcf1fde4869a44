"""The guard: no answer rather than a wrong one, when a code is built and when results are put together."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from code_specimens import middle

from deadheat.coding import Code, IllConditioned, LinearCode, Overflowed, Undecodable, codes
from deadheat.coding.conformance import Trial, patterns, trial
from deadheat.errors import BadInput, DeadheatError

UNSAFE: dict[str, Callable[[float], LinearCode]] = {
    "vandermonde": lambda limit: codes.mds(50, 55, "vandermonde", limit=limit),
    "chebyshev": lambda limit: codes.mds(40, 60, "chebyshev", limit=limit),
    "circle": lambda limit: codes.mds(60, 100, "circle", limit=limit),
    "matdot": lambda limit: codes.matdot(25, 70, limit=limit),
    "polydot": lambda limit: codes.polydot(10, 1, 40, limit=limit),
    "entangled": lambda limit: codes.entangled(4, 3, 3, 43, "real", limit=limit),
    "entangled circle": lambda limit: codes.entangled(4, 3, 3, 80, "circle", limit=limit),
    "lagrange": lambda limit: codes.lagrange(25, 2, 70, limit=limit),
    "cyclic MDS": lambda limit: codes.cyclic_mds(80, 25, reuse=True, limit=limit),
    "Reed-Solomon": lambda limit: codes.reed_solomon(120, 60, limit=limit),
}


@pytest.mark.parametrize("build", UNSAFE.values(), ids=UNSAFE)
def test_a_code_that_would_lose_its_digits_is_not_built(build: Callable[[float], LinearCode]) -> None:
    with pytest.raises(IllConditioned) as refused:
        build(1e7)
    error = refused.value
    assert error.gain > error.limit == 1e7
    assert f"{error.gain:.3g}" in str(error)
    code = build(inf)  # the user may have it all the same
    assert len(error.done) == code.critical
    recipe = code.recipe(error.done)
    assert recipe is not None
    assert recipe.gain == pytest.approx(error.gain, rel=0.1)


@pytest.mark.parametrize("build", UNSAFE.values(), ids=UNSAFE)
def test_even_then_no_wrong_answer_gets_through(build: Callable[[float], LinearCode]) -> None:
    code = build(inf)
    work, refused = trial(code), 0
    for done in patterns(code, random=60):
        try:
            answer = code.decode(work.of(done))
        except IllConditioned:
            refused += 1
        else:
            assert work.error(answer) <= 1e-8
    assert refused


def test_the_remedy_is_not_what_was_already_done() -> None:
    with pytest.raises(IllConditioned) as refused:
        UNSAFE["entangled circle"](1e7)
    assert 'points="circle"' not in str(refused.value)


def test_a_refusal_is_an_error_of_deadheats_own_and_no_bad_input() -> None:
    with pytest.raises(DeadheatError) as refused:
        codes.mds(50, 55, "vandermonde")
    assert not isinstance(refused.value, ValueError)


def shaky(code: Code, least: float) -> tuple[Trial, list[int], float]:
    """A pattern of K results whose rounding errors grow by more than that; the work; and by how much they grow."""
    for done in patterns(code):
        recipe = code.recipe(done)
        if recipe is not None and recipe.growth > least:
            return trial(code), list(done), recipe.growth
    raise AssertionError("no pattern is that bad")


SINGLE = 1e-4 / float(np.finfo(np.float32).eps)  # the gain that single precision is promised to bear


@pytest.mark.parametrize("name", ["cyclic", "short-dot", "mds chebyshev", "lagrange", "polynomial"])
def test_single_precision_waits_for_one_more_result_where_double_does_not(name: str) -> None:
    code = middle(name)
    work, done, gain = shaky(code, 1.5 * SINGLE)
    assert work.error(code.decode(work.of(done))) <= 1e-8
    single = {task: work.results[task].astype(np.float32) for task in range(code.total)}
    with pytest.raises(IllConditioned, match="one more result") as refused:
        code.decode({task: single[task] for task in done})
    error = refused.value
    assert error.family == code.family
    assert sorted(error.done) == done
    assert error.gain == pytest.approx(gain)
    assert error.gain > error.limit
    for more in (task for task in range(code.total) if task not in done):
        done.append(more)
        recipe = code.recipe(done)
        assert recipe is not None
        assert recipe.growth <= gain * (1 + 1e-6)  # more results never make it worse
        try:
            answer = code.decode({task: single[task] for task in done})
        except IllConditioned:
            continue
        assert answer.dtype == np.float32
        assert work.error(answer) <= 1e-4
        return
    raise AssertionError("more results did not help")


def test_results_in_single_precision_wait_at_one_pattern_in_twenty_of_a_cyclic_code() -> None:
    """The figure of docs/guides/codes.md: of 2000 patterns of 50 results of 55, within four standard errors."""
    code, rng = codes.cyclic(55, 5), np.random.default_rng(0)
    recipes = [code.recipe(rng.choice(55, 50, replace=False).tolist()) for _ in range(2000)]
    waits = np.mean([recipe is not None and recipe.growth > SINGLE for recipe in recipes])
    assert abs(waits - 1 / 20) < 4 * np.sqrt(1 / 20 * 19 / 20 / 2000)


def test_one_result_in_double_precision_does_not_make_the_others_double() -> None:
    """The guard must go by the coarsest: what its rounding errors grow to is what the answer is off by."""
    code = middle("short-dot")
    work, done, _ = shaky(code, 10 * SINGLE)
    results = {task: work.results[task].astype(np.float32) for task in done[1:]}
    with pytest.raises(IllConditioned):
        code.decode({done[0]: work.results[done[0]], **results})


def test_the_caller_may_set_the_limit() -> None:
    code = codes.cyclic(7, 2)
    work = trial(code)
    gain = code.recipe(range(5))
    assert gain is not None
    with pytest.raises(IllConditioned) as refused:
        code.decode(work.of(range(5)), limit=gain.gain / 2)
    assert refused.value.limit == gain.gain / 2
    assert work.error(code.decode(work.of(range(5)), limit=inf)) < 1e-8


def test_a_gain_is_what_rounding_errors_do() -> None:
    """Results moved by a part in a million of their rows: the answer moves by about the gain times as much."""
    code = codes.cyclic(55, 5)
    work, done, gain = shaky(code, 300.0)
    rng = np.random.default_rng(0)
    moved = {task: work.results[task] + 1e-6 * rng.standard_normal(work.results[task].shape) for task in done}
    off = np.linalg.norm(code.decode(moved) - work.answer) / np.sqrt(work.answer.size) / np.sqrt(code.chunks)
    assert gain / 5 < off / 1e-6 < 5 * gain


# Results that are no numbers


@pytest.mark.parametrize("nonsense", [nan, inf, -inf])
def test_a_result_that_is_not_finite_is_treated_as_missing(nonsense: float) -> None:
    code = codes.paper_example()
    work = trial(code)
    results = work.of(range(3))
    results[1] = np.full_like(results[1], nonsense)
    assert np.array_equal(code.decode(results), code.decode(work.of([0, 2])))
    with pytest.raises(Undecodable) as missing:
        code.decode({0: results[0], 1: results[1]})
    assert (missing.value.rejected, missing.value.done, missing.value.critical) == ((1,), (0,), 2)
    assert "not finite (tasks 1)" in str(missing.value)


def test_one_bad_number_in_a_thousand_is_enough() -> None:
    code = codes.mds(4, 6)
    results = {task: np.ones(1000) for task in range(6)}
    results[2][777] = nan
    assert np.isfinite(code.decode(results)).all()
    with pytest.raises(Undecodable, match="1 more were not finite"):
        code.decode({task: results[task] for task in (1, 2, 3, 4)})


def test_results_that_do_not_suffice_anyway_name_those_that_were_thrown_away() -> None:
    with pytest.raises(Undecodable) as missing:
        codes.cyclic(7, 2).decode({0: np.ones(3), 1: np.array([1.0, nan, 1.0])})
    assert missing.value.rejected == (1,)
    assert missing.value.done == (0,)


def test_many_bad_results_are_named_in_short() -> None:
    results = {task: np.full(2, nan) for task in range(20)}
    with pytest.raises(Undecodable) as missing:
        codes.cyclic(20, 5).decode(results)
    assert missing.value.rejected == tuple(range(20))
    assert "tasks 0, 1, 2, 3, 4, ..." in str(missing.value)


def test_a_good_copy_takes_the_place_of_a_bad_one() -> None:
    code = codes.replication(3, 2)
    results = {task: np.full(2, float(task % 3)) for task in range(6)}
    results[0][0] = inf
    assert code.decode(results).tolist() == [3.0, 3.0]


def test_nothing_at_hand_is_undecodable() -> None:
    for code in (codes.cyclic(7, 2), codes.uncoded(3), codes.product(2), codes.mds(2, 3)):
        with pytest.raises(Undecodable, match="0 results at hand"):
            code.decode({})


@pytest.mark.parametrize("code", [codes.paper_example(), codes.uncoded(3), codes.mds(2, 3), codes.ldpc(2, 5)])
@pytest.mark.parametrize("stranger", [-1, 99])
def test_a_result_of_a_task_that_there_is_not_is_refused(code: Code, stranger: int) -> None:
    """Not read as the last task's, as a list would."""
    results = {task: np.ones(2) for task in (0, 1, stranger)}
    with pytest.raises(BadInput, match=str(stranger)):
        code.decode(results)


@pytest.mark.parametrize("code", [codes.paper_example(), codes.uncoded(3), codes.mds(3, 4), codes.ldpc(3, 6)])
@pytest.mark.parametrize("shape", [(1,), (5,), (3, 2)])
def test_results_of_different_shapes_are_refused(code: Code, shape: tuple[int, ...]) -> None:
    """Neither stretched nor cut to fit."""
    results = {task: np.ones((2, 3)) for task in range(code.total)}
    results[1] = np.ones(shape)
    with pytest.raises(BadInput, match="shape"):
        code.decode(results)


def test_results_that_overflow_together_are_not_called_missing() -> None:
    large = {task: np.full(2, 3e38, np.float32) for task in range(4)}
    with pytest.raises(Overflowed, match="too large"):
        codes.uncoded(4).decode(large)


@pytest.mark.parametrize(
    "results", [{0: None, 1: None}, {0: "a", 1: "b"}, [1.0, 2.0], {"0": 1.0, "1": 2.0}, {0.5: 1.0}]
)
def test_results_that_are_none_are_refused(results: Any) -> None:
    with pytest.raises(BadInput):
        codes.uncoded(2).decode(results)
