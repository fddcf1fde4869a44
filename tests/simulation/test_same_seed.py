"""One seed, one run: the same bytes again, other bytes for another seed, and a seed to note where none was given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.simulation import Replay, iteration_times

CLUSTER = dh.Cluster.from_columns([1.0, 2.0, 0.5], [1.0, 1.0, 0.5], [0.3, 0.0, 0.6])
SPLIT = dh.Split.of([2, 1, 5], dh.CodeSpec.of(6, 8))
STREAM = dh.Stream.poisson(0.08, 3)
SLOW = dh.Switching(5.0, 0.1, 0.3)
SETTINGS: dict[str, dict[str, Any]] = {
    "exact": {},
    "by tasks": {"by_tasks": True},
    "wait": {"purge": False},
    "wait, by tasks": {"purge": False, "by_tasks": True},
    "between tasks": {"purge": "between-tasks"},
    "pull": {"schedule": "pull"},
    "top-up": {"schedule": "top-up"},
    "duplicates": {"schedule": "duplicates"},
    "speculative": {"schedule": "speculative"},
    "switching": {"condition": SLOW},
    "away": {"condition": dh.Switching(np.inf, 0.1, 0.3)},
    "switching, between tasks": {"condition": SLOW, "purge": "between-tasks"},
    "switching, pull": {"condition": SLOW, "schedule": "pull"},
    "timeline": {"timeline": True},
    "timeline, switching": {"timeline": True, "condition": SLOW},
    "replay": {"condition": Replay(np.arange(1.0, 13.0).reshape(4, 3)), "by_tasks": True},
}


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several batches in a run of 100 jobs, and little to do for the event loop of speculation."""
    monkeypatch.setattr(iteration_times, "DRAWS", 2**9)


def bytes_of(trace: dh.Trace) -> bytes:
    columns = [trace.arrival, trace.start, trace.end]
    if trace.timeline is not None:
        columns += trace.timeline.columns().values()
    return b"".join(column.tobytes() for column in columns)


def run(seed: int | None, settings: dict[str, Any]) -> dh.Trace:
    return dh.simulate(CLUSTER, SPLIT, STREAM, 100, seed=seed, **settings)


each_way = pytest.mark.parametrize("settings", SETTINGS.values(), ids=list(SETTINGS))


@each_way
def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(settings: dict[str, Any]) -> None:
    assert bytes_of(run(7, settings)) == bytes_of(run(7, settings))
    one, other = run(7, settings), run(8, settings)
    assert (one.arrival != other.arrival).all()
    if "replay" not in str(settings).lower():
        assert np.mean(one.service == other.service) < 0.05


@each_way
def test_the_seed_taken_is_on_record(settings: dict[str, Any]) -> None:
    first = run(None, settings)
    seed = first.about["seed"]
    assert isinstance(seed, int)
    assert bytes_of(run(seed, settings)) == bytes_of(first)
    assert bytes_of(run(None, settings)) != bytes_of(first)


def test_a_replay_has_no_luck() -> None:
    recorded = {"condition": Replay(np.arange(1.0, 13.0).reshape(4, 3))}
    cluster = recorded["condition"].cluster()
    one, other = (dh.simulate(cluster, SPLIT, STREAM, 100, seed=seed, **recorded) for seed in (1, 2))  # type: ignore[arg-type]
    np.testing.assert_allclose(one.service, other.service, rtol=1e-9)


def test_arrivals_are_common_to_all_ways() -> None:
    """Common random numbers: what is compared meets the same arrivals."""
    runs = [run(7, settings) for settings in SETTINGS.values()]
    assert all((trace.arrival == runs[0].arrival).all() for trace in runs)


def test_the_global_generator_is_left_alone() -> None:
    state = np.random.get_state()[1].copy()  # type: ignore[index]  # noqa: NPY002
    run(7, SETTINGS["by tasks"])
    assert (np.random.get_state()[1] == state).all()  # type: ignore[index]  # noqa: NPY002
