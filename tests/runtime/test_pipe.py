"""The master's end of a pipe: whole frames, without ever blocking."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection

import pytest

from deadheat.runtime.engines.pipe import AT_ONCE, HEADER, MasterPipe


@pytest.fixture
def ends() -> Iterator[tuple[MasterPipe, Connection]]:
    """The master's end and the worker's."""
    here, there = Pipe()
    pipe = MasterPipe(here)
    yield pipe, there
    pipe.close()
    there.close()


def heard(pipe: MasterPipe, count: int) -> list[bytes]:
    """The first so many frames."""
    frames: list[bytes] = []
    end = time.perf_counter() + 20
    while len(frames) < count:
        assert time.perf_counter() < end, f"{len(frames)} frames of {count}"
        received, open_ = pipe.read()
        frames += received
        assert open_ or received
        time.sleep(0 if received else 0.001)
    return frames


FRAMES = [b"", b"a", b"bc" * 9000, bytes(range(256)) * 5]


def test_frames_to_a_plain_connection(ends: tuple[MasterPipe, Connection]) -> None:
    pipe, there = ends
    for frame in FRAMES:
        pipe.send(frame)
    assert [there.recv_bytes() for _ in FRAMES] == FRAMES
    assert not pipe.waiting


def test_frames_from_a_plain_connection(ends: tuple[MasterPipe, Connection]) -> None:
    pipe, there = ends
    for frame in FRAMES:
        there.send_bytes(frame)
    assert heard(pipe, len(FRAMES)) == FRAMES
    assert pipe.read() == ([], True)  # nothing more, and nobody has left


def test_a_frame_that_comes_byte_by_byte(ends: tuple[MasterPipe, Connection]) -> None:
    pipe, there = ends
    frame = b"in pieces"
    for byte in HEADER.pack(len(frame)) + frame:
        assert pipe.read() == ([], True)
        os.write(there.fileno(), bytes([byte]))
    assert pipe.read() == ([frame], True)


def test_a_frame_and_a_half(ends: tuple[MasterPipe, Connection]) -> None:
    pipe, there = ends
    whole = HEADER.pack(3) + b"abc" + HEADER.pack(5) + b"de"
    os.write(there.fileno(), whole)
    assert pipe.read() == ([b"abc"], True)
    os.write(there.fileno(), b"fgh")
    assert pipe.read() == ([b"defgh"], True)


def test_a_frame_that_fills_a_read_to_the_last_byte(ends: tuple[MasterPipe, Connection]) -> None:
    """Nothing follows it: that is no sign that the other side has left."""
    pipe, there = ends
    frame = b"x" * (AT_ONCE - HEADER.size)
    os.write(there.fileno(), HEADER.pack(len(frame)) + frame)
    assert pipe.read() == ([frame], True)


def test_many_frames_both_ways(ends: tuple[MasterPipe, Connection]) -> None:
    pipe, there = ends
    count = 3000
    sent = [b"%d" % i * (i % 50) for i in range(count)]

    def echo() -> None:
        for _ in range(count):
            there.send_bytes(there.recv_bytes())

    other = threading.Thread(target=echo)
    other.start()
    got: list[bytes] = []
    for frame in sent:
        pipe.send(frame)
        got += pipe.read()[0]
    while pipe.waiting:
        pipe.flush()
        got += pipe.read()[0]
    got += heard(pipe, count - len(got))
    other.join(20)
    assert got == sent


def test_a_slow_reader_does_not_block_the_writer(ends: tuple[MasterPipe, Connection]) -> None:
    """Eight megabytes to one that does not read, and a frame behind them."""
    pipe, there = ends
    large = os.urandom(1 << 23)
    began = time.perf_counter()
    pipe.send(large)
    pipe.send(b"behind")
    assert time.perf_counter() - began < 1.0
    assert pipe.waiting
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.extend([there.recv_bytes(), there.recv_bytes()]))
    reader.start()
    end = time.perf_counter() + 20
    while pipe.waiting and time.perf_counter() < end:
        pipe.flush()
    reader.join(20)
    assert got == [large, b"behind"]


def test_a_large_frame_from_a_fast_writer(ends: tuple[MasterPipe, Connection]) -> None:
    pipe, there = ends
    large = os.urandom(1 << 23)
    writer = threading.Thread(target=there.send_bytes, args=(large,))
    writer.start()
    assert heard(pipe, 1) == [large]
    writer.join(20)


def test_last_words_are_heard(ends: tuple[MasterPipe, Connection]) -> None:
    pipe, there = ends
    there.send_bytes(b"farewell")
    os.write(there.fileno(), HEADER.pack(100) + b"cut o")
    there.close()
    frames, still_there = pipe.read()
    while still_there:
        more, still_there = pipe.read()
        frames += more
    assert frames == [b"farewell"]


def test_nothing_is_sent_to_one_that_is_gone(ends: tuple[MasterPipe, Connection]) -> None:
    pipe, there = ends
    pipe.send(b"x" * (1 << 22))
    assert pipe.waiting
    there.close()
    pipe.flush()
    assert not pipe.waiting
    pipe.send(b"more")
    assert not pipe.waiting
    assert pipe.read()[1] is False
