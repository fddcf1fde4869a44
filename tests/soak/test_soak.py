"""A short storm and one wrong worker; `make soak` does it for long."""

from __future__ import annotations

from random_signals import storm


def test_a_storm_of_signals_leaves_right_answers_and_nothing_else() -> None:
    outcomes, sent = storm(seconds=8.0, seed=5, rate=2.0)
    assert sent.total() > 3
    assert outcomes["right"] > 0
    assert all(kind == "right" or "worker" in kind for kind in outcomes)
