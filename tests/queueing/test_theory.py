"""`dh.theory`: everything that predicts, in one place."""

from __future__ import annotations

from deadheat import model, queueing, theory

MINE = {
    "Bound", "Draw", "Forecast", "Interval", "IterationLaw", "assignment_moments", "draw", "fluid_bound", "forecast",
    "genie_bound", "interval", "iteration_law", "kingman", "lower_bound", "mean_delay", "pollaczek_khinchine",
    "service_moments", "would_be_used",
}  # fmt: skip


def test_it_has_the_names_of_the_rooms_below() -> None:
    for name in MINE:
        assert getattr(theory, name) is getattr(queueing, name, getattr(model, name, None)), name
