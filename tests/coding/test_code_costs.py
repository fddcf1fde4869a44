"""What a code costs: the table of the true costs, typed again by hand, and what the matrices themselves say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from code_specimens import CODED, MIXED, SMALL, middle, small

from deadheat.coding import FAMILIES, Code, Cost, Shape, codes, encode, placement
from deadheat.coding.conformance import degree, grid, trial

Figures = tuple[int, int, float, float]  # K, n, K C / W, and the storage of one task


def stored(code: Code, tasks: Sequence[int]) -> float:
    """What a worker with these tasks holds, as a part of all data: chunks once each, coded blocks one per task."""
    if code.encoders:
        return len(tasks) * code.cost.storage
    return len({int(chunk) for task in tasks for chunk in code.support(task)[0]}) / code.chunks


def gradient(n: int, s: int) -> Figures:
    """Of every exact gradient code on n chunks."""
    return n - s, n, (s + 1) * (n - s) / n, (s + 1) / n


TABLE: dict[str, tuple[Callable[..., Code], list[tuple[int, ...]], Callable[..., Figures]]] = {
    "uncoded": (codes.uncoded, [(1,), (7,), (50,)], lambda K: (K, K, 1.0, 1 / K)),
    "fractional repetition": (codes.fractional_repetition, [(9, 2), (54, 5), (60, 0), (8, 7)], gradient),
    "replication": (
        codes.replication,
        [(5, 2), (10, 3), (6, 1)],
        lambda k, times: ((k - 1) * times + 1, k * times, ((k - 1) * times + 1) / k, 1 / k),
    ),
    "cyclic": (codes.cyclic, [(7, 2), (55, 5), (20, 0), (5, 4)], gradient),
    "cyclic MDS": (codes.cyclic_mds, [(7, 2), (56, 5), (8, 2)], gradient),
    "Reed-Solomon": (codes.reed_solomon, [(7, 2), (55, 5), (8, 3)], gradient),
    "communication-efficient": (
        codes.communication_efficient,
        [(8, 3, 2), (55, 5, 4), (6, 2, 1)],
        lambda n, s, parts: (n - s, n, (s + parts) * (n - s) / n, (s + parts) / n),
    ),
    "mds": (codes.mds, [(5, 9), (50, 60), (4, 4)], lambda K, n: (K, n, 1.0, 1 / K)),
    "short-dot": (
        codes.short_dot,
        [(5, 8, 2), (50, 55, 10), (20, 22, 20), (20, 22, 1)],
        lambda K, n, M: (K, n, (K * (n / K - 1) + M) / (n / K * M), (n - K + M) / (n * M)),
    ),
    "polynomial": (
        codes.polynomial,
        [(2, 3, 9), (5, 10, 60), (4, 1, 4)],
        lambda p, q, n: (p * q, n, 1.0, (1 / p + 1 / q) / 2),
    ),
    "matdot": (codes.matdot, [(3, 8), (10, 22), (1, 2)], lambda p, n: (2 * p - 1, n, 2 - 1 / p, 1 / p)),
    "polydot": (
        codes.polydot,
        [(2, 2, 13), (3, 2, 22), (1, 3, 10), (4, 1, 9)],
        lambda s, t, n: (t * t * (2 * s - 1), n, 2 - 1 / s, 1 / (s * t)),
    ),
    "entangled": (
        codes.entangled,
        [(2, 2, 1, 8), (2, 2, 2, 12), (3, 1, 2, 9)],
        lambda p, m, q, n: (p * m * q + p - 1, n, 1 + 1 / (m * q) - 1 / (p * m * q), (1 / m + 1 / q) / (2 * p)),
    ),
    "lagrange": (
        codes.lagrange,
        [(3, 2, 9), (10, 3, 30), (4, 1, 6)],
        lambda k, f, n: ((k - 1) * f + 1, n, ((k - 1) * f + 1) / k, 1 / k),
    ),
    "fft": (codes.fft, [(4, 8), (50, 60)], lambda m, n: (m, n, 1.0, 1 / m)),
}


@pytest.mark.parametrize("family", TABLE)
def test_the_table_of_true_costs(family: str) -> None:
    make, sizes, figures = TABLE[family]
    for size in sizes:
        code, (K, n, factor, storage) = make(*size), figures(*size)
        assert (code.family, code.critical, code.total) == (family, K, n)
        assert code.cost.factor(K) == pytest.approx(factor, rel=1e-12)
        assert code.cost.storage == pytest.approx(storage, rel=1e-12)


def test_the_plain_work_is_the_same_in_all_kinds() -> None:
    for kind, storage in (("gradient", 1 / 12), ("linear", 1 / 12), ("product", (1 / 3 + 1 / 4) / 2)):
        assert codes.uncoded(12, kind).cost.factor(12) == pytest.approx(1.0)
        assert codes.uncoded(12, kind).cost.storage == pytest.approx(storage)
        assert codes.fractional_repetition(24, 1, kind).cost.work == codes.uncoded(12, kind).cost.work


@pytest.mark.parametrize(
    ("name", "parts"),
    [("lt", 50), ("ldpc", 50), ("product", 49), ("product, a cube", 64), ("product linear", 49)],
)
def test_codes_that_peel_do_a_little_more_than_the_plain_work(name: str, parts: int) -> None:
    code = middle(name)
    assert code.cost.work == pytest.approx(1 / parts)
    assert 1.0 <= code.cost.factor(code.critical) < 1.6  # 1 + eps
    storage = 1 / 7 if code.kind == "product" else 1 / parts
    assert code.cost.storage == pytest.approx(storage)


def test_complex_points_cost_four_times_the_work_of_a_product() -> None:
    real, circle = codes.entangled(2, 2, 2, 12, "real").cost, codes.entangled(2, 2, 2, 12, "circle").cost
    assert circle.work == 4 * real.work
    assert circle.storage == 2 * real.storage
    assert circle.result == 2 * real.result
    assert codes.mds(5, 8, "circle").cost.work == 2 * codes.mds(5, 8).cost.work


def test_the_papers_example_does_25_times_the_plain_work_and_a_minimal_code_six_times() -> None:
    assert codes.paper_example().cost == replace(codes.paper_example().cost, work=2 / 3, storage=2 / 3)
    assert middle("paper preset").cost.storage == pytest.approx(0.51)
    assert middle("paper preset").cost.factor(50) == pytest.approx(25.5)
    assert codes.cyclic(55, 5).cost.factor(50) == pytest.approx(6 * 50 / 55)


GRADIENTS = ("fractional", "cyclic", "cut in 4", "cyclic MDS", "Reed-Solomon", "paper preset")


def mixing() -> Iterator[Code]:
    """Those that mix the results of chunks, small and not so small."""
    yield from map(small, MIXED)
    yield from map(middle, GRADIENTS)


def test_work_and_storage_are_the_share_of_the_chunks_that_a_task_holds() -> None:
    for code in mixing():
        held = [code.support(task)[0].size for task in range(code.total)]
        assert code.cost.storage == pytest.approx(max(held) / code.chunks)
        if not code.cost.shared_chunks:
            assert code.cost.work == pytest.approx(np.mean(held) / code.chunks)


def strips(code: Code) -> float:
    """The part of the columns of a block that a task of a Short-Dot code is given; 1 for other codes."""
    encoder = code.encoders[0]
    return float(encoder.any(axis=1).mean()) if encoder.ndim == 3 else 1.0


@pytest.mark.parametrize("name", CODED)
def test_storage_is_the_share_of_the_blocks_that_a_task_is_given(name: str) -> None:
    """One coded block of each operand, where all operands are equally large; twice that where it is complex."""
    code = small(name)
    share = float(np.mean([1 / encoder.shape[1] for encoder in code.encoders])) * strips(code)
    assert code.cost.storage == pytest.approx(share * (1 + code.is_complex))


@pytest.mark.parametrize("code", [codes.short_dot(5, 8, 2), codes.short_dot(50, 55, 10), codes.short_dot(6, 9, 1)])
def test_work_of_short_dot_is_the_share_of_the_multiplications(code: Code) -> None:
    matrix = np.ones((2 * code.chunks, 4 * code.total))
    coded = encode(code, np.split(matrix, code.chunks))
    assert [block.block.size for block in coded] == [round(code.cost.work * matrix.size)] * code.total


def test_work_is_the_share_of_the_multiplications() -> None:
    for code in (small(name) for name in CODED if small(name).kind == "product"):
        m, p, q = grid(code)
        assert code.cost.work == pytest.approx((1 + 3 * code.is_complex) / (m * p * q))


def test_work_of_a_function_counts_its_blocks_and_its_degree_counts_results() -> None:
    code = codes.lagrange(10, 3, 30)
    assert degree(code) == 3
    assert code.cost.factor(code.critical) == pytest.approx(28 / 10)


@pytest.mark.parametrize("name", SMALL)
def test_the_size_of_a_result_is_what_a_task_returns(name: str) -> None:
    code, work = small(name), trial(small(name))
    numbers = work.results[0].size * (1 + (np.iscomplexobj(work.results[0]) and code.kind != "transform"))
    assert code.cost.result == pytest.approx(numbers / work.answer.size)


@pytest.mark.parametrize(
    "build", [codes.cyclic, lambda n, s, reuse: codes.communication_efficient(n, s, 3, reuse=reuse)]
)
def test_with_reuse_neighbouring_tasks_pay_for_their_chunks_once(build: object) -> None:
    assert callable(build)
    n, s = 20, 4
    kept, plain = build(n, s, reuse=True), build(n, s, reuse=False)
    assert np.array_equal(kept.rows, plain.rows)
    for first, kappa in ((0, 1), (3, 6), (18, 9)):
        together = {int(j) for i in range(kappa) for j in kept.support((first + i) % n)[0]}
        assert (kappa + kept.cost.shared_chunks) * kept.cost.work == pytest.approx(len(together) / n)
    assert kept.cost.storage == plain.cost.storage
    assert plain.cost.shared_chunks == 0


def test_factor_counts_the_shared_chunks_of_every_active_worker() -> None:
    assert Cost(0.1, 0.5, shared_chunks=5).factor(50, active=4) == pytest.approx((50 + 4 * 5) * 0.1)
    assert codes.cyclic(55, 5, reuse=True).cost.factor(50, 5) == pytest.approx((50 + 5 * 5) / 55)


def test_encoding_costs_the_parities_of_a_systematic_code() -> None:
    """Each number of the data enters each parity once, and nothing else."""
    code = codes.mds(50, 60)
    mixed = np.count_nonzero(code.encoders[0], axis=1) > 1
    assert code.cost.encode == np.count_nonzero(code.encoders[0][mixed]) / 50
    fountain = codes.lt(50, 100)
    assert fountain.cost.encode == pytest.approx(np.count_nonzero(fountain.encoders[0]) / 50)


def shapes(kind: str, critical: int, total: int) -> list[Shape]:
    return [s for f in FAMILIES.values() if kind in f.kinds for s in f.shapes(kind, critical, total)]


SHAPES = [
    shape
    for kind in ("gradient", "linear", "product", "function", "transform")
    for critical, total in ((1, 1), (4, 4), (4, 8), (5, 9), (16, 21), (50, 55))
    for shape in shapes(kind, critical, total)
]


def test_the_tuner_is_offered_every_family_but_two() -> None:
    """Fourier transforms are one iteration, and the degree of a function is not part of a workload."""
    assert set(FAMILIES) - {s.family for s in SHAPES} == {"lagrange", "fft"}


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"{s.family} {s.kind} {s.critical} of {s.total}")
def test_a_shape_is_what_it_builds(shape: Shape) -> None:
    """Its cost, known before the matrix is made, is the code's (for a fountain, on average over the draws)."""
    code = shape.build()
    assert (code.family, code.kind, code.total, code.exact) == (shape.family, shape.kind, shape.total, shape.exact)
    if shape.any_critical:
        assert code.critical == shape.critical
    if shape.family == "lt":
        drawn = replace(code.cost, encode=shape.cost.encode, decode=shape.cost.decode)
        assert drawn == shape.cost
        assert code.cost.encode == pytest.approx(shape.cost.encode, rel=0.5)
    else:
        assert code.cost == shape.cost


