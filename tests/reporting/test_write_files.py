"""Tables and timelines to files and back; whole or not at all."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import deadheat as dh
from deadheat.reporting.write_files import write_chrome_trace, write_table

CLUSTER = dh.Cluster.from_columns([1.0, 2.0, 0.5], [1.0, 1.0, 0.5], names=["near", "slow", "far"])
SPLIT = dh.Split.of([2, 1, 5], dh.CodeSpec.of(6, 8))
TRACE = dh.simulate(CLUSTER, SPLIT, dh.Stream.poisson(0.08, 3), 40, seed=1, timeline=True)
assert TRACE.timeline is not None
TIMELINE = TRACE.timeline
TABLES = pytest.mark.parametrize("columns", [TRACE.columns(), TIMELINE.columns()], ids=["jobs", "tasks"])


@TABLES
def test_csv_and_back(columns: dict[str, Any], tmp_path: Path) -> None:
    write_table(columns, tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    assert head == list(columns)
    for name, texts in zip(head, zip(*rows, strict=True), strict=True):
        kind = columns[name].dtype.kind
        read = [text == "True" for text in texts] if kind == "b" else [float(text) for text in texts]
        np.testing.assert_array_equal(read, columns[name])  # every digit


@TABLES
def test_json_and_back(columns: dict[str, Any], tmp_path: Path) -> None:
    write_table(columns, tmp_path / "table.json", TRACE.about)
    read = json.loads((tmp_path / "table.json").read_text())
    assert list(read["columns"]) == list(columns)
    for name, column in columns.items():
        np.testing.assert_array_equal(read["columns"][name], column)
    assert read["about"]["seed"] == 1
    assert read["about"]["loads"] == [2, 1, 5]


@TABLES
def test_parquet_and_back(columns: dict[str, Any], tmp_path: Path) -> None:
    write_table(columns, tmp_path / "table.parquet", TRACE.about)
    read = pq.read_table(tmp_path / "table.parquet")
    assert read.column_names == list(columns)
    for name, column in columns.items():
        found = read[name].to_numpy()
        assert found.dtype == column.dtype
        np.testing.assert_array_equal(found, column)
    assert json.loads(read.schema.metadata[b"deadheat"])["seed"] == 1


def test_an_unlimited_seed_is_kept(tmp_path: Path) -> None:
    seed = 2**127 + 1
    for ending in ("json", "parquet"):
        write_table(TRACE.columns(), tmp_path / f"t.{ending}", {"seed": seed})
    assert json.loads((tmp_path / "t.json").read_text())["about"]["seed"] == seed


def test_what_json_has_no_word_for(tmp_path: Path) -> None:
    write_table({"x": np.array([1.0, np.inf, -np.inf, np.nan])}, tmp_path / "t.json")
    assert json.loads((tmp_path / "t.json").read_text())["columns"]["x"] == [1.0, "inf", "-inf", None]


def test_a_chrome_trace_has_every_task(tmp_path: Path) -> None:
    write_chrome_trace(TIMELINE, CLUSTER.names, tmp_path / "t.json")
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    names = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
    assert names == {0: "near", 1: "slow", 2: "far"}
    slices = [e for e in events if e["ph"] == "X"]
    assert len(slices) == len(TIMELINE)
    np.testing.assert_array_equal([e["tid"] for e in slices], TIMELINE.worker)
    np.testing.assert_array_equal([e["args"]["job"] for e in slices], TIMELINE.job)
    np.testing.assert_array_equal([e["args"]["counted"] for e in slices], TIMELINE.done)
    np.testing.assert_allclose([e["ts"] for e in slices], TIMELINE.begin * 1e6)  # microseconds
    np.testing.assert_allclose([e["dur"] for e in slices], (TIMELINE.end - TIMELINE.begin) * 1e6)
    assert {e["cat"] for e in slices} == {"task", "purged"}


ENDINGS = pytest.mark.parametrize("name", ["t.csv", "t.json", "t.parquet"])


@ENDINGS
def test_a_folder_that_is_missing(name: str, tmp_path: Path) -> None:
    with pytest.raises(dh.BadInput, match="folder does not exist; make it"):
        write_table(TRACE.columns(), tmp_path / "no" / name)
    with pytest.raises(dh.BadInput):
        write_chrome_trace(TIMELINE, CLUSTER.names, tmp_path / "no" / name)
    assert list(tmp_path.iterdir()) == []


@ENDINGS
def test_a_folder_that_is_a_file(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(dh.BadInput):
        write_table(TRACE.columns(), tmp_path / "file" / name)
    assert (tmp_path / "file").read_text() == "mine"


@ENDINGS
def test_a_name_that_is_too_long(name: str, tmp_path: Path) -> None:
    with pytest.raises(dh.BadInput):
        write_table(TRACE.columns(), tmp_path / ("x" * 300 + name))
    assert list(tmp_path.iterdir()) == []


@ENDINGS
def test_a_file_that_is_a_folder(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(dh.BadInput):
        write_table(TRACE.columns(), tmp_path / name)
    assert [p.name for p in tmp_path.iterdir()] == [name]  # nothing half-written beside it


@ENDINGS
def test_a_failure_leaves_what_was(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("what was")
    uneven = {"a": np.arange(3), "b": np.arange(4)} if name != "t.json" else {"a": np.array([object()])}
    with pytest.raises((ValueError, TypeError)):
        write_table(uneven, tmp_path / name)
    assert (tmp_path / name).read_text() == "what was"
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    write_table({"a": np.arange(1000)}, tmp_path / "t.csv")
    write_table({"a": np.arange(2)}, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text().split() == ["a", "0", "1"]


@pytest.mark.parametrize("name", ["t.xlsx", "t", "csv", "t.csv.gz"])
def test_an_unknown_ending_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(dh.BadInput, match=r"unknown ending; use \.csv, \.parquet, \.json"):
        write_table(TRACE.columns(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
