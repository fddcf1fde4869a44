"""Who may read what a run writes: pickles only their owner, reports and traces whom the umask lets."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from descent import descent
from each_engine import PAIR

import deadheat as dh
from deadheat.reporting import write_text
from deadheat.runtime import run
from deadheat.simulation import VirtualEngine


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def virtual() -> VirtualEngine:
    return VirtualEngine(PAIR, dh.split(PAIR, dh.CodeSpec(6)))


@pytest.fixture
def umask() -> Iterator[None]:
    """That of most machines: others may read what is written."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.usefixtures("umask")
def test_checkpoints_and_event_logs_are_private_and_reports_are_not(tmp_path: Path) -> None:
    saved, events, report = tmp_path / "saved", tmp_path / "events", tmp_path / "report.html"
    events.write_text("an older log, that others may read")
    run(descent(6, 3), PAIR, engine=virtual(), checkpoint=saved, events=events).wait()
    write_text("<p>done", report)
    assert mode(saved) == 0o700
    assert [mode(file) for file in saved.iterdir()] == [0o600]
    assert mode(events) == 0o600
    assert not events.read_text().startswith("an older log")
    assert mode(report) == 0o644


def test_an_event_log_may_be_no_file() -> None:
    before = mode(Path("/dev/null"))
    run(descent(6, 3), PAIR, engine=virtual(), events="/dev/null").wait()
    assert mode(Path("/dev/null")) == before


def test_a_full_disk_ends_the_event_log_and_not_the_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    mount = ["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", str(tmp_path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        done = run([descent(6, 30), descent(6, 30)], PAIR, engine=virtual(), events=tmp_path / "events").wait()
        assert [delivery.error for delivery in done.deliveries] == [None, None]
        assert [text for text in caplog.messages if "ends here: No space left" in text] == caplog.messages != []
    finally:
        subprocess.run(["umount", tmp_path], check=True)
