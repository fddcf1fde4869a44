"""Parities: what vanishes where all results are right, and does not where one entry of one result is wrong."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from code_specimens import MIDDLE, SMALL, middle, small

from deadheat.coding import Code, LinearCode, codes
from deadheat.coding.conformance import trial
from deadheat.errors import BadInput

LINEAR = [name for name in SMALL if isinstance(small(name), LinearCode)]
LINEAR_MIDDLE = [name for name in MIDDLE if isinstance(middle(name), LinearCode)]


def check_parity(code: Code, done: list[int]) -> None:
    """Right results leave rounding; one wrong entry of any result is seen by a code of which any K suffice."""
    parity = code.parity(done)
    assert parity is not None
    results = np.stack([np.ravel(trial(code).results[task]) for task in sorted(done)])
    size = float(np.abs(results).max())
    assert np.allclose(parity @ parity.conj().T, np.eye(len(parity)), rtol=0, atol=1e-12)
    assert np.abs(parity @ results).max(initial=0.0) <= 1e-12 * size
    for place in range(len(done)) if len(parity) and code.exact else ():
        wrong = results.astype(np.result_type(results, float))
        wrong[place, 0] += 0.5 * size
        assert np.abs(parity @ wrong).max() > 1e-7 * size


@pytest.mark.parametrize("name", LINEAR)
def test_all_results_of_a_code_check_one_another(name: str) -> None:
    check_parity(small(name), list(range(small(name).total)))


@pytest.mark.parametrize("name", LINEAR_MIDDLE)
def test_a_result_beyond_k_is_a_check(name: str) -> None:
    code = middle(name)
    order = np.random.default_rng(0).permutation(code.total).tolist()
    for more in (1, 3):
        done = order[: code.critical + more]
        parity = code.parity(done)
        assert parity is not None
        assert parity.shape == (min(more, code.total - code.critical), len(done))
        check_parity(code, done)


@pytest.mark.parametrize("name", LINEAR_MIDDLE)
def test_k_results_do_not_check_one_another(name: str) -> None:
    code = middle(name)
    done = np.random.default_rng(1).choice(code.total, code.critical, replace=False).tolist()
    parity = code.parity(done)
    assert parity is not None
    assert parity.shape == (0, code.critical)


def test_columns_are_the_tasks_in_ascending_order() -> None:
    code = codes.cyclic(7, 2)
    parity = code.parity([5, 0, 6, 2, 1, 3])
    assert parity is not None
    assert np.abs(parity @ code.rows[[0, 1, 2, 3, 5, 6]]).max() < 1e-14
    assert code.parity({0, 1, 2, 3, 5, 6}) is parity


def test_what_is_kept_is_bounded_and_stays_here(monkeypatch: pytest.MonkeyPatch) -> None:
    code = codes.cyclic(7, 2)
    before = len(pickle.dumps(code))
    monkeypatch.setattr(LinearCode, "MOST_KEPT", 3)
    for missing in range(7):
        code.parity([task for task in range(7) if task != missing])
        assert len(code._parities) <= 3
    assert len(pickle.dumps(code)) < before + 5000  # singular directions of 7 x 7, and no parities
    assert "_parities" not in pickle.loads(pickle.dumps(code)).__dict__


def test_copies_and_peeling_have_none() -> None:
    for code in (codes.replication(3, 2), codes.uncoded(3), codes.fractional_repetition(6, 1), codes.product(2)):
        assert code.parity(range(code.total)) is None


def test_a_task_that_there_is_not_is_refused() -> None:
    with pytest.raises(BadInput, match="no such task"):
        codes.cyclic(7, 2).parity([0, 9])
