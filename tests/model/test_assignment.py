"""Eq. (1): the moments of an assignment, by hand and against a plain Monte Carlo."""

from __future__ import annotations

import numpy as np
import pytest

from deadheat.model import Cluster, CodeSpec, Worker, assignment_moments

UNIT = CodeSpec(1)  # a task is one unit of work


def test_moments_by_hand() -> None:
    cluster = Cluster([Worker(2.0, 3.0, 0.5), Worker(2.0, 3.0, 0.5), Worker(1.0, 0.0, 4.0)])
    first, second = assignment_moments(cluster.tasks(UNIT), [3, 0, 2])
    assert first.tolist() == [6.5, 0.0, 6.0]
    # Var = 3 * 9 and mean 6.5; nothing at all for the idle one; 6 for certain.
    assert second.tolist() == [27 + 6.5**2, 0.0, 36.0]


def test_real_loads_have_the_moments_of_the_printed_polynomial() -> None:
    first, second = assignment_moments(Cluster([Worker(2.0, 3.0, 0.5)]).tasks(UNIT), [0.25])
    assert first[0] == pytest.approx(0.5 + 0.25 * 2)
    assert second[0] == pytest.approx(0.25 + 2 * 0.25 * 0.5 * 2 + 0.25 * 13 + 0.25 * (0.25 - 1) * 4)


def test_moments_against_monte_carlo(trio: Cluster) -> None:
    loads, draws, rng = [4, 1, 6], 40_000, np.random.default_rng(20)
    first, second = assignment_moments(trio.tasks(UNIT), loads)
    for p, (law, load) in enumerate(zip(trio.laws, loads, strict=True)):
        times = trio.comm[p] + law.rvs((draws, load), rng).sum(axis=1)
        for exact, sample in ((first[p], times), (second[p], times**2)):
            error = sample.std() / np.sqrt(draws)
            assert abs(sample.mean() - exact) <= 4 * error + 1e-12 * exact


def test_monte_carlo_would_see_one_task_more() -> None:
    rng, draws = np.random.default_rng(21), 40_000
    cluster = Cluster([Worker(2.0, 2.0, 0.3)])
    times = 0.3 + cluster.laws[0].rvs((draws, 5), rng).sum(axis=1)
    wrong = assignment_moments(cluster.tasks(UNIT), [4])[0][0]
    assert abs(times.mean() - wrong) > 20 * times.std() / np.sqrt(draws)
