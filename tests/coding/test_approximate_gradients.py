"""Approximate gradients: the error is never above what the recipe says, and falls with every result."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from deadheat.coding import LinearCode, Undecodable, certify, codes
from deadheat.coding.decoding_recipe import Recipe

CODES = {
    "regular": codes.bernoulli(20, 30),
    "regular, sparse": codes.bernoulli(10, 30, 2),
    "bernoulli": codes.bernoulli(20, 30, 4, regular=False),
    "large": codes.bernoulli(60, 80),
    "one of one": codes.bernoulli(1, 1),
}
every = pytest.mark.parametrize("code", CODES.values(), ids=CODES)


def recipe(code: LinearCode, done: list[int]) -> Recipe:
    found = code.recipe(done)
    assert found is not None
    return found


@every
def test_the_error_is_at_most_the_residual(code: LinearCode) -> None:
    """||(w B - 1) G|| <= ||w B - 1|| ||G||; the residual is ||w B - 1|| / ||1||."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        done = rng.choice(code.total, rng.integers(code.critical, code.total + 1), replace=False).tolist()
        gradients = rng.standard_normal((code.chunks, 6))
        estimate = code.decode({task: code.mix(task, list(gradients)) for task in done})
        most = recipe(code, done).residual * np.sqrt(code.chunks) * np.linalg.norm(gradients, 2)
        assert np.linalg.norm(estimate - gradients.sum(axis=0)) <= most + 1e-9


@every
def test_the_residual_is_reached(code: LinearCode) -> None:
    """By gradients that lie in the direction that is missed: the bound cannot be lowered."""
    done = list(range(code.critical))
    weights = np.linalg.lstsq(code.rows[done].T, np.ones(code.chunks), rcond=None)[0]
    gap = weights @ code.rows[done] - 1
    worst = gap[:, None] / max(float(np.linalg.norm(gap)), 1e-300)
    estimate = code.decode({task: code.mix(task, list(worst)) for task in done})
    reached = abs(float(estimate[0] - worst.sum()))
    assert reached == pytest.approx(recipe(code, done).residual * np.sqrt(code.chunks), rel=1e-6, abs=1e-9)


@every
def test_more_results_never_come_less_near(code: LinearCode) -> None:
    order = np.random.default_rng(1).permutation(code.total).tolist()
    residuals = [recipe(code, order[:k]).residual for k in range(code.critical, code.total + 1)]
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(residuals))


def test_the_error_falls_on_average() -> None:
    code, rng = codes.bernoulli(20, 30, 3), np.random.default_rng(2)
    found = {}
    for count in (20, 25, 30):
        draws = [recipe(code, rng.choice(30, count, replace=False).tolist()).residual for _ in range(100)]
        found[count] = float(np.mean(draws))
    assert found[20] > 1.2 * found[25] > 1.2 * found[30]


def test_any_critical_results_will_do_and_fewer_will_not() -> None:
    code = codes.bernoulli(20, 30)
    assert not code.exact
    assert code.decodable(range(20))
    assert code.decodable(range(10, 30))
    assert not code.decodable(range(19))
    assert not code.decodable([0] * 20)
    with pytest.raises(Undecodable):
        code.decode({task: np.ones(2) for task in range(19)})
    ends = np.random.default_rng(0).random((5, 30))
    assert np.array_equal(code.finish(ends), np.sort(ends, axis=1)[:, 19])


@pytest.mark.parametrize(("total", "degree"), [(10, 3), (30, 4), (7, 7), (12, 1)])
def test_regular_rows_have_the_degree_in_both_directions(total: int, degree: int) -> None:
    code = codes.bernoulli(total // 2, total, degree)
    assert (code.rows.sum(axis=0) == degree).all()
    assert (code.rows.sum(axis=1) == degree).all()
    assert code.cost.work == degree / total


def test_all_chunks_in_every_task_are_exact() -> None:
    code = codes.bernoulli(1, 6, 6)
    assert recipe(code, [4]).residual == pytest.approx(0.0, abs=1e-12)
    assert certify(code).residual == pytest.approx(0.0, abs=1e-12)


def test_the_certificate_says_how_far_off_it_may_be() -> None:
    found = certify(codes.bernoulli(8, 12, 2))
    assert found.exhaustive
    assert 0 < found.residual <= 1
    assert found.missed == 0
    assert certify(codes.bernoulli(8, 12, 6)).residual < found.residual


def test_no_task_is_empty() -> None:
    for seed in range(20):
        assert codes.bernoulli(4, 8, 1, regular=False, seed=seed).rows.any(axis=1).all()


def test_results_that_are_not_finite_are_left_out() -> None:
    code, gradients = codes.bernoulli(20, 30), np.ones((30, 2))
    results = {task: code.mix(task, list(gradients)) for task in range(30)}
    expected = code.decode({task: results[task] for task in range(1, 30)})
    results[0] = np.array([np.nan, 1.0])
    assert np.array_equal(code.decode(results), expected)
