"""Lines and parcels: whole frames over a pipe without ever blocking, and objects that arrive as they were."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn

from deadheat.runtime.engines.lines import AT_ONCE, HEADER, Line
from deadheat.runtime.engines.parcels import SMALL, Parcel, Reader, Shelf, pack, unpack

SHARED = Path("/dev/shm")


# Lines


@pytest.fixture
def pipe() -> Iterator[tuple[Line, Connection]]:
    """The master's end and the worker's."""
    here, there = Pipe()
    line = Line(here)
    yield line, there
    line.close()
    there.close()


def heard(line: Line, count: int) -> list[bytes]:
    """The first so many frames."""
    frames: list[bytes] = []
    end = time.perf_counter() + 20
    while len(frames) < count:
        assert time.perf_counter() < end, f"{len(frames)} frames of {count}"
        found, there = line.read()
        frames += found
        assert there or found
        time.sleep(0 if found else 0.001)
    return frames


FRAMES = [b"", b"a", b"bc" * 9000, bytes(range(256)) * 5]


def test_frames_to_a_plain_connection(pipe: tuple[Line, Connection]) -> None:
    line, there = pipe
    for frame in FRAMES:
        line.send(frame)
    assert [there.recv_bytes() for _ in FRAMES] == FRAMES
    assert not line.waiting


def test_frames_from_a_plain_connection(pipe: tuple[Line, Connection]) -> None:
    line, there = pipe
    for frame in FRAMES:
        there.send_bytes(frame)
    assert heard(line, len(FRAMES)) == FRAMES
    assert line.read() == ([], True)  # nothing more, and nobody has left


def test_a_frame_that_comes_byte_by_byte(pipe: tuple[Line, Connection]) -> None:
    line, there = pipe
    frame = b"in pieces"
    for byte in HEADER.pack(len(frame)) + frame:
        assert line.read() == ([], True)
        os.write(there.fileno(), bytes([byte]))
    assert line.read() == ([frame], True)


def test_a_frame_and_a_half(pipe: tuple[Line, Connection]) -> None:
    line, there = pipe
    whole = HEADER.pack(3) + b"abc" + HEADER.pack(5) + b"de"
    os.write(there.fileno(), whole)
    assert line.read() == ([b"abc"], True)
    os.write(there.fileno(), b"fgh")
    assert line.read() == ([b"defgh"], True)


def test_a_frame_that_fills_a_read_to_the_last_byte(pipe: tuple[Line, Connection]) -> None:
    """Nothing follows it: that is no sign that the other side has left."""
    line, there = pipe
    frame = b"x" * (AT_ONCE - HEADER.size)
    os.write(there.fileno(), HEADER.pack(len(frame)) + frame)
    assert line.read() == ([frame], True)


def test_many_frames_both_ways(pipe: tuple[Line, Connection]) -> None:
    line, there = pipe
    count = 3000
    sent = [b"%d" % i * (i % 50) for i in range(count)]

    def echo() -> None:
        for _ in range(count):
            there.send_bytes(there.recv_bytes())

    other = threading.Thread(target=echo)
    other.start()
    got: list[bytes] = []
    for frame in sent:
        line.send(frame)
        got += line.read()[0]
    while line.waiting:
        line.flush()
        got += line.read()[0]
    got += heard(line, count - len(got))
    other.join(20)
    assert got == sent


def test_a_slow_reader_does_not_block_the_writer(pipe: tuple[Line, Connection]) -> None:
    """Eight megabytes to one that does not read, and a frame behind them."""
    line, there = pipe
    large = os.urandom(1 << 23)
    began = time.perf_counter()
    line.send(large)
    line.send(b"behind")
    assert time.perf_counter() - began < 1.0
    assert line.waiting
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.extend([there.recv_bytes(), there.recv_bytes()]))
    reader.start()
    end = time.perf_counter() + 20
    while line.waiting and time.perf_counter() < end:
        line.flush()
    reader.join(20)
    assert got == [large, b"behind"]


def test_a_large_frame_from_a_fast_writer(pipe: tuple[Line, Connection]) -> None:
    line, there = pipe
    large = os.urandom(1 << 23)
    writer = threading.Thread(target=there.send_bytes, args=(large,))
    writer.start()
    assert heard(line, 1) == [large]
    writer.join(20)


def test_last_words_are_heard(pipe: tuple[Line, Connection]) -> None:
    line, there = pipe
    there.send_bytes(b"farewell")
    os.write(there.fileno(), HEADER.pack(100) + b"cut o")
    there.close()
    frames, still_there = line.read()
    while still_there:
        more, still_there = line.read()
        frames += more
    assert frames == [b"farewell"]


def test_nothing_is_sent_to_one_that_is_gone(pipe: tuple[Line, Connection]) -> None:
    line, there = pipe
    line.send(b"x" * (1 << 22))
    assert line.waiting
    there.close()
    line.flush()
    assert not line.waiting
    line.send(b"more")
    assert not line.waiting
    assert line.read()[1] is False


# Parcels


class Bench:
    """A shelf and a reader of it, with the pipe between them."""

    def __init__(self) -> None:
        self.shelf, self.reader = Shelf(), Reader()

    def sent(self, value: Any) -> Parcel:
        parcel: Parcel = pickle.loads(pickle.dumps(pack(value, self.shelf), 5))
        return parcel

    def round(self, value: Any) -> Any:
        return unpack(self.sent(value), self.reader)


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.reader.close()
    made.shelf.close()


def same(one: Any, other: Any) -> None:
    """Equal in kind, shape and every value, through containers."""
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert list(one) == list(other)
        for key in one:
            same(one[key], other[key])
    elif isinstance(one, (tuple, list)):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            same(a, b)
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        np.testing.assert_array_equal(one, other)
    else:
        assert one == other


MIXED = np.dtype([("at", "f8"), ("name", "U4"), ("count", "i4")])
BIG = np.random.default_rng(0).normal(size=(400, 300))
VALUES: dict[str, Any] = {
    "small": np.arange(5.0),
    "0-d": np.array(2.5),
    "empty": np.zeros(0),
    "empty, with a shape": np.zeros((0, 3)),
    "empty, of large sides": np.zeros((5000, 0, 7)),
    "one byte below": np.zeros(SMALL - 1, np.uint8),
    "small, at the limit": np.zeros(SMALL, np.uint8),
    "one byte above": np.zeros(SMALL + 1, np.uint8),
    "Fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "every second": np.arange(10.0)[::2],
    "backwards": np.arange(10.0)[::-1],
    "big": BIG,
    "big, Fortran": np.asfortranarray(BIG),
    "big, every second": BIG[::2, ::3],
    "big, transposed": BIG.T,
    "other byte order": np.arange(4, dtype=">f8"),
    "complex": np.array([1 + 2j]),
    "booleans": np.array([True, False]),
    "words": np.array(["a", "bcd"]),
    "dates": np.array(["2020-02-29", "NaT"], "M8[D]"),
    "half precision": np.arange(3, dtype=np.float16),
    "structured": np.array([(1.0, "ab", 2)], MIXED),
    "structured, big": np.zeros(1000, MIXED),
    "objects": np.array([1, "a", None, (2, 3)], object),
    "objects, big": np.array([str(i) for i in range(5000)], object),
    "not a number": np.array([np.nan, np.inf, -0.0]),
    "numpy's own number": np.float32(0.5),
    "nothing": None,
    "text": "x" * 10_000,
    "bytes": b"y" * 10_000,
    "a long whole number": 10**500,
    "containers": {"a": [BIG, (1, None)], "b": {"c": np.arange(3)}, 3: ()},
    "a set": {1, 2, 3},
}


@pytest.mark.parametrize("value", list(VALUES.values()), ids=list(VALUES))
def test_values_arrive_as_they_were(value: Any, bench: Bench) -> None:
    same(bench.round(value), value)


@given(
    hn.arrays(
        st.one_of(hn.boolean_dtypes(), hn.integer_dtypes(), hn.floating_dtypes(), hn.unicode_string_dtypes(max_len=3)),
        hn.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=9),
    )
)
def test_any_array_arrives_as_it_was(value: Any) -> None:
    bench = Bench()
    try:
        found = bench.round(value)
        assert (found.dtype, found.shape) == (value.dtype, value.shape)
        assert found.tobytes() == value.tobytes()
    finally:
        del found
        bench.reader.close()
        bench.shelf.close()


def test_what_arrives_cannot_be_written_to(bench: Bench) -> None:
    for value in (np.arange(5.0), BIG):
        found = bench.round(value)
        with pytest.raises(ValueError, match="read-only"):
            found[0] = 1


def test_only_what_is_large_lies_on_the_shelf(bench: Bench) -> None:
    assert bench.sent(np.zeros(10))[0] == "array"
    assert bench.sent([1, np.zeros(10)])[0] == "object"
    parcel = bench.sent(BIG)
    assert parcel[0] == "shelf"
    assert len(pickle.dumps(parcel)) < 200


ELSEWHERE = """
    import pickle, sys
    from multiprocessing import resource_tracker
    resource_tracker.register = lambda *_: None  # a guest: the shelf is not its own to clean up
    from deadheat.runtime.engines.parcels import Reader, unpack
    print(unpack(pickle.loads(sys.stdin.buffer.read()), Reader())(20))
