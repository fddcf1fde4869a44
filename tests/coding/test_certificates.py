"""Certificates: all patterns where they are few, else a sample and every lost block; the worst found is the worst."""

from __future__ import annotations

from itertools import combinations
from math import comb, inf, log10

import numpy as np
import pytest

from deadheat.coding import Certificate, Code, IllConditioned, certify, codes, family, gradient_code
from deadheat.errors import BadInput


def gain(code: Code, done: tuple[int, ...]) -> float:
    recipe = code.recipe(done)
    assert recipe is not None
    return recipe.gain


@pytest.mark.parametrize("code", [codes.cyclic(8, 3), codes.mds(5, 9), codes.matdot(3, 8), codes.paper_example()])
def test_few_patterns_are_all_tried(code: Code) -> None:
    found = certify(code)
    gains = [gain(code, done) for done in combinations(range(code.total), code.critical)]
    assert found.exhaustive
    assert found.tried == len(gains) == comb(code.total, code.critical)
    assert found.gain == max(gains) == gain(code, found.worst)
    assert found.median_gain == np.median(gains)
    assert found.missed == 0
    assert found.residual < 1e-10


def test_many_patterns_are_sampled_and_every_block_is_lost_once() -> None:
    code = codes.cyclic(55, 5)
    found = certify(code, samples=30)
    assert not found.exhaustive
    assert found.tried == 55 + 30
    assert found.gain == gain(code, found.worst)
    blocks = [tuple(sorted(((first + np.arange(50)) % 55).tolist())) for first in range(55)]
    assert found.gain >= max(gain(code, done) for done in blocks)
    assert certify(code, samples=30, stride=5).tried == 11 + 30


def test_a_seed_is_a_sample() -> None:
    code = codes.cyclic(55, 5)
    assert certify(code, 40, seed=3) == certify(code, 40, seed=3)
    assert certify(code, 40, seed=3) != certify(code, 40, seed=4)


def test_lost_blocks_are_what_hurts_a_code_in_its_own_order() -> None:
    """Cyclic MDS loses digits with every neighbour that is lost; random windows do not."""
    mds = certify(codes.cyclic_mds(60, 10, reuse=True, limit=inf), 100)
    assert mds.gain > 1e3 * mds.median_gain
    rows = np.sort(np.array(mds.worst))
    assert np.count_nonzero(np.diff(rows) > 1) + (rows[0] != 0 or rows[-1] != 59) <= 1
    assert certify(codes.cyclic_mds(60, 10), 50).gain < mds.gain / 10


def null_space_code(n: int, s: int) -> Code:
    """The construction of Tandon et al. (Algorithm 2): rows in the null space of a random matrix of s rows."""
    h = np.random.default_rng(0).standard_normal((s, n))
    h[:, -1] = -h[:, :-1].sum(axis=1)  # the all-one vector is in the null space
    rows = np.zeros((n, n))
    for task in range(n):
        held = (task + np.arange(s + 1)) % n
        rows[task, held] = np.append(1.0, -np.linalg.solve(h[:, held[1:]], h[:, held[0]]))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return gradient_code("null space", rows, n - s, codes.cyclic(n, s).cost)


def test_random_windows_keep_more_digits_than_null_spaces() -> None:
    """Why the cyclic code is not built as in its paper (docs/decisions/0009): K = 200, s = 20."""
    windows, null_space = (certify(make(220, 20), 20, stride=4) for make in (codes.cyclic, null_space_code))
    assert (windows.missed, null_space.missed) == (0, 0)
    assert windows.gain < 1e5
    assert null_space.gain > 10 * windows.gain
    assert null_space.median_gain > 10 * windows.median_gain


def test_the_tuner_tries_roots_of_unity_as_far_as_the_gate_lets_them() -> None:
    """Of K = 50: permuted tasks to 20 stragglers, tasks in their own order to 5."""
    for name, most, reuse in (("cyclic MDS", 20, False), ("Reed-Solomon", 20, False), ("cyclic MDS", 5, True)):
        shapes = [family(name).shapes("gradient", 50, 50 + s) for s in (most, most + 1)]
        offered, beyond = ([s for s in some if s.settings["reuse"] is reuse] for some in shapes)
        assert offered[0].build().critical == 50
        assert not beyond
    for stragglers, reuse in ((25, False), (10, True)):
        with pytest.raises(IllConditioned):
            codes.cyclic_mds(50 + stragglers, stragglers, reuse=reuse)


def test_gaussian_parities_keep_their_digits_up_to_a_thousand_blocks() -> None:
    assert certify(codes.mds(200, 220), 50).gain < 1e6
    assert certify(codes.mds(1000, 1060), 3, stride=300).gain < 1e7


def test_codes_that_peel_count_the_patterns_that_do_not() -> None:
    code = codes.product(2)
    found = certify(code)
    patterns = list(combinations(range(9), code.critical))
    assert found.tried == len(patterns)
    assert found.missed == sum(not code.decodable(done) for done in patterns) > 0
    assert certify(codes.replication(3, 2)).missed == 0


def test_nothing_decodes_nothing_is_certified() -> None:
    code = codes.product(2)
    object.__setattr__(code, "critical", 3)
    found = certify(code)
    assert (found.missed, found.gain, found.worst, found.digits()) == (comb(9, 3), inf, (), 0.0)


def certificate(gain: float) -> Certificate:
    return Certificate(tried=1, exhaustive=True, gain=gain, median_gain=1.0, residual=0.0, missed=0, worst=(0,))


def test_digits_are_what_is_left_of_the_precision() -> None:
    found = certificate(1e4)
    assert found.digits() == pytest.approx(-log10(1e4 * np.finfo(np.float64).eps))
    assert found.digits("float32") == pytest.approx(-log10(1e4 * np.finfo(np.float32).eps))
    assert found.digits(np.float32) < 3 < 11 < found.digits(np.float64)
    assert certificate(1e30).digits() == 0.0
    assert certificate(1.0).digits() == pytest.approx(15.65, abs=0.01)


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "x"])
def test_a_sample_has_a_size(wrong: object) -> None:
    with pytest.raises(BadInput, match="samples"):
        certify(codes.cyclic(55, 5), wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "x"])
def test_a_stride_goes_forward(wrong: object) -> None:
    with pytest.raises(BadInput, match="stride"):
        certify(codes.cyclic(55, 5), 5, stride=wrong)  # type: ignore[arg-type]
