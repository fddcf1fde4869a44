"""A pipe: whole frames, at the master's end without ever blocking; what is no frame is never taken for one."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from deadheat.runtime.engines.pipe import AT_ONCE, HEADER, MARK, MasterPipe, WorkerPipe, framed


class Worker:
    """The worker's end, with what a test may do to it."""

    def __init__(self, end: socket.socket) -> None:
        self.end, self.pipe = end, WorkerPipe(end.fileno(), os.getppid())
        self.early: list[bytes] = []

    def write(self, raw: bytes) -> None:
        os.write(self.end.fileno(), raw)

    def next(self) -> bytes:
        while not self.early:
            self.early += self.pipe.receive()
        return self.early.pop(0)


@pytest.fixture
def ends() -> Iterator[tuple[MasterPipe, Worker]]:
    """The master's end and the worker's."""
    here, there = socket.socketpair()
    pipe = MasterPipe(here)
    yield pipe, Worker(there)
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


def test_frames_to_the_worker(ends: tuple[MasterPipe, Worker]) -> None:
    pipe, there = ends
    for frame in FRAMES:
        pipe.send(frame)
    assert [there.next() for _ in FRAMES] == FRAMES
    assert not pipe.waiting


def test_frames_from_the_worker(ends: tuple[MasterPipe, Worker]) -> None:
    pipe, there = ends
    for frame in FRAMES:
        there.pipe.send(frame)
    assert heard(pipe, len(FRAMES)) == FRAMES
    assert pipe.read() == ([], True)  # nothing more, and nobody has left


def test_a_frame_that_comes_byte_by_byte(ends: tuple[MasterPipe, Worker]) -> None:
    pipe, there = ends
    frame = b"in pieces"
    for byte in framed(frame):
        assert pipe.read() == ([], True)
        there.write(bytes([byte]))
    assert pipe.read() == ([frame], True)


def test_a_frame_and_a_half(ends: tuple[MasterPipe, Worker]) -> None:
    pipe, there = ends
    there.write(framed(b"abc") + framed(b"defgh")[:-3])
    assert pipe.read() == ([b"abc"], True)
    there.write(b"fgh")
    assert pipe.read() == ([b"defgh"], True)


def test_a_frame_that_fills_a_read_to_the_last_byte(ends: tuple[MasterPipe, Worker]) -> None:
    """Nothing follows it: that is no sign that the other side has left."""
    pipe, there = ends
    frame = b"x" * (AT_ONCE - HEADER.size)
    there.write(framed(frame))
    assert pipe.read() == ([frame], True)


def test_many_frames_both_ways(ends: tuple[MasterPipe, Worker]) -> None:
    pipe, there = ends
    count = 3000
    sent = [b"%d" % i * (i % 50) for i in range(count)]

    def echo() -> None:
        for _ in range(count):
            there.pipe.send(there.next())

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


def test_a_slow_reader_does_not_block_the_writer(ends: tuple[MasterPipe, Worker]) -> None:
    """Eight megabytes to one that does not read, and a frame behind them."""
    pipe, there = ends
    large = os.urandom(1 << 23)
    began = time.perf_counter()
    pipe.send(large)
    pipe.send(b"behind")
    assert time.perf_counter() - began < 1.0
    assert pipe.waiting
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.extend([there.next(), there.next()]))
    reader.start()
    end = time.perf_counter() + 20
    while pipe.waiting and time.perf_counter() < end:
        pipe.flush()
    reader.join(20)
    assert got == [large, b"behind"]


def test_a_large_frame_from_a_fast_writer(ends: tuple[MasterPipe, Worker]) -> None:
    pipe, there = ends
    large = os.urandom(1 << 23)
    writer = threading.Thread(target=there.pipe.send, args=(large,))
    writer.start()
    assert heard(pipe, 1) == [large]
    writer.join(20)


def test_last_words_are_heard(ends: tuple[MasterPipe, Worker]) -> None:
    pipe, there = ends
    there.pipe.send(b"farewell")
    there.write(framed(b"cut off")[:-2])
    there.end.close()
    frames, still_there = pipe.read()
    while still_there:
        more, still_there = pipe.read()
        frames += more
    assert frames == [b"farewell"]


def test_nothing_is_sent_to_one_that_is_gone(ends: tuple[MasterPipe, Worker]) -> None:
    pipe, there = ends
    pipe.send(b"x" * (1 << 22))
    assert pipe.waiting
    there.end.close()
    pipe.flush()
    assert not pipe.waiting
    pipe.send(b"more")
    assert not pipe.waiting
    assert pipe.read()[1] is False


@pytest.mark.parametrize("garbage", [b"\xff" * 40, b"hello, I am a print", HEADER.pack(MARK, 1 << 50)], ids=str)
def test_what_is_no_frame_breaks_the_pipe(ends: tuple[MasterPipe, Worker], garbage: bytes) -> None:
    """A task has written into the worker's descriptor; what came before that is heard."""
    pipe, there = ends
    there.pipe.send(b"a result")
    there.write(garbage)
    assert pipe.read() == ([b"a result"], False)
    assert pipe.broken


def test_the_worker_does_not_take_garbage_for_a_message_either(ends: tuple[MasterPipe, Worker]) -> None:
    pipe, there = ends
    os.write(pipe.fileno(), b"no frame at all")
    with pytest.raises(EOFError):
        there.pipe.receive()


def test_a_descriptor_that_is_another_file_by_now_is_not_written_to(ends: tuple[MasterPipe, Worker]) -> None:
    """A task has closed all descriptors, and opened a file that got the pipe's number."""
    _, there = ends
    reader, writer = os.pipe()
    os.dup2(writer, there.end.fileno())
    with pytest.raises(BrokenPipeError):
        there.pipe.send(b"a result")
    os.set_blocking(reader, False)
    with pytest.raises(BlockingIOError):
        os.read(reader, 1)
    os.close(reader)
    os.close(writer)


def test_the_worker_hears_that_the_master_has_closed(ends: tuple[MasterPipe, Worker]) -> None:
    pipe, there = ends
    assert not there.pipe.master_gone()
    pipe.close()
    with pytest.raises(EOFError):
        there.pipe.receive()
