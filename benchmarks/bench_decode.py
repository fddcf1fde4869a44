"""Decoding against one product of weights and results that lie ready in one array, and what fresh weights cost."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.timing import Row
from deadheat.coding import LinearCode, codes
from deadheat.coding.decoding_recipe import Weights

LENGTH = 10**6  # doubles in a result
REPEATS = 15


def interleaved(*actions: Callable[[], object]) -> list[float]:
    """The median seconds of each action, taken in turn so that a noisy moment meets them all."""
    times: list[list[float]] = [[] for _ in actions]
    for repeat in range(REPEATS + 1):
        for action, taken in zip(actions, times, strict=True):
            start = time.perf_counter()
            action()
            if repeat:  # the first warms up
                taken.append(time.perf_counter() - start)
    return [statistics.median(taken) for taken in times]


def fresh(code: LinearCode, patterns: Iterator[list[int]]) -> Callable[[], object]:
    """Weights for a pattern that was never seen."""
    return lambda: code.recipe(next(patterns))


def any_of(code: LinearCode, rng: np.random.Generator) -> Iterator[list[int]]:
    """Any K results."""
    while True:
        yield rng.choice(code.total, code.critical, replace=False).tolist()


def some_missing(code: LinearCode, missing: int, rng: np.random.Generator) -> Iterator[list[int]]:
    """All plain results but so many, and as many parities."""
    K, n = code.critical, code.total
    while True:
        plain = rng.choice(K, K - missing, replace=False)
        parities = K + rng.choice(n - K, missing, replace=False)
        yield [*plain.tolist(), *parities.tolist()]


def rows() -> list[Row]:
    """The limits of the issue that brought them in."""
    rng = np.random.default_rng(1)
    code, large = codes.cyclic(55, 5), codes.mds(1000, 1060)
    done = sorted(rng.choice(55, 50, replace=False).tolist())
    results = {task: rng.standard_normal(LENGTH) for task in done}
    stacked = np.stack([results[task] for task in done])
    recipe = code.recipe(done)
    assert isinstance(recipe, Weights)
    weights = recipe.mixed
    decoding, product, small, thousand = interleaved(
        lambda: code.decode(results),
        lambda: weights @ stacked,
        fresh(code, any_of(code, rng)),
        fresh(large, some_missing(large, 57, rng)),
    )
    return [
        Row("decode 50 results of 10^6", decoding, "weights @ results", product, 2),
        Row("fresh weights, cyclic 50 of 55", small, "5 ms", 0.005, 1),
        Row("fresh weights, mds 1000 of 1060", thousand, "20 ms", 0.020, 1),
    ]
