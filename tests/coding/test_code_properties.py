"""Properties: decode after encode is the identity on every decodable set, whatever the sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from deadheat.coding import Code, IllConditioned, codes
from deadheat.coding.conformance import check_decodable, check_finish, check_pattern, trial

seeds = st.integers(0, 2**16)
kinds = st.sampled_from(["gradient", "linear", "product"])


@st.composite
def gradient_codes(draw: DrawFn) -> Code:
    n = draw(st.integers(1, 14))
    s = draw(st.integers(0, n - 1))
    make = draw(st.sampled_from(["cyclic", "cut", "cyclic MDS", "Reed-Solomon"]))
    if make == "cyclic":
        return codes.cyclic(n, s, seed=draw(seeds))
    if make == "cut":
        return codes.communication_efficient(n, s, draw(st.integers(1, n - s)), seed=draw(seeds))
    return codes.cyclic_mds(n, s) if make == "cyclic MDS" else codes.reed_solomon(n, s)


@st.composite
def linear_codes(draw: DrawFn) -> Code:
    K = draw(st.integers(1, 10))
    n = K + draw(st.integers(0, 6))
    make = draw(st.sampled_from(["mds", "chebyshev", "circle", "short-dot", "fft"]))
    if make == "mds":
        return codes.mds(K, n, seed=draw(seeds))
    if make == "short-dot":
        return codes.short_dot(K, n, draw(st.integers(1, K)), seed=draw(seeds))
    return codes.fft(K, n, seed=draw(seeds)) if make == "fft" else codes.mds(K, n, make)


@st.composite
def peeled_codes(draw: DrawFn) -> Code:
    make = draw(st.sampled_from(["lt", "ldpc", "product", "cube"]))
    m = draw(st.integers(1, 8))
    if make == "lt":
        return codes.lt(m, 2 * m + draw(st.integers(0, 4)), seed=draw(seeds))
    if make == "ldpc":
        spare = draw(st.integers(1, 8))
        return codes.ldpc(m, m + spare, draw(st.integers(1, spare)), seed=draw(seeds))
    if make == "product":
        return codes.product(draw(st.integers(1, 3)), 2, draw(st.sampled_from(["product", "linear"])))
    return codes.product(draw(st.integers(1, 2)), draw(st.integers(1, 3)), "linear")


@st.composite
def product_codes(draw: DrawFn) -> Code:
    p, m, q, spare = (draw(st.integers(least, 3)) for least in (1, 1, 1, 0))
    match draw(st.sampled_from(["polynomial", "matdot", "polydot", "entangled"])):
        case "polynomial":
            return codes.polynomial(m, q, m * q + spare, seed=draw(seeds))
        case "matdot":
            return codes.matdot(p, 2 * p - 1 + spare)
        case "polydot":
            return codes.polydot(p, m, m * m * (2 * p - 1) + spare, seed=draw(seeds))
    assume(p * m * q <= 12)
    points = draw(st.sampled_from(["auto", "circle"]))
    return codes.entangled(p, m, q, p * m * q + p - 1 + spare, points)


@st.composite
def function_codes(draw: DrawFn) -> Code:
    parts, power = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    return codes.lagrange(parts, power, (parts - 1) * power + 1 + draw(st.integers(0, 4)))


@st.composite
def copied_codes(draw: DrawFn) -> Code:
    parts, times, kind = draw(st.integers(1, 6)), draw(st.integers(1, 4)), draw(kinds)
    match draw(st.sampled_from(["uncoded", "replication", "fractional"])):
        case "uncoded":
            return codes.uncoded(parts, kind)
        case "replication":
            return codes.replication(parts, times, kind)
    return codes.fractional_repetition(parts * times, times - 1, kind)


any_code = st.one_of(
    gradient_codes(), linear_codes(), peeled_codes(), product_codes(), function_codes(), copied_codes()
)


@given(any_code, seeds, st.randoms(use_true_random=False))
def test_decode_after_encode_is_the_identity_on_every_decodable_set(code: Code, seed: int, rng: Any) -> None:
    order = list(range(code.total))
    rng.shuffle(order)
    for count in range(code.total + 1):
        if code.decodable(order[:count]):
            check_pattern(code, trial(code, seed), order[:count], order[count:], 1e-8)


@given(any_code, st.sets(st.integers(0, 30)))
def test_decodable_is_right(code: Code, done: set[int]) -> None:
    check_decodable(code, [tuple(sorted(task for task in done if task < code.total))])


@given(any_code, seeds)
def test_finish_is_the_first_decodable_prefix(code: Code, seed: int) -> None:
    check_finish(code, 3, seed)


@given(any_code, st.sets(st.integers(0, 30)), st.integers(0, 30))
def test_one_more_result_never_undoes_it(code: Code, done: set[int], more: int) -> None:
    here = [task for task in done if task < code.total]
    if code.decodable(here):
        assert code.decodable([*here, more % code.total])


@given(any_code, seeds)
def test_the_order_of_arrival_does_not_matter(code: Code, seed: int) -> None:
    work, order = trial(code, seed), np.random.default_rng(seed).permutation(code.total).tolist()
    try:
        answer = code.decode(work.of(order))
    except IllConditioned:
        return
    assert np.array_equal(answer, code.decode(work.of(range(code.total))))


@given(gradient_codes(), seeds)
def test_decoding_is_linear(code: Code, seed: int) -> None:
    """Twice the results and those of another iteration: twice the answer and the other's."""
    first, second = trial(code, seed), trial(code, seed + 1)
    both = {task: 2 * first.results[task] + second.results[task] for task in range(code.total)}
    assert np.allclose(code.decode(both), 2 * first.answer + second.answer, rtol=1e-7, atol=1e-7)
