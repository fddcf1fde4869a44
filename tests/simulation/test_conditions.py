"""Workers that change: the two-state chain has its law, and a replay is the record."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import deadheat as dh
from deadheat.simulation import Replay, iteration_times

TRACE = Path(__file__).parents[2].parent / "shared" / "traces" / "lambda256_cnn.npz"
ROWS, WORKERS = 20_000, 20
# The second pair takes the other branch of the code: enter > 1 - leave. The third is independent straggling.
CHAINS = pytest.mark.parametrize(("enter", "leave"), [(0.05, 0.2), (0.7, 0.6), (0.3, 0.7), (0.1, 0.9)])


def states(enter: float, leave: float, rows: int = ROWS, seed: int = 1) -> np.ndarray:
    factors = dh.Switching(3.0, enter, leave).factors(WORKERS, np.random.default_rng(seed))(rows)
    assert set(np.unique(factors)) == {1.0, 3.0}
    slow: np.ndarray = factors == 3.0
    return slow


@CHAINS
def test_both_states_change_with_their_probabilities(enter: float, leave: float) -> None:
    slow = states(enter, leave)
    before, after = slow[:-1], slow[1:]
    for came, now, chance in ((~before, after, enter), (before, ~after, leave)):
        share = np.count_nonzero(came & now) / np.count_nonzero(came)
        error = math.sqrt(chance * (1 - chance) / np.count_nonzero(came))
        assert abs(share - chance) <= 4 * error
        assert abs(share - 1.1 * chance) > 4 * error  # a chance a tenth greater would be seen


@CHAINS
def test_the_share_in_the_long_run(enter: float, leave: float) -> None:
    slow = states(enter, leave)
    share = dh.Switching(3.0, enter, leave).share
    stay = 1 - enter - leave  # correlation from iteration to iteration
    error = math.sqrt(share * (1 - share) * (1 + stay) / (1 - stay) / slow.size)
    assert abs(slow.mean() - share) <= 4 * error


def test_it_starts_in_equilibrium() -> None:
    chain = dh.Switching(3.0, 0.01, 0.03)
    first = chain.factors(20_000, np.random.default_rng(2))(1)[0] == 3.0
    assert abs(first.mean() - 0.25) <= 4 * math.sqrt(0.25 * 0.75 / 20_000)


def stays(slow: np.ndarray) -> np.ndarray:
    """The lengths of whole stays in the slow state."""
    lengths = []
    for column in slow.T:
        edges = np.flatnonzero(np.diff(column.astype(int)))
        begins = edges[~column[edges]]
        ends = edges[column[edges]]
        ends = ends[ends > begins[0]]
        lengths.append(ends - begins[: ends.size])
    return np.concatenate(lengths)


def fit_to_geometric(lengths: np.ndarray, leave: float) -> float:
    """The p-value of a chi-square test with lengths 1, 2, ..., and all that are rarer than 50 in one class."""
    classes = max(int(math.log(50 / lengths.size) / math.log(1 - leave)), 1)
    seen = np.bincount(np.minimum(lengths, classes + 1), minlength=classes + 2)[1:]
    k = np.arange(1, classes + 1)
    expected = np.append(leave * (1 - leave) ** (k - 1), (1 - leave) ** classes) * lengths.size
    return float(stats.chisquare(seen, expected).pvalue)


@CHAINS
def test_stays_are_geometric(enter: float, leave: float) -> None:
    assert fit_to_geometric(stays(states(enter, leave)), leave) > 1e-3


def test_stays_that_are_not_geometric_are_seen() -> None:
    independent = np.random.default_rng(5).random((ROWS, WORKERS)) < 0.2  # the share of (0.05, 0.2), without memory
    assert fit_to_geometric(stays(independent), 0.2) < 1e-3


@pytest.mark.parametrize(("enter", "leave"), [(0.05, 0.2), (0.7, 0.6)])
def test_call_after_call_is_one_long_call(enter: float, leave: float) -> None:
    chain = dh.Switching(3.0, enter, leave)
    cut, whole = (chain.factors(4, np.random.default_rng(9)) for _ in range(2))
    np.testing.assert_array_equal(np.concatenate([cut(1), cut(5), cut(94)]), whole(100))


def test_certain_changes_alternate() -> None:
    slow = states(1.0, 1.0, rows=10)
    assert (slow[1:] != slow[:-1]).all()


def test_nobody_there_is_a_wait_for_all() -> None:
    factors = dh.Switching(math.inf, 0.6, 0.2).factors(2, np.random.default_rng(1))(5000)
    away = np.isinf(factors)
    assert away.any()
    assert not away.all(axis=1).any()


@pytest.mark.parametrize("enter", [0.2, 0.1])
def test_independent_straggling_has_the_mean_of_a_mixture(enter: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iteration_times, "DRAWS", 2**14)
    cluster = dh.Cluster.from_columns([2.0], 0.0)
    split = dh.Split.of([1], dh.CodeSpec(1))
    chain = dh.Switching(5.0, enter, 1 - enter)
    service = dh.simulate(cluster, split, dh.Stream.poisson(0.01, 1), 20_000, seed=1, condition=chain).service
    assert abs(service.mean() - 2.0 * (1 + 4 * enter)) <= 4 * service.std() / math.sqrt(service.size)


def test_persistent_stays_make_services_vary_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same share of slow iterations, but they come together: the mean of a service stays, its spread grows."""
    monkeypatch.setattr(iteration_times, "DRAWS", 2**14)
    cluster = dh.Cluster.from_columns([2.0], 0.0)
    split = dh.Split.of([1], dh.CodeSpec(1))
    stream = dh.Stream.poisson(0.01, 20)
    rare, often = (
        dh.simulate(cluster, split, stream, 5000, seed=1, condition=dh.Switching(5.0, q, 4 * q)).service
        for q in (0.02, 0.2)
    )
    # Jobs share stays, so the mean is less certain than independent ones: stays of 1/leave iterations.
    error = rare.std() / math.sqrt(5000) * math.sqrt(1 + 2 / 0.1 / 20)
    assert abs(rare.mean() - often.mean()) <= 4 * error
    assert rare.std() > 2 * often.std()