"""
SCRIPT = """
    BY = 3

    class Kept:
        def __init__(self, by): self.by = by
        def __call__(self, x): return helper(x) + self.by

    def helper(x): return x + BY

    def closure(weights):
        class Local(Kept):
            pass
        return lambda x: helper(x) + Kept(4)(x) + Local(5)(x) + weights[-1]
"""


def elsewhere(function: Any, bench: Bench) -> float:
    """What a function makes of 20 in another process, which has never seen where it comes from."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(ELSEWHERE)],
        input=pickle.dumps(bench.sent(function)),
        capture_output=True,
        cwd="/",
    )
    assert done.returncode == 0, done.stderr.decode()
    return float(done.stdout)


def test_code_travels(bench: Bench) -> None:
    """Functions of a script, lambdas, closures over arrays and instances of classes that are nowhere installed."""
    script: dict[str, Any] = {"__name__": "__main__"}
    exec(textwrap.dedent(SCRIPT), script)
    assert elsewhere(script["helper"], bench) == 23
    assert elsewhere(script["closure"](np.arange(1000.0)), bench) == 23 + 27 + 28 + 999


def on_disk(parcel: Parcel) -> Path:
    assert parcel[0] == "shelf"
    return SHARED / str(parcel[1][0])


def test_a_cleared_shelf_is_filled_anew(bench: Bench) -> None:
    first = bench.sent(BIG)
    seen = unpack(first, bench.reader)
    for number in range(5):
        bench.shelf.clear()
        again = bench.sent(BIG + number)
        assert on_disk(again) == on_disk(first)
        same(unpack(again, bench.reader), BIG + number)
    same(seen, BIG + 4)  # it looks into the shelf: no copy was made