def neighbours(code: Code) -> list[range]:
    """Tasks in a row, as a worker gets them: some lengths from some starts."""
    n = code.total
    return [range(first, min(first + many, n)) for first in (0, 1, n // 2, n - 1) for many in (1, 2, n // 2, n)]


def distinct(code: Code, tasks: range) -> float:
    """What these tasks need of the data: chunks once each; coded blocks once each where they are the same."""
    if not code.encoders:
        return len({int(j) for task in tasks for j in code.support(task)[0]}) / code.chunks
    shares = [len({encoder[task].tobytes() for task in tasks}) / encoder.shape[1] for encoder in code.encoders]
    return float(np.mean(shares)) * (1 + code.is_complex) * strips(code)


HOLDERS: dict[str, Callable[[], Code]] = {
    **{name: partial(small, name) for name in SMALL},
    **{f"{name}, large": partial(middle, name) for name in GRADIENTS},
    "bernoulli": lambda: codes.bernoulli(8, 12),
    "cyclic MDS with reuse": lambda: codes.cyclic_mds(12, 4, reuse=True),
}


@pytest.mark.parametrize("name", HOLDERS)
def test_a_worker_never_holds_more_of_the_data_than_its_cost_says(name: str) -> None:
    code = HOLDERS[name]()
    for tasks in neighbours(code):
        assert code.cost.held(tasks) >= distinct(code, tasks) - 1e-12


@pytest.mark.parametrize(
    "code", [codes.cyclic(12, 4), codes.cyclic(12, 4, reuse=True), codes.uncoded(7), codes.mds(5, 9)]
)
def test_what_a_worker_holds_is_exact_where_it_is_simple(code: Code) -> None:
    for tasks in neighbours(code):
        assert code.cost.held(tasks) == pytest.approx(distinct(code, tasks))
        assert stored(code, tasks) == pytest.approx(distinct(code, tasks))
    assert code.cost.held(range(0)) == 0.0


def test_tasks_are_placed_in_a_row() -> None:
    assert placement([3, 0, 2]) == [range(3), range(3, 3), range(3, 5)]