@pytest.mark.parametrize(
    "chances", [(0.5, 0.1, 0.1), (math.nan, 0.1, 0.1), (2.0, 1.5, 0.1), (2.0, -0.1, 0.1), (2.0, 0.0, 0.0)]
)
def test_impossible_chains_are_refused(chances: tuple[float, float, float]) -> None:
    with pytest.raises(dh.BadInput):
        dh.Switching(*chances)


def replayed(seconds: np.ndarray, critical: int, jobs: int) -> np.ndarray:
    replay = Replay(seconds)
    workers = seconds.shape[1]
    split = dh.Split.of(np.ones(workers), dh.CodeSpec.of(critical, workers))
    trace = dh.simulate(
        replay.cluster(), split, dh.Stream.poisson(1e-3, 1), jobs, seed=1, condition=replay, by_tasks=True
    )
    return trace.service


def test_a_replay_is_the_record() -> None:
    """The K-th smallest of each row, and from the top again; digits are lost in end - start only."""
    seconds = np.random.default_rng(4).gamma(2.0, 1.0, (7, 4))
    for critical in (1, 3, 4):
        expected = np.tile(np.sort(seconds, axis=1)[:, critical - 1], 3)
        np.testing.assert_allclose(replayed(seconds, critical, 21), expected, rtol=1e-9)


def test_a_replay_goes_on_from_batch_to_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iteration_times, "DRAWS", 20)
    seconds = np.random.default_rng(4).gamma(2.0, 1.0, (7, 4))
    np.testing.assert_allclose(replayed(seconds, 2, 28), np.tile(np.sort(seconds, axis=1)[:, 1], 4), rtol=1e-9)


@pytest.mark.parametrize("seconds", [np.ones(3), np.empty((0, 3)), [[1.0, -1.0]], [[1.0, math.nan]], [[0.0, 1.0]]])
def test_a_record_is_a_table_of_positive_times(seconds: np.ndarray) -> None:
    with pytest.raises(dh.BadInput, match="positive times"):
        Replay(seconds)


def test_a_record_of_other_workers_is_refused() -> None:
    cluster = dh.Cluster.from_columns([1.0, 1.0], 0.0)
    split = dh.Split.of([1, 1], dh.CodeSpec(2))
    with pytest.raises(dh.BadInput, match="3 workers recorded, 2 asked"):
        dh.simulate(cluster, split, dh.Stream.poisson(1.0, 1), 5, condition=Replay(np.ones((4, 3))))


def test_the_shared_trace() -> None:
    if not TRACE.is_file():
        pytest.skip("the shared trace lambda256_cnn.npz is not on this machine")
    seconds = np.load(TRACE)["seconds"][2].astype(float)
    assert seconds.shape == (30, 256)
    expected = np.sort(seconds, axis=1)
    np.testing.assert_allclose(replayed(seconds, 240, 60), np.tile(expected[:, 239], 2), rtol=1e-9)
    np.testing.assert_allclose(replayed(seconds, 256, 30), expected[:, -1], rtol=1e-9)