def test_what_is_not_cleared_stays(bench: Bench) -> None:
    """A negative control, also where the shelf has to grow."""
    parcels = [bench.sent(BIG + number) for number in range(6)]
    assert len({on_disk(parcel) for parcel in parcels}) > 1
    for number, parcel in enumerate(parcels):
        same(unpack(parcel, bench.reader), BIG + number)


def test_a_shelf_that_grew_gives_the_smaller_ones_back(bench: Bench) -> None:
    places = {on_disk(bench.sent(BIG)) for _ in range(6)}
    assert all(place.exists() for place in places)
    bench.shelf.clear()
    assert sum(place.exists() for place in places) == 1


def test_nothing_is_left_behind() -> None:
    bench = Bench()
    places = [on_disk(bench.sent(BIG)) for _ in range(6)]
    looking = bench.round(BIG)
    assert all(place.exists() for place in places)
    bench.shelf.close()
    bench.reader.close()
    assert not any(place.exists() for place in places)
    same(looking, BIG)  # who still looks into it keeps it


def test_a_reader_gives_back_what_its_writer_could_not() -> None:
    bench = Bench()
    parcel = bench.sent(BIG)
    unpack(parcel, bench.reader)
    bench.reader.close(unlink=True)
    assert not on_disk(parcel).exists()
    bench.shelf.close()  # and nobody complains


def test_names_can_be_taken_away_while_others_look() -> None:
    bench = Bench()
    parcel = bench.sent(BIG)
    seen = unpack(parcel, bench.reader)
    bench.shelf.unlink()
    assert not on_disk(parcel).exists()
    same(seen, BIG)
    bench.reader.close()
    bench.shelf.close()
