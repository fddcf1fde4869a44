"""Objects between processes: they arrive as they were, and what is large lies in shared memory that is given back."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn

from deadheat.runtime.engines.codec import Encoded, decode, encode, is_plain, readable
from deadheat.runtime.engines.memory_folders import MemoryFolders, new_folders
from deadheat.runtime.engines.shared_memory import SMALL, Arena, ArenaReader, Packed, pack, unpack
from deadheat.scheduling import Unreadable


class Bench:
    """An arena and a reader of it, with the pipe between them."""

    def __init__(self) -> None:
        self.folders = new_folders()
        self.arena, self.reader = Arena(self.folders), ArenaReader()

    def sent(self, value: Any) -> Packed:
        packed: Packed = pickle.loads(pickle.dumps(pack(value, self.arena), 5))
        return packed

    def round(self, value: Any) -> Any:
        return unpack(self.sent(value), self.reader)

    def close(self) -> None:
        self.reader.close()
        self.arena.close()
        self.folders.remove()


@pytest.fixture
def bench() -> Iterator[Bench]:
    bench = Bench()
    yield bench
    bench.close()


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
        arrived = bench.round(value)
        assert (arrived.dtype, arrived.shape) == (value.dtype, value.shape)
        assert arrived.tobytes() == value.tobytes()
    finally:
        bench.close()


def test_what_arrives_cannot_be_written_to(bench: Bench) -> None:
    for value in (np.arange(5.0), BIG):
        arrived = bench.round(value)
        with pytest.raises(ValueError, match="read-only"):
            arrived[0] = 1


def test_only_what_is_large_lies_in_the_arena(bench: Bench) -> None:
    assert bench.sent(np.zeros(10))[0] == "array"
    assert bench.sent([1, np.zeros(10)])[0] == "object"
    packed = bench.sent(BIG)
    assert packed[0] == "shared"
    assert len(pickle.dumps(packed)) < 200


ELSEWHERE = """
    import pickle, sys
    from deadheat.runtime.engines.shared_memory import ArenaReader, unpack
    print(unpack(pickle.loads(sys.stdin.buffer.read()), ArenaReader())(20))
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


def on_disk(packed: Packed) -> Path:
    assert packed[0] == "shared"
    return Path(packed[1][0])


def test_a_cleared_arena_is_filled_anew(bench: Bench) -> None:
    first = bench.sent(BIG)
    seen = unpack(first, bench.reader)
    for number in range(5):
        bench.arena.clear()
        again = bench.sent(BIG + number)
        assert on_disk(again) == on_disk(first)
        same(unpack(again, bench.reader), BIG + number)
    same(seen, BIG + 4)  # it looks into the arena: no copy was made


def test_what_is_not_cleared_stays(bench: Bench) -> None:
    """A negative control, also where the arena has to grow."""
    several = [bench.sent(BIG + number) for number in range(6)]
    assert len({on_disk(packed) for packed in several}) > 1
    for number, packed in enumerate(several):
        same(unpack(packed, bench.reader), BIG + number)


def test_an_arena_that_grew_gives_the_smaller_ones_back(bench: Bench) -> None:
    places = {on_disk(bench.sent(BIG)) for _ in range(6)}
    assert all(place.exists() for place in places)
    bench.arena.clear()
    assert sum(place.exists() for place in places) == 1


def test_nothing_is_left_behind() -> None:
    bench = Bench()
    places = [on_disk(bench.sent(BIG)) for _ in range(6)]
    looking = bench.round(BIG)
    assert all(place.exists() for place in places)
    bench.close()
    assert not any(place.exists() for place in places)
    assert not any(Path(folder).exists() for folder in bench.folders.paths)
    same(looking, BIG)  # who still looks into it keeps it


def test_a_reader_lets_go_of_what_its_writer_has_given_up(bench: Bench) -> None:
    """Without that, results that do not fit into one segment would pile up in the master's memory."""
    for _ in range(20):
        bench.arena.clear()
        for _ in range(4):
            bench.round(BIG)
    assert len(bench.reader._mappings) <= 4


def test_segments_of_a_dead_process_are_removed(bench: Bench) -> None:
    packed = bench.sent(BIG)
    bench.folders.discard(os.getpid() + 1)
    assert on_disk(packed).exists()
    bench.folders.discard(os.getpid())
    assert not on_disk(packed).exists()


def test_without_any_room_objects_go_through_the_pipe(bench: Bench) -> None:
    nowhere = Arena(MemoryFolders(("/nowhere",)))
    for value in (BIG, {"a": [BIG, 1]}):
        packed = pickle.loads(pickle.dumps(pack(value, nowhere), 5))
        assert packed[0] == "object"
        same(unpack(packed, bench.reader), value)


# The codec, which local workers and Ray share


def test_large_arrays_are_not_copied_when_they_are_encoded() -> None:
    encoded = encode({"a": BIG, "b": [1, 2]})
    assert len(encoded.head) < 1000
    assert encoded.size >= BIG.nbytes
    assert np.shares_memory(np.frombuffer(encoded.buffers[0], np.uint8), BIG)
    same(decode(encoded), {"a": BIG, "b": [1, 2]})


@pytest.mark.parametrize(
    ("plain", "value"),
    [
        (True, {"a": [1, (2.0, None)], 3: b"x", "n": np.float64(1.0), "k": np.int64(2)}),
        (True, np.arange(3.0)),
        (False, np.array([object()], object)),
        (False, {"a": {1, 2}}),
        (False, [lambda: 0]),
        (False, np.ma.masked_array([1.0], [True])),
    ],
    ids=["containers", "array", "objects", "set", "function", "subclass"],
)
def test_plain_data_is_what_any_process_can_read(plain: bool, value: Any) -> None:
    assert is_plain(value) is plain


def test_what_cannot_be_read_says_so_when_it_is_needed() -> None:
    def torn() -> Any:
        return decode(Encoded(b"not a pickle", ()))

    assert readable(lambda: 5) == 5
    read = readable(torn)
    assert isinstance(read, Unreadable)
    assert read.error.startswith("UnpicklingError")


def test_an_exit_while_something_is_read_does_not_end_the_thread_that_receives() -> None:
    def leaves() -> Any:
        sys.exit("from a __setstate__")

    read = readable(leaves)
    assert isinstance(read, Unreadable)
    assert read.error == "SystemExit: from a __setstate__"
