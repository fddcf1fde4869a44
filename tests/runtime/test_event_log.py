"""The event log: a master that is fed the same events gives the same commands; what differs or is torn is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from descent import descent, off
from each_engine import PAIR, TRIO, Killer, Moment

import deadheat as dh
from deadheat.runtime import BadLog, Job, Replayed, replay, run
from deadheat.scheduling import Command, Event, Finished, Resolve
from deadheat.scheduling.schedules import Pull
from deadheat.simulation import VirtualEngine

SPEC = dh.CodeSpec.of(9, 12)
CODE = dh.codes.cyclic(12, 3)
SLOW = dh.Cluster.from_columns([1.0, 2.0, 0.5], [0.5, 1.0, 0.5], [0.1, 0.0, 0.3])


def virtual(seed: int = 1) -> VirtualEngine:
    return VirtualEngine(SLOW, dh.split(SLOW, SPEC), seed, absence=2.0)


def logged(path: Path, jobs: int = 3, **settings: Any) -> Path:
    """A run on sampled time that has written its events; a worker is lost and comes back."""
    engine = virtual()
    engine.kill(1, at=3.0)
    file = path / "events.jsonl"
    every = [descent(12, 12, f"job {n}") for n in range(jobs)]
    done = run(every, SLOW, CODE, engine, events=file, **settings).wait()
    assert all(off(delivery.state, 12) < 1e-9 for delivery in done.deliveries)
    return file


@pytest.mark.parametrize("schedule", ["static", "pull", "top-up", "duplicates", "speculative"])
def test_the_same_events_give_the_same_commands(tmp_path: Path, schedule: str) -> None:
    file = logged(tmp_path, schedule=schedule)
    replayed = replay(file)
    assert replayed.difference is None
    assert replayed.jobs == 3
    lines = [json.loads(line)["kind"] for line in file.read_text().splitlines() if "kind" in json.loads(line)]
    events = {"Arrived", "Finished", "Stopped", "Failed", "Lost", "Joined", "Resolved", "Refused", "Tick"}
    assert replayed.events == sum(kind in events for kind in lines)
    assert replayed.commands == sum(kind not in events for kind in lines)
    assert replayed.commands > 3 * 12


@pytest.mark.parametrize(
    "settings",
    [
        {"policy": "uniform", "adapt": False},
        {"gamma": 0.0},
        {"policy": lambda cluster, spec, gamma: dh.uniform(cluster, spec), "schedule": Pull(ahead=2)},
    ],
    ids=["uniform", "gamma", "one's own"],
)
def test_the_log_says_how_the_master_was_set(tmp_path: Path, settings: dict[str, Any]) -> None:
    replayed = replay(logged(tmp_path, **settings))
    assert (replayed.difference, replayed.jobs) == (None, 3)


def test_a_probe_is_replayed(tmp_path: Path) -> None:
    file = tmp_path / "events"
    run(descent(12, 5), code=CODE, engine=virtual(), events=file).wait()
    assert '"rounds": 3' in file.read_text()
    replayed = replay(file)
    assert (replayed.difference, replayed.jobs) == (None, 2)  # the probe is delivered as well


def test_a_real_run_with_a_dead_worker_and_a_bad_job_is_replayed(tmp_path: Path) -> None:
    def broken(w: Any, chunk: Any) -> Any:
        raise ValueError('a bad chunk, with "quotes" and\nlines')

    jobs = [descent(12, 10), descent(12, 3, "bad", broken), descent(12, 5)]
    under_way = run(jobs, TRIO, CODE, events=tmp_path / "events")
    killer = Killer(under_way, (Moment(Finished, 5, worker=1), 1))
    first, second, third = under_way.wait().deliveries
    assert killer.killed == [1]
    assert (first.error, third.error) == (None, None)
    assert second.error is not None
    replayed = replay(tmp_path / "events")
    assert (replayed.difference, replayed.jobs) == (None, 2)


def test_a_run_that_went_on_from_its_checkpoint_is_replayed(tmp_path: Path) -> None:
    def stops(message: Event | Command, at: float) -> None:
        if isinstance(message, Resolve) and message.ticket.iteration == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(descent(12, 12), SLOW, CODE, virtual(), checkpoint=tmp_path / "saved", listeners=[stops]).wait()
    file = tmp_path / "events"
    run(descent(12, 12), SLOW, CODE, virtual(), checkpoint=tmp_path / "saved", events=file).wait()
    assert '"first": 6' in file.read_text()
    assert replay(file).difference is None


def test_results_are_not_written(tmp_path: Path) -> None:
    job = Job([1.0] * 12, lambda s, c: np.full(50_000, c), 0.0, lambda s, total, i: float(total[0]), 3)
    run(job, SLOW, CODE, virtual(), events=tmp_path / "events").wait()
    assert (tmp_path / "events").stat().st_size < 50_000


def test_a_stream_writes_each_code_once(tmp_path: Path) -> None:
    """A hundred jobs of which none names a code: the log does not keep a code for each of them."""
    engine = VirtualEngine(PAIR, dh.split(PAIR, dh.CodeSpec(2)))
    jobs = (Job([1.0, 2.0], lambda s, c: c, 0.0, lambda s, total, i: float(total), 1) for _ in range(100))
    run(jobs, PAIR, engine=engine, events=tmp_path / "events").wait()
    lines = [json.loads(line) for line in (tmp_path / "events").read_text().splitlines()]
    assert sum(line.get("kind") == "Arrived" for line in lines) == 100
    assert sum("pickle" in line for line in lines) == 1


# What differs is named


def edited(file: Path, change: Callable[[list[dict[str, Any]]], None]) -> Replayed:
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    change(lines)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return replay(file)


def place(lines: list[dict[str, Any]], kind: str, count: int = 1) -> int:
    """Where the count-th line of a kind stands."""
    return [number for number, line in enumerate(lines) if line.get("kind") == kind][count - 1]


def test_a_command_that_was_another_one_is_named(tmp_path: Path) -> None:
    where: list[int] = []

    def change(lines: list[dict[str, Any]]) -> None:
        where.append(place(lines, "Assign", 7))
        lines[where[0]]["tasks"].append(99)

    difference = edited(logged(tmp_path), change).difference
    assert difference is not None
    assert difference.startswith(f"line {where[0] + 1}: the run did Assign(")
    assert "99" in difference
    assert ", the master says Assign(" in difference


def test_a_command_that_is_missing_is_named(tmp_path: Path) -> None:
    where: list[int] = []

    def change(lines: list[dict[str, Any]]) -> None:
        where.append(place(lines, "Resolve", 2))
        del lines[where[0]]

    difference = edited(logged(tmp_path), change).difference
    assert difference is not None
    assert difference.startswith(f"line {where[0] + 1}: the run did not do Resolve(")


def test_a_command_too_many_is_named(tmp_path: Path) -> None:
    def change(lines: list[dict[str, Any]]) -> None:
        lines.append({"kind": "Deliver", "job": 7})

    difference = edited(logged(tmp_path), change).difference
    assert difference is not None
    assert "the run did Deliver(job=7), the master says nothing" in difference


def test_an_event_that_was_another_one_leads_to_other_commands(tmp_path: Path) -> None:
    def change(lines: list[dict[str, Any]]) -> None:
        del lines[place(lines, "Finished", 9)]

    replayed = edited(logged(tmp_path), change)
    assert replayed.difference is not None
    assert replayed.difference.startswith("line ")


# Torn files and others


def test_a_file_that_was_cut_in_the_middle_of_a_line(tmp_path: Path) -> None:
    """The run was killed while it wrote: what is there is replayed."""
    file = logged(tmp_path)
    whole, text = replay(file), file.read_bytes()
    for part in (0.5, 0.9):
        cut = text[: int(part * len(text))].rstrip(b"\n")
        assert not cut.endswith(b"\n")
        file.write_bytes(cut)
        replayed = replay(file)
        assert replayed.difference is None
        assert 0 < replayed.events < whole.events


GARBAGE: dict[str, tuple[str, str]] = {
    "not JSON": ("rubbish", "line 6: not JSON"),
    "no object": ("[1, 2]", "line 6: not a JSON object"),
    "unknown kind": ('{"kind": "Rumour", "at": 1.0}', "line 6: not an event or a command"),
    "no kind": ('{"at": 1.0}', "line 6: not an event or a command"),
    "missing field": ('{"kind": "Lost", "at": 1.0}', "line 6: not an event or a command"),
    "unknown field": ('{"kind": "Tick", "at": 1.0, "why": "so"}', "line 6: not an event or a command"),
    "no ticket": ('{"kind": "Resolved", "at": 1.0, "ticket": 5}', "line 6: not an event or a command"),
    "unknown code": ('{"kind": "Arrived", "job": 9, "at": 1.0, "code": 77, "iterations": 1, "spec": {}}', "line 6: "),
    "impossible spec": (
        '{"kind": "Arrived", "job": 9, "at": 1.0, "code": 0, "iterations": 1, "spec": {"critical": -1}}',
        "line 6: ",
    ),
    "torn code": ('{"code": 5, "pickle": "AAAA"}', "line 6: "),
    "no base64": ('{"code": 5, "pickle": "!"}', "line 6: "),
}


@pytest.mark.parametrize(("line", "words"), list(GARBAGE.values()), ids=list(GARBAGE))
def test_a_line_that_is_garbage_is_named(line: str, words: str, tmp_path: Path) -> None:
    file = logged(tmp_path, jobs=1)
    lines = file.read_text().splitlines()
    assert [json.loads(text).get("kind") for text in lines[:6]] == [None, "Joined", "Joined", "Joined", None, "Arrived"]
    lines.insert(5, line)
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(BadLog, match=words) as caught:
        replay(file)
    assert str(file) in str(caught.value)


HEADERS = {
    "empty": "",
    "other JSON": '{"jobs": 5}\n',
    "other format": '{"format": 99, "master": ""}\n',
    "no master": '{"format": 1}\n',
    "torn master": '{"format": 1, "master": "AAAA"}\n',
    "another master": '{"format": 1, "master": "gASVAgAAAAAAAAB9lC4="}\n',
    "text": "some notes\nof mine\n",
}


@pytest.mark.parametrize("text", list(HEADERS.values()), ids=list(HEADERS))
def test_what_is_no_event_log_is_said(text: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(text)
    with pytest.raises(BadLog, match="line 1"):
        replay(tmp_path / "file")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(dh.BadInput, match="No such file"):
        replay(tmp_path / "nowhere")
    with pytest.raises(dh.BadInput, match="EVENTS"):
        replay(tmp_path)
    (tmp_path / "binary").write_bytes(bytes(range(128, 256)))
    with pytest.raises(dh.BadInput, match="cannot be read"):
        replay(tmp_path / "binary")


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(dh.BadInput, match="events"):
        run(descent(12, 1), SLOW, CODE, virtual(), events=tmp_path / "nowhere" / "events")


def test_a_run_that_cannot_begin_leaves_the_old_log_alone(tmp_path: Path) -> None:
    file = logged(tmp_path, jobs=1)
    before = file.read_text()
    with pytest.raises(dh.BadInput, match="needs 20"):
        run(descent(12, 1), SLOW, dh.codes.cyclic(20, 3), virtual(), events=file)
    assert file.read_text() == before
