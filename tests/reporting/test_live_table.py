"""The table that is drawn while a run goes on: every worker, how far it is, and when it will end."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import deadheat as dh
from deadheat.reporting import live_table, progress_bar
from deadheat.reporting.live_table import live_view, watched

ITERATIONS = 6
CLUSTER = dh.Cluster([dh.Worker(2e-3, 2e-4, name="[one]"), dh.Worker(4e-3, 4e-4, name="two")])


def job() -> dh.Job:
    return dh.Job(list(range(8)), lambda state, chunk: chunk * np.ones(2), np.zeros(2), lambda s, t, i: t, ITERATIONS)


def begun(jobs: Iterable[dh.Job]) -> dh.Run:
    return dh.run(jobs, CLUSTER, emulate=True)


def text_of(run: dh.Run) -> str:
    screen = Console(file=io.StringIO(), width=120)
    screen.print(live_view(run, "a title [with brackets]", run.driver.engine.now()))
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


def test_a_run_is_drawn_at_every_iteration() -> None:
    drawn: list[str] = []
    with begun([job(), job()]) as run:
        run.driver.listeners.append(
            lambda message, at: drawn.append(text_of(run)) if type(message).__name__ == "Resolved" else None
        )
        before = text_of(run)
        run.wait()
    after = text_of(run)
    assert len(drawn) == 2 * ITERATIONS
    assert "0 of 2 jobs done" in before
    assert "0%" in before
    assert "to go" not in before  # nothing is known yet
    for text in drawn:
        assert text.startswith("a title [with brackets]\n")
        assert re.search(r"^\[one\] +│ +\d+ │", text, re.MULTILINE)  # a name is no markup
        assert re.search(r"^two +│", text, re.MULTILINE)
    shares = [re.search(r"^\[one\] +│ +(\d+) │ +(\d+) │", text, re.MULTILINE) for text in drawn]
    done = [int(found[2]) for found in shares if found]
    assert done == sorted(done)  # tasks done only grow
    assert done[0] < done[-1]
    assert any("at most " in text and " to go" in text for text in drawn)
    parts = [int(found[1]) for text in drawn if (found := re.search(r"(\d+)%", text))]
    assert parts == sorted(parts)
    assert 0 < parts[0] < parts[-1] <= 100
    assert "2 of 2 jobs done" in after
    assert "100%" in after


def test_a_stream_without_a_number_has_no_end_to_show() -> None:
    def stream() -> Iterator[dh.Job]:
        yield job()
        yield job()

    with begun(stream()) as run:
        next(iter(run))
        text = text_of(run)
    assert "1 jobs done" in text
    assert "%" not in text
    assert "to go" not in text


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What a user at a terminal would see."""
    file = io.StringIO()

    def console(stderr: bool = False) -> Console:
        return Console(file=file, force_terminal=True, width=120)

    for module in (live_table, progress_bar):
        monkeypatch.setattr(module, "console", console)
    return file


def test_watching_draws_on_a_terminal_and_leaves_nothing_behind(terminal: io.StringIO) -> None:
    with begun([job()]) as run:
        listeners = len(run.driver.listeners)
        with watched(run, "my run"):
            run.wait()
        assert len(run.driver.listeners) == listeners
    assert "my run" in terminal.getvalue()
    assert "two" in terminal.getvalue()


def test_bars_are_drawn_on_a_terminal(terminal: io.StringIO) -> None:
    with progress_bar.replication_bar(0.02, None) as report:
        report("uniform, pull", 10, 0.05)
    with progress_bar.candidate_bar("candidates") as judged:
        judged(3, 40, 4.5)
    assert "uniform, pull" in terminal.getvalue()
    assert "10 runs, within 5.0%" in terminal.getvalue()
    assert "3 of 40, best 4.5 s" in terminal.getvalue()


def test_nothing_is_drawn_elsewhere(capsys: pytest.CaptureFixture[Any]) -> None:
    with begun([job()]) as run, watched(run, "my run"):
        run.wait()
    with progress_bar.replication_bar(0.02, 10) as report:
        report("uniform, pull", 10, 0.05)
    assert capsys.readouterr() == ("", "")
