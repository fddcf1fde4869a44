"""Sums of capped counts: merged tables against plain convolutions."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from deadheat.queueing.counting import counts, merge, total, without_each

Array = NDArray[np.float64]


def _tables(sizes: list[int], times: int = 3) -> list[Array]:
    rng = np.random.default_rng(1)
    tables = [rng.random((times, size + 1)) for size in sizes]
    return [table / table.sum(axis=1, keepdims=True) for table in tables]


def _plain(tables: list[Array], row: int) -> Array:
    out = np.ones(1)
    for table in tables:
        out = np.convolve(out, table[row])
    return out


def test_counts_are_differences_of_at_least() -> None:
    done = np.array([[0.9, 1.0], [0.5, 0.7], [0.2, 0.1]])
    np.testing.assert_allclose(counts(done), [[0.1, 0.4, 0.3, 0.2], [0.0, 0.3, 0.6, 0.1]], atol=1e-15)


@pytest.mark.parametrize("sizes", [[3], [2, 4], [1, 5, 2], [4, 4, 1, 7, 30], [1] * 17])
def test_total_is_the_convolution_of_all(sizes: list[int]) -> None:
    tables = _tables(sizes)
    critical = max(sum(sizes) // 2, 1)
    found = total(tables, critical)
    for row in range(3):
        np.testing.assert_allclose(found[row], _plain(tables, row)[:critical], atol=1e-14)


@pytest.mark.parametrize("sizes", [[3], [2, 4], [1, 5, 2], [4, 4, 1, 7, 30], [1] * 9])
def test_without_each_leaves_one_out(sizes: list[int]) -> None:
    tables = _tables(sizes)
    critical = sum(sizes)
    found = without_each(tables, critical)
    assert len(found) == len(sizes)
    for p, table in enumerate(found):
        exact = _plain(tables[:p] + tables[p + 1 :], 1)[:critical]
        np.testing.assert_allclose(table[1], exact, atol=1e-14)


def test_a_merge_is_cut_at_the_critical_count() -> None:
    first, second = _tables([4, 6])
    assert merge(first, second, 5).shape == (3, 5)
    assert merge(first, second, 50).shape == (3, 11)
